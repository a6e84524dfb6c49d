from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.benchmarks.case import Case, optional_module
from tests.benchmarks.timing import measure

pytestmark = pytest.mark.serial

MODULES = sorted(file.stem for file in Path(__file__).parent.glob("bench_*.py"))


def _nothing() -> None:
    return None


@pytest.mark.parametrize(
    ("unit", "expected"), [("s", 0.25), ("ms", 250.0), ("us", 250e3), ("ns", 250e6), ("ops/s", 4.0)]
)
def test_a_figure_is_of_one_operation(unit: str, expected: float) -> None:
    assert Case("x", _nothing, operations=2, unit=unit).figure(0.5) == pytest.approx(expected)


def test_ours_and_the_peer_take_turns() -> None:
    turns: list[str] = []
    case = Case("x", lambda: turns.append("ours"), peer=lambda: turns.append("peer"), peer_name="other")

    result = measure(case, rounds=3, round_s=0.0)

    assert turns[-6:] == ["ours", "peer"] * 3
    assert result.peer_name == "other"
    assert result.ratio is not None


def test_without_a_peer_there_is_no_ratio() -> None:
    result = measure(Case("x", _nothing), rounds=3, round_s=0.0)

    assert (result.peer, result.peer_name, result.ratio) == (None, None, None)
    assert result.ours_range[0] <= result.ours <= result.ours_range[1]


def test_a_peer_that_is_not_installed_is_none() -> None:
    assert optional_module("operad_no_such_peer") is None
    assert optional_module("json") is importlib.import_module("json")


@pytest.mark.parametrize("module", MODULES)
def test_cases_of_a_module_have_names_of_their_own(module: str) -> None:
    names = [case.name for case in importlib.import_module(f"tests.benchmarks.{module}").cases()]
    assert names
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_every_case_runs(module: str) -> None:
    for case in importlib.import_module(f"tests.benchmarks.{module}").cases():
        case.run()
        if case.peer is not None:
            case.peer()
