from __future__ import annotations

import ast
import re

import pytest

from operad.errors import ArgumentError
from operad_sdk.check.catalogue import CATALOGUE, explain
from operad_sdk.check.register import all_checks

JUDGED_FROM_OUTCOMES = {"R506", "X801", "X803"}


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
