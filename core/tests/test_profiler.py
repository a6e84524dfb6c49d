"""What the profiler records, and what it does with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from operad import engine, profiler
from operad.context import cpu
from operad.errors import ParamError

CTX = cpu()


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path) -> Iterator[None]:
    profiler.set_config(filename=str(tmp_path / "profile.json"), aggregate_stats=True)
    profiler._runs.clear()
    yield
    profiler.stop()
    profiler._runs.clear()
    profiler.set_config(filename="profile.json", aggregate_stats=False)


def names() -> list[str]:
    return sorted(run.name for run in profiler._runs)


def one_of_each() -> None:
    """One operation of every kind that an engine runs."""
    current = engine.get()
    var = current.new_variable()
    current.push_sync(lambda _: None, CTX, (), (var,), name="pushed")
    current.wait_for_var(var)
    assert current.run_inline(lambda: None, (), CTX, (), (var,), "inline")
    current.push_async(lambda _, done: done(), CTX, (), (var,), name="async")
    with current.bulk(2):
        current.push_sync(lambda _: None, CTX, (), (var,), name="grouped")
    current.wait_for_all()


@pytest.mark.usefixtures("each_engine")
def test_every_kind_of_operation_is_recorded_while_it_runs_and_none_before_or_after() -> None:
    one_of_each()
    profiler.start()
    one_of_each()
    profiler.stop()
    one_of_each()
    assert names() == ["async", "grouped", "inline", "pushed"]
    assert not engine.get().lock.blockers  # type: ignore[attr-defined]


def test_a_pause_is_not_recorded() -> None:
    profiler.start()
    profiler.pause()
    one_of_each()
    profiler.resume()
    one_of_each()
    assert len(names()) == 4


def test_a_change_of_engine_goes_on_recording() -> None:
    profiler.start()
    before = type(engine.get())
    engine.set("naive")
    one_of_each()
    engine.set(before())
    one_of_each()
    assert len(names()) == 8


def test_a_dump_is_a_trace_of_chrome(tmp_path: Path) -> None:
    profiler.start()
    one_of_each()
    profiler.dump()
    events = json.loads((tmp_path / "profile.json").read_text())["traceEvents"]
    runs = [event for event in events if event["ph"] == "X"]
    threads = {event["tid"] for event in events if event["ph"] == "M"}
    assert sorted(run["name"] for run in runs) == ["async", "grouped", "inline", "pushed"]
    assert all(run["dur"] >= 0 and run["args"] == {"device": "cpu(0)"} for run in runs)
    assert {run["tid"] for run in runs} == threads
    assert names() == []


def test_a_table_has_a_line_for_each_name_and_its_figures() -> None:
    for seconds in (0.5, 1.5):
        profiler._record("a", CTX, 1.0, 1.0 + seconds)
    profiler._record("b", CTX, 0.0, 3.0)
    head, first, second = profiler.dumps().splitlines()
    assert head.split() == ["name", "count", "total", "min", "max", "avg"]
    assert first.split() == ["b", "1", "3000.0000", "3000.0000", "3000.0000", "3000.0000"]
    assert second.split() == ["a", "2", "2000.0000", "500.0000", "1500.0000", "1000.0000"]
    assert list(json.loads(profiler.dumps(reset=True, format="json", sort_by="count"))) == ["a", "b"]
    assert names() == []


def test_what_cannot_be_done_is_refused_and_explained() -> None:
    with pytest.raises(ParamError, match="unknown option 'file'; expected one of filename"):
        profiler.set_config(file="x")
    with pytest.raises(ParamError, match="expected 'run' or 'stop'"):
        profiler.set_state("on")
    with pytest.raises(ParamError, match="sort_by 'name'"):
        profiler.dumps(sort_by="name")
    profiler.set_config(aggregate_stats=False)
    with pytest.raises(ParamError, match="aggregate_stats=True"):
        profiler.dumps()


def test_an_error_of_a_hook_ends_profiling_and_is_raised_by_a_wait() -> None:
    current = engine.get()

    def broken(*_: object) -> None:
        raise ValueError("hook")

    current.profile_hook = broken
    current.profile_all(True)
    try:
        current.push_sync(lambda _: None, CTX)
        with pytest.raises(ValueError, match="hook"):
            current.wait_for_all()
        assert current.profile_hook is None
    finally:
        current.profile_all(False)
