"""Facts of behaviour that MXNet 1.9.1 gave once; see `recorded/behaviour.py`."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import operad as od
from tests.conformance.facts import as_recorded, check
from tests.conformance.recorded import behaviour

FACTS, RECORD, ROWS = behaviour.facts(), behaviour.record(), behaviour.rows()


def found(fact: str) -> Any:
    """Outcome of a fact in operad, as a record holds it."""
    return as_recorded(behaviour.outcome(fact, FACTS[fact], od))


@pytest.mark.walk
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("fact", FACTS)
def test_is_as_in_mxnet_or_differs_on_purpose(fact: str) -> None:
    check(found(fact), RECORD[fact], fact, FACTS[fact], is_listed=fact in ROWS)


def test_the_record_has_every_fact_and_no_other() -> None:
    assert list(RECORD) == list(FACTS)
    assert set(ROWS) <= set(FACTS)


@pytest.mark.walk
@pytest.mark.parametrize("row", sorted(set(ROWS.values())))
def test_what_differs_on_purpose_has_its_row(row: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "differences.md"
    assert f"\n| {row}" in page.read_text(encoding="utf-8")


def test_the_table_lists_no_attribute_that_is_here() -> None:
    facts = [fact for fact in FACTS if fact.startswith("instances.")]
    missing = [
        name for fact in facts for name in behaviour.missing_attributes(found(fact), RECORD[fact], fact)
    ]
    assert [one for one in behaviour.absent() if not any(fnmatch(name, one) for name in missing)] == []


@pytest.mark.parametrize(
    ("found", "recorded"),
    [
        (1, 2), (1.0, 1.1), (True, 1), ([1], [1, 2]), ({"tuple": [1]}, [1]), (None, False), ("a", "b"),
        ({"NDArray": [1.0], "dtype": "float32"}, {"NDArray": [1.0], "dtype": "float64"}),
        ({"raises": ["ValueError", "Exception"]}, {"raises": ["KeyError", "LookupError"]}),
        ([1], {"raises": ["MXNetError"]}), ({"raises": ["OperadError"]}, [1]),
    ],
)  # fmt: skip
def test_another_outcome_is_seen(found: Any, recorded: Any) -> None:
    assert list(behaviour.differences(found, recorded, "subject.name"))
    assert not list(behaviour.differences(recorded, recorded, "subject.name")) or "raises" in str(recorded)
