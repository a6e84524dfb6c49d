"""What an observer of nodes is told of segments, and that segments read no clock without one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext

import numpy as np
import pytest

from core.tests.executor.dense import dense_tanh, filled, network
from core.tests.simple import SimpleOperator, simple
from core.tests.together import run_together
from operad import Symbol, autograd, engine, nd, profiler, sym
from operad.graph import Entry, Graph, OpNode
from operad.op import CallTemplate, Kernel
from operad.program import Program, segment

pytestmark = pytest.mark.usefixtures("operators", "two_threads")

Seen = list[tuple[list[str], list[float], int]]


@pytest.fixture
def seen() -> Iterator[Seen]:
    """What is observed while the test runs: names of nodes, times, and the thread, by segment."""
    found: Seen = []

    def note(program: Program, node_ids: Sequence[int], times_s: Sequence[float]) -> None:
        names = [_words(program, node_id) for node_id in node_ids]
        found.append((names, list(times_s), threading.get_ident()))

    profiler.observe(lambda *_: None, note)
    yield found
    profiler.observe(None)


def _words(program: Program, node_id: int) -> str:
    node = program.graph.nodes[node_id]
    assert isinstance(node, OpNode)
    applied = node.companion or node
    number = program.graph.node_ids.get(applied)
    name = applied.name if number is None else program.labels[number]
    return f"{applied.op.name} {name}{' backward' * (applied is not node)}"


def names(seen: Seen) -> list[list[str]]:
    nd.waitall()
    return [segment_names for segment_names, *_ in seen]


def applied(op: object, variable: str = "x", name: str = "node") -> Symbol:
    """An operator of a test's own on a variable."""
    node = OpNode(op, name, [sym.var(variable).entries[0]])  # type: ignore[arg-type]
    return Symbol(Graph([Entry(node)]).outputs)


FORWARD = ["Dense fc1", "tanh act"]
BACKWARD = ["tanh act backward", "Dense fc1 backward"]


@pytest.mark.usefixtures("each_engine")
def test_every_node_of_a_bound_graph_is_seen_in_order(seen: Seen) -> None:
    executor = filled(dense_tanh().simple_bind(data=(1, 2)))
    executor.forward(is_train=True)
    executor.backward(nd.ones((1, 3)))
    assert names(seen) == [FORWARD, BACKWARD]
    for found, times_s, _ in seen:
        assert len(times_s) == len(found) + 1
        assert times_s == sorted(times_s)


@pytest.mark.usefixtures("each_engine")
def test_switching_holds_from_the_next_run_of_what_is_bound_already(seen: Seen) -> None:
    observed = segment.node_profiling.observer
    executor = filled(dense_tanh().simple_bind(data=(1, 2)))
    results = []
    for is_on in (False, True, True, False, True):
        nd.waitall()
        profiler.observe(*((lambda *_: None, observed) if is_on else (None,)))
        seen.clear()
        results += [executor.forward(is_train=is_train)[0].asnumpy() for is_train in (False, True)]
        assert names(seen) == [FORWARD, FORWARD] * is_on
    np.testing.assert_array_equal(results, [results[0]] * len(results))


def test_without_an_observer_no_clock_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bool] = []
    monkeypatch.setattr(segment, "perf_counter", lambda: read.append(True) or 0.0)
    executor = filled(network().simple_bind(data=(8, 3)))
    executor.forward(is_train=True)
    executor.backward()
    nd.waitall()
    assert read == []
    profiler.observe(lambda *_: None, lambda *_: None)
    executor.forward(is_train=True)
    nd.waitall()
    assert len(read) == 1 + 4
    profiler.observe(None)
    executor.forward(is_train=True)
    executor.backward()
    nd.waitall()
    assert len(read) == 1 + 4


@pytest.mark.usefixtures("each_engine")
def test_nodes_of_a_recorded_backward_pass_are_seen_and_told_apart(seen: Seen) -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.tanh(nd.tanh(nd.square(x)))
    y.backward()
    assert names(seen) == [["tanh tanh#2 backward", "tanh tanh backward", "square square backward"]]


@pytest.mark.usefixtures("each_engine")
def test_every_segment_of_several_threads_is_seen(seen: Seen) -> None:
    executors = [filled(dense_tanh().simple_bind(data=(1, 2))) for _ in range(4)]

    def run(executor: object) -> None:
        for _ in range(25):
            executor.forward()[0].wait_to_read()  # type: ignore[attr-defined]

    run_together(run, executors)
    assert names(seen) == [FORWARD] * 100


@pytest.mark.usefixtures("each_engine")
def test_a_graph_inside_an_operator_is_seen_within_its_node(seen: Seen) -> None:
    inner = filled(dense_tanh().simple_bind(data=(1, 2)))

    def run_inner(data: np.ndarray) -> np.ndarray:
        with engine.nested():
            return inner.forward(is_train=True)[0].asnumpy()

    op = simple("runs_a_graph", ["data"], run_inner, shape_function=lambda shape: (1, 3))
    outer = applied(op(), name="outer").simple_bind(x=(1,), grad_req="null")
    outer.forward()
    assert names(seen) == [FORWARD, ["runs_a_graph outer"]]
    (_, inner_s, inner_thread), (_, outer_s, outer_thread) = seen
    assert inner_thread == outer_thread
    assert outer_s[0] <= inner_s[0] <= inner_s[-1] <= outer_s[-1]


class _InTwoCalls(SimpleOperator):
    """Every call twice, as an operator has it that does its work in steps."""

    def forward_templates(self, *args: object) -> list[CallTemplate]:
        return super().forward_templates(*args) * 2


@pytest.mark.parametrize("fails_in", [None, 1, 2])
def test_the_calls_of_one_node_are_one_run(seen: Seen, fails_in: int | None) -> None:
    calls: list[int] = []

    def count(data: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) == fails_in:
            raise ZeroDivisionError
        return data

    op = simple("in_two_calls", ["data"], count)
    op.kernels = [Kernel("two calls", _InTwoCalls)]
    before = sym.tanh(sym.var("x"), name="before")
    node = OpNode(op(), "node", [before.entries[0]])
    after = sym.tanh(Symbol(Graph([Entry(node)]).outputs), name="after")
    after.simple_bind(x=(3,), grad_req="null").forward()
    with pytest.raises(ZeroDivisionError) if fails_in else nullcontext():
        nd.waitall()
    ((found, times_s, _),) = seen
    assert found == ["tanh before", "in_two_calls node", "tanh after"]
    assert len(calls) == (fails_in or 2)
    assert len(times_s) == 1 + (2 if fails_in else 3)
    assert times_s == sorted(times_s)


class TestFailures:
    def notes(self, executor: object) -> tuple[list[str], list[str]]:
        with pytest.raises(ZeroDivisionError, match=r"above 0\.9") as caught:
            executor.forward(x=[5, 5, 5])[0].asnumpy()  # type: ignore[attr-defined]
        return caught.value.__notes__, [entry.name for entry in caught.traceback]

    def executor(self) -> object:
        x = sym.tanh(sym.var("x"), name="before")
        x = sym.explode(sym._plus_scalar(x, scalar=1, name="plus"), limit=0.9, name="boom")
        return sym.tanh(x, name="after").simple_bind(x=(3,))

    @pytest.mark.usefixtures("each_engine")
    def test_surface_exactly_as_without_an_observer(self, seen: Seen) -> None:
        executor = self.executor()
        observed = segment.node_profiling.observer
        found = []
        for observer in (observed, None):
            profiler.observe(None if observer is None else lambda *_: None, observer)
            found.append(self.notes(executor))
        (notes, frames), (expected_notes, expected_frames) = found
        assert any("in forward of explode 'boom' (this process" in note for note in notes)
        assert any("test_profile.py" in note for note in notes)  # the push site
        assert [_without_line(note) for note in notes] == [_without_line(note) for note in expected_notes]
        assert [name.removesuffix("_timed") for name in frames] == expected_frames

    @pytest.mark.usefixtures("each_engine")
    def test_end_the_node_that_failed_and_no_later_one(self, seen: Seen) -> None:
        executor = self.executor()
        self.notes(executor)
        ((found, times_s, _),) = seen
        assert found == ["tanh before", "_plus_scalar plus", "explode boom", "tanh after"]
        assert len(times_s) == 1 + 3
        seen.clear()
        executor.forward(x=[-5, -5, -5])[0].asnumpy()  # type: ignore[attr-defined]
        assert [len(times) for _, times, _ in seen] == [1 + 4]


def _without_line(note: str) -> str:
    return note.partition(":")[0]


@pytest.mark.usefixtures("each_engine")
def test_a_monitored_run_is_seen_node_by_node(seen: Seen) -> None:
    executor = filled(dense_tanh().simple_bind(data=(1, 2)))
    monitored: list[str] = []
    executor.set_monitor_callback(lambda name, array: monitored.append(name))
    executor.forward(is_train=True)
    executor.backward(nd.ones((1, 3)))
    assert names(seen) == [[name] for name in FORWARD + BACKWARD]
    assert monitored[:2] == ["fc1_output", "act_output"]


@pytest.mark.usefixtures("each_engine")
def test_an_error_of_an_observer_fails_no_operation_and_is_raised_by_a_wait() -> None:
    def broken(*_: object) -> None:
        raise ValueError("observer")

    executor = filled(dense_tanh().simple_bind(data=(1, 2)))
    profiler.observe(lambda *_: None, broken)
    try:
        (out,) = executor.forward()
        expected = out.asnumpy()
        with pytest.raises(ValueError, match="observer"):
            nd.waitall()
        assert segment.node_profiling.observer is None
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected)
        nd.waitall()
    finally:
        profiler.observe(None)


def test_a_change_of_engine_goes_on_observing(seen: Seen) -> None:
    executor = filled(dense_tanh().simple_bind(data=(1, 2)))
    for name in ("naive", "threaded"):
        engine.set(name)
        executor.forward()
        nd.waitall()
    assert names(seen) == [FORWARD, FORWARD]
