"""What is recorded, and what is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import operad as od
from operad.errors import ParamError
from operad_profiler import recording

profiler = od.profiler
MAIN = recording.Thread("main", 1)


def one_operation() -> None:
    od.nd.empty((2, 2)).copy().wait_to_read()


def test_what_runs_is_recorded_between_start_and_stop_and_not_in_a_pause() -> None:
    one_operation()
    profiler.start()
    one_operation()
    profiler.pause()
    one_operation()
    profiler.resume()
    one_operation()
    profiler.stop()
    one_operation()
    assert len(recording.runs) == 2


def test_starting_again_takes_over_from_another_observer() -> None:
    profiler.start()
    od.profiler.observe(None)
    profiler.start()
    one_operation()
    profiler.stop()
    assert len(recording.runs) == 1


def test_a_dump_is_a_trace_of_chrome_and_forgets_what_it_wrote(trace: Path) -> None:
    profiler.start()
    one_operation()
    profiler.dump()
    events = json.loads(trace.read_text())["traceEvents"]
    (run,) = [event for event in events if event["ph"] == "X"]
    (thread,) = [event for event in events if event["ph"] == "M"]
    assert (run["dur"] >= 0, run["args"], run["tid"]) == (True, {"device": "cpu(0)"}, thread["tid"])
    assert not recording.runs


def test_a_table_has_a_line_for_each_name_and_its_figures() -> None:
    for name, start_s, stop_s in (("a", 1.0, 1.5), ("a", 1.0, 2.5), ("b", 0.0, 3.0)):
        recording.runs.append(recording.Run(name, "operator", od.cpu(), MAIN, start_s, stop_s))
    head, first, second = profiler.dumps().splitlines()[:3]
    assert head.split() == ["operator", "count", "total", "min", "max", "avg"]
    assert first.split() == ["b", "1", "3000.0000", "3000.0000", "3000.0000", "3000.0000"]
    assert second.split() == ["a", "2", "2000.0000", "500.0000", "1500.0000", "1000.0000"]
    found = json.loads(profiler.dumps(reset=True, format="json", sort_by="count"))
    assert list(found["Time"]["operator"]) == ["a", "b"]
    assert found["Time"]["operator"]["b"] == dict.fromkeys(("Total", "Min", "Max", "Avg"), 3000.0) | {
        "Count": 1
    }
    assert (found["Memory"], found["Unit"]) == ({}, {"Time": "ms", "Memory": "kB"})
    assert not recording.runs


def test_the_older_names_do_the_same(trace: Path) -> None:
    other = trace.with_name("other.json")
    profiler.profiler_set_config(mode="all", filename=str(other))
    profiler.profiler_set_state("run")
    one_operation()
    profiler.dump_profile()
    assert len(json.loads(other.read_text())["traceEvents"]) == 2
    assert not recording.is_recording()


def test_what_cannot_be_done_is_refused_and_explained() -> None:
    with pytest.raises(ParamError, match="unknown option 'file'; expected one of filename"):
        profiler.set_config(file="x")
    with pytest.raises(ParamError, match="expected 'run' or 'stop'"):
        profiler.set_state("on")
    with pytest.raises(ParamError, match="the server's own process"):
        profiler.pause(profile_process="server")
    with pytest.raises(ParamError, match="sort_by 'name'"):
        profiler.dumps(sort_by="name")
    with pytest.raises(ParamError, match="mode is 'imperative'"):
        profiler.profiler_set_config(mode="imperative")
    profiler.set_config(aggregate_stats=False)
    with pytest.raises(ParamError, match="aggregate_stats=True"):
        profiler.dumps()
