"""Gluon's names, and facts of its behaviour that MXNet 1.9.1 gave once; see `recorded/gluon.py`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import operad as od
from tests.conformance.recorded import api, behaviour, gluon

FACTS, RECORD, ROWS, NAMES = gluon.facts(), gluon.record(), gluon.rows(), gluon.names()


def found(fact: str) -> Any:
    """Outcome of a fact in operad, as the record holds it."""
    return json.loads(json.dumps(gluon.outcome(fact, FACTS[fact], od)))


@pytest.mark.more
@pytest.mark.walk
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("fact", FACTS)
def test_is_as_in_mxnet_or_differs_on_purpose(fact: str) -> None:
    differences = list(behaviour.differences(found(fact), RECORD[fact], fact))
    if fact in ROWS:
        assert differences, f"{fact} is listed as a difference, and is none"
    else:
        assert not differences, f"{FACTS[fact]}: {differences[0]}"


def test_the_record_has_every_fact_and_no_other() -> None:
    assert list(RECORD) == list(FACTS)
    assert set(ROWS) <= set(FACTS)
