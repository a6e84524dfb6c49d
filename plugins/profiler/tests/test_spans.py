"""Whose time it was: the span's that began last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad_profiler.profiled import ProfiledNode
from operad_profiler.recording import NodeRuns, Run, Thread
from operad_profiler.spans import spans_of

MAIN, OTHER = Thread("main", 1), Thread("main", 2)


def operation(name: str, start_s: float, stop_s: float, thread: Thread = MAIN) -> Run:
    return Run(name, "operator", od.cpu(), thread, start_s, stop_s)


def segment(*names_and_times: object, thread: Thread = MAIN) -> NodeRuns:
    """`0.0, "a", 1.0, "b", 2.0`."""
    nodes = [
        ProfiledNode(str(name), "tanh", False, None, od.cpu(), None, None) for name in names_and_times[1::2]
    ]
    return NodeRuns(nodes, [float(str(time_s)) for time_s in names_and_times[::2]], thread)


def own(runs: list[Run], node_runs: list[NodeRuns], thread: Thread = MAIN) -> dict[str, float]:
    return {span.what.name: span.own_s for span in spans_of(runs, node_runs)[thread]}


def test_nodes_take_the_time_of_their_segment() -> None:
    found = spans_of([operation("s", 0, 10), operation("o", 10, 11)], [segment(1.0, "a", 4.0, "b", 9.0)])[
        MAIN
    ]
    assert {span.what.name: (span.own_s, span.is_segment) for span in found} == {
        "s": (2.0, True), "a": (3.0, False), "b": (5.0, False), "o": (1.0, False),
    }  # fmt: skip


def test_what_runs_inside_a_node_takes_its_time() -> None:
    runs = [operation("inner op", 2, 3), operation("inner", 4, 8), operation("s", 0, 10)]
    nodes = [segment(5.0, "deep", 7.0), segment(0.0, "outer", 10.0)]
    assert own(runs, nodes) == {"s": 0, "outer": 5, "inner op": 1, "inner": 2, "deep": 2}
    segments = {span.what.name for span in spans_of(runs, nodes)[MAIN] if span.is_segment}
    assert segments == {"s", "inner"}


def test_threads_of_one_name_are_apart() -> None:
    runs = [operation("a", 0, 2), operation("b", 1, 4, OTHER)]
    assert (own(runs, []), own(runs, [], OTHER)) == ({"a": 2}, {"b": 3})


def test_an_operation_that_ended_in_another_thread_may_overlap() -> None:
    assert own([operation("async", 0, 5), operation("late", 3, 9)], []) == {"async": 3, "late": 6}


TIMES = st.tuples(st.integers(0, 50), st.integers(0, 20))


@pytest.mark.parametrize("as_nodes", [False, True])
@given(spans=st.lists(TIMES, max_size=12))
def test_own_times_add_up_to_the_time_in_which_anything_was_open(
    as_nodes: bool, spans: list[tuple[int, int]]
) -> None:
    runs = [operation("op", start, start + length) for start, length in spans]
    nodes = [segment(start, "n", start + length) for start, length in spans] if as_nodes else []
    busy = {moment for start, length in spans for moment in range(start, start + length)}
    found = [span for each in spans_of(runs, nodes).values() for span in each]
    assert sum(span.own_s for span in found) == len(busy)
    assert all(span.own_s >= 0 for span in found)
