from __future__ import annotations

import json

import pytest

from tests.benchmarks.driver import Measured
from tests.benchmarks.load import Load
from tests.benchmarks.page import About, Run, compared, page, record
from tests.benchmarks.rows import Row

ROW = Row("a step", "training", "step", {}, "ms")
QUIET, LOADED = Load(0.01, 0.02, 0.03), Load(0.5, 0.9, 0.4)


def _measured(row: Row = ROW, **seconds: float) -> Measured:
    rounds = {tuple(name.split("_")) if "_" in name else (name, ""): value for name, value in seconds.items()}
    return Measured(row, {key: ([value, 3 * value], [value / 2, value / 2]) for key, value in rounds.items()})


def _page(
    *measured: Measured, load: Load = QUIET, threads: int = 1, missing: dict[str, str] | None = None
) -> str:
    about = About("1 May 2026", {"operad": "0.2", "torch": "2.13"}, missing or {}, "make it", 2)
    return page(about, [Run(threads, 1.0, load, list(measured))])


def test_a_row_has_median_minimum_and_processor_time_in_its_unit() -> None:
    text = _page(_measured(operad=0.002, torch=0.001))

    assert "| a step | ms | 4 (2; 1) | 2 (1; 0.5) |  | 2.00 | 50% |" in text


def test_another_way_of_a_peer_counts_and_one_of_our_own_does_not() -> None:
    measured = _measured(operad=0.002, torch=0.004, torch_other=0.001, operad_loop=0.0001)

    assert compared(measured, "median") == pytest.approx(2.0)
    assert "PyTorch `other` 2 (1; 0.5); `loop` 0.2 (0.1; 0.05)" in _page(measured)


def test_rows_where_operad_is_behind_are_named_the_worst_first() -> None:
    rows = [ROW._replace(name=name) for name in ("near", "far", "ahead", "level")]
    text = _page(
        _measured(rows[0], operad=0.0011, torch=0.001),
        _measured(rows[1], operad=0.003, torch=0.001),
        _measured(rows[2], operad=0.001, torch=0.002),
        _measured(rows[3], operad=0.00104, torch=0.001),
    )

    assert "operad is behind by more than a twentieth in: far (3.00); near (1.10)." in text


def test_rows_where_operad_is_behind_say_where_the_time_goes() -> None:
    behind, ahead = _measured(operad=0.003, torch=0.001), _measured(operad=0.001, torch=0.003)
    for one in (behind, ahead):
        one.shares = {"Convolution backward": 0.62, "outside operations": 0.3, "relu forward": 0.01}

    assert "| a step | 3.00 | Convolution backward 62%, outside operations 30% |" in _page(behind)
    assert "Convolution" not in _page(ahead)


def test_a_rate_is_larger_where_time_is_smaller() -> None:
    row = ROW._replace(unit="img/s")
    text = _page(_measured(row, operad=0.001, torch=0.002))

    assert "500 (1,000; 2,000)" in text
    assert "| 0.50 |" in text


def test_planned_memory_is_compared_too() -> None:
    measured = Measured(ROW._replace(unit="MB"), values={"operad": 50.0, "torch": 100.0})

    assert "| a step | MB | 50 | 100 |  | 0.50 |  |" in _page(measured)


def test_a_check_counts_when_all_took_part() -> None:
    measured = _measured(operad=0.001, torch=0.001)
    measured.checked = ["operad"]
    assert "| a step |" in _page(measured)

    measured.checked = ["operad", "torch"]
    assert "| a step ✓ |" in _page(measured)


def test_the_page_says_whether_the_run_was_quiet_and_what_ratios_are_of() -> None:
    measured = _measured(operad=0.001, torch=0.001)

    assert "Quiet (below 0.2): ratios are of medians" in _page(measured)
    loaded = _page(measured, load=LOADED)
    assert "0.50, 0.90 and 0.40. **Not a quiet run**" in loaded
    assert "ratios are of minima of processor time, which others disturb least" in loaded
    assert "ratios are of minima of time on the wall, which" in _page(measured, load=LOADED, threads=2)


def test_the_page_says_what_did_not_run_and_why() -> None:
    measured = _measured(operad=0.001)
    measured.notes["torch"] = "failed: no primitive"
    text = _page(measured, missing={"mxnet": "no Python was found"})

    assert "MXNet: not run, because no Python was found." in text
    assert "failed, see below" in text
    assert "* PyTorch failed: no primitive: a step." in text


def test_more_processors_than_threads_are_named() -> None:
    greedy = Measured(ROW, {("torch", ""): ([1.0, 1.0], [2.0, 2.0])})

    assert "More processor time than 1 thread could take: PyTorch in a step." in _page(greedy)
    assert "More processor time" not in _page(greedy, threads=2)


def test_the_record_has_every_round() -> None:
    about = About("1 May 2026", {"operad": "0.2"}, {}, "make it", 2)
    found = json.loads(json.dumps(record(about, [Run(1, 1.0, LOADED, [_measured(operad=0.5, torch=1.0)])])))

    (run,) = found["runs"]
    assert (run["is_quiet"], run["basis"]) == (False, "cpu")
    (row,) = run["rows"]
    assert row["ratio"] == 0.5
    assert row["contestants"][0]["wall"] == [0.5, 1.5]
