"""`operad.sym`, the short name of a module."""

import importlib

import operad


def test_both_names_are_one_module() -> None:
    assert importlib.import_module("operad.sym") is importlib.import_module("operad.symbol")
    assert operad.sym is operad.symbol
