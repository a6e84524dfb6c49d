"""`operad.nd`, the short name of a module."""

import importlib

import operad


def test_both_names_are_one_module() -> None:
    assert importlib.import_module("operad.nd") is importlib.import_module("operad.ndarray")
    assert operad.nd is operad.ndarray
