"""Gluon's names, and facts of its behaviour that MXNet 1.9.1 gave once; see `recorded/gluon.py`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

import operad as od
from tests.conformance.facts import as_recorded, check
from tests.conformance.recorded import api, gluon

FACTS, RECORD, ROWS, NAMES = gluon.facts(), gluon.record(), gluon.rows(), gluon.names()
LEFT_OUT = [api.Row(*row) for row in gluon.left_out()]


def compare(fact: str) -> None:
    found = as_recorded(gluon.outcome(fact, FACTS[fact], od))
    check(found, RECORD[fact], fact, FACTS[fact], is_listed=fact in ROWS)


@pytest.mark.more
@pytest.mark.walk
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("fact", FACTS)
def test_is_as_in_mxnet_or_differs_on_purpose(fact: str) -> None:
    compare(fact)


@pytest.mark.walk
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("fact", list(FACTS)[::53])
def test_one_in_many_is_as_in_mxnet(fact: str) -> None:
    compare(fact)


def test_the_record_has_every_fact_and_no_other() -> None:
    assert list(RECORD) == list(FACTS)
    assert set(ROWS) <= set(FACTS)


def test_what_differs_on_purpose_has_its_row() -> None:
    page = Path(__file__).parents[2] / "docs" / "differences.md"
    text = page.read_text(encoding="utf-8")
    assert [row for row in sorted(set(ROWS.values())) if f"\n| {row}" not in text] == []


def test_few_facts_differ() -> None:
    assert len(ROWS) <= 0.03 * len(FACTS)


@pytest.mark.walk
@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_here_and_takes_the_same_calls_or_the_table_says_why_not(module: str) -> None:
    missed = [
        one for one in api.findings(module, NAMES[module]) if not any(row.covers(one) for row in LEFT_OUT)
    ]
    assert missed == []


def test_the_table_lists_nothing_that_is_here() -> None:
    missed = list(chain.from_iterable(api.findings(module, NAMES[module]) for module in NAMES))
    names = [(row.kind, name) for row in LEFT_OUT for name in row.names]
    assert [
        name for kind, name in names if not any(api.Row(kind, "", [name]).covers(one) for one in missed)
    ] == []
