from __future__ import annotations

import ast
import importlib.util
import re
import sys

import pytest

from operad.errors import ArgumentError
from operad_check import check_operator
from operad_check.catalogue import CATALOGUE, explain
from operad_check.running.register import all_checks
from operator_sdk.check.tests.catalogue.examples import AROUND, FRAGMENTS, source

JUDGED_FROM_OUTCOMES = {"R506", "X801", "X803", "X806"}


@pytest.mark.parametrize("check", CATALOGUE.values(), ids=list(CATALOGUE))
def test_every_entry_says_what_why_and_how(check):
    assert re.fullmatch(r"[SFBMRDAX][1-8]\d\d", check.id)
    assert not check.title.endswith(".")
    assert check.why.endswith(".")
    assert check.fix.rstrip(".").strip()
    assert check.example.strip()


@pytest.mark.parametrize("check", CATALOGUE.values(), ids=list(CATALOGUE))
def test_every_example_is_python(check):
    ast.parse(check.example)


@pytest.mark.slow
@pytest.mark.parametrize("id", AROUND)
def test_an_example_breaks_what_its_check_is_for(id, tmp_path):
    path = tmp_path / "catalogue_example.py"
    path.write_text(source(id, CATALOGUE[id].example))  # a file: mappers read their source
    spec = importlib.util.spec_from_file_location("catalogue_example", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["catalogue_example"] = module  # so that a program that shows it can import it
    try:
        spec.loader.exec_module(module)
        checks = None if id in ("X801", "X803") else [id]
        assert id in check_operator(module.Example, checks=checks).red_ids
    finally:
        del sys.modules["catalogue_example"]


def test_what_is_not_run_says_why():
    assert set(AROUND) | set(FRAGMENTS) == set(CATALOGUE)
    assert not set(AROUND) & set(FRAGMENTS)


def test_every_entry_has_a_check_and_every_check_an_entry():
    assert set(all_checks()) | JUDGED_FROM_OUTCOMES == set(CATALOGUE)


def test_explain_prints_the_entry():
    text = explain("b305")
    assert text.startswith("B305 (backward): every mixture of write, add and null")
    assert "Why:" in text
    assert "Fix:" in text


def test_explain_suggests_an_id_where_there_is_none():
    with pytest.raises(ArgumentError, match=r"'B35' is unknown; did you mean 'B30\d'"):
        explain("B35")
