"""What a program notes of itself."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import operad as od
from operad.errors import ParamError

profiler = od.profiler


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Begins to record; gives the trace's events, by name, once it is called."""
    profiler.set_config(filename=str(tmp_path / "trace.json"), aggregate_stats=True)
    profiler.start()

    def dumped() -> dict[str, list[dict[str, Any]]]:
        profiler.dump()
        by_name: dict[str, list[dict[str, Any]]] = {}
        for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]:
            by_name.setdefault(event["name"], []).append(event)
        return by_name

    yield dumped
    profiler.stop()
    profiler.set_config(filename="profile.json", aggregate_stats=False)


def test_tasks_frames_and_events_are_durations_that_contain_what_ran(written: Any) -> None:
    domain = profiler.Domain("training")
    with domain.new_frame("batch"), profiler.Event("fetch"):
        od.nd.empty((2, 2)).copy().wait_to_read()
    table = profiler.dumps()
    events = written()
    (batch,), (fetch,) = events["batch"], events["fetch"]
    (run,) = [event for each in events.values() for event in each if event.get("cat") == "operator"]
    assert (batch["cat"], fetch["cat"], batch["ph"]) == ("training", "event", "X")
    assert batch["ts"] <= fetch["ts"] <= run["ts"] <= run["ts"] + run["dur"] <= batch["ts"] + batch["dur"]
    assert {"batch", "fetch"} <= {line.split()[0] for line in table.splitlines() if line}


def test_a_task_may_end_in_another_thread(written: Any) -> None:
    task = profiler.Domain("io").new_task("read")
    task.start()
    thread = threading.Thread(target=task.stop)
    thread.start()
    thread.join()
    begin, end = written()["read"]
    assert (begin["ph"], end["ph"], begin["id"] == end["id"]) == ("b", "e", True)


def test_a_counter_notes_each_of_its_values(written: Any) -> None:
    counter = profiler.Domain("io").new_counter("bytes", 3)
    counter += 2
    counter.decrement()
    counter -= 1
    counter.set_value(9)
    assert [event["args"]["bytes"] for event in written()["bytes"]] == [3, 5, 4, 3, 9]


def test_a_marker_is_a_moment_of_its_scope(written: Any) -> None:
    marker = profiler.Domain("training").new_marker("saved")
    marker.mark()
    marker.mark("thread")
    assert [(event["ph"], event["s"]) for event in written()["saved"]] == [("i", "p"), ("i", "t")]
    with pytest.raises(ParamError, match="scope is 'room'"):
        marker.mark("room")


def test_nothing_is_noted_while_nothing_is_recorded_but_counters_count(written: Any) -> None:
    profiler.pause()
    counter = profiler.Domain("io").new_counter("files", 1)
    with profiler.Event("fetch"):
        counter.increment()
    profiler.resume()
    counter.increment()
    events = written()
    assert "fetch" not in events
    assert [event["args"]["files"] for event in events["files"]] == [3]


def test_what_has_not_begun_cannot_end() -> None:
    with pytest.raises(ParamError, match="Event 'fetch': stop without start"):
        profiler.Event("fetch").stop()


def test_they_show_their_names() -> None:
    domain = profiler.Domain("io")
    assert [str(each) for each in (domain, domain.new_task("t"), domain.new_counter("c"))] == ["io", "t", "c"]
