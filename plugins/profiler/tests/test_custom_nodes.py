"""Nodes of operators that a program writes: they call others, they fail, and they wait."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import operad as od
from plugins.profiler.tests.reports import assert_threads_add_up, found, rows

pytest.importorskip("operad_custom", reason="operators that a program writes")

profiler = od.profiler


class _Inner(od.operator.CustomOp):
    """Runs calls and a graph of its own."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        executor = od.sym.tanh(od.sym.var("x"), name="inner").bind(od.cpu(), {"x": in_data[0]})
        self.assign(out_data[0], req[0], executor.forward()[0] + 1)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], out_grad[0])


@od.operator.register("profiled_inner")
class _InnerProp(od.operator.CustomOpProp):
    """As its operator."""

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Inner:
        return _Inner()


@pytest.mark.usefixtures("each_engine")
def test_what_a_custom_operator_runs_stands_beside_it_and_is_counted_once() -> None:
    symbol = od.sym.Custom(od.sym.var("x"), op_type="profiled_inner", name="outer")
    executor = symbol.simple_bind(od.cpu(), x=(8, 8))
    profiler.start()
    executor.forward(is_train=True)[0].wait_to_read()
    report = found()
    table = rows(report)
    outer, inner = table["outer", "forward"], table["inner", "forward"]
    assert (outer["Kernel"], inner["Operator"]) == ("python", "tanh")
    assert table["_plus_scalar", None]["Count"] == 1
    assert inner["Total"] + table["_plus_scalar", None]["Total"] < outer["Total"]
    assert sum(outer["Shares"]) * report["Threads"][0]["Window"] < outer["Total"]
    assert_threads_add_up(report)


@pytest.mark.usefixtures("each_engine")
def test_a_failing_node_is_counted_and_its_error_is_that_of_an_unprofiled_run() -> None:
    picked = od.sym.reshape(od.sym.var("x"), shape=(2, 2), name="before")
    symbol = od.sym.Custom(picked, op_type="profiled_failing", name="boom")
    executor = od.sym.tanh(symbol, name="after").simple_bind(od.cpu(), x=(4,))
    errors = []
    for is_on in (True, False):
        profiler.set_state("run" if is_on else "stop")
        with pytest.raises(ZeroDivisionError) as caught:
            executor.forward(is_train=True)[0].asnumpy()
        errors.append((str(caught.value), [note.partition(":")[0] for note in caught.value.__notes__]))
    assert errors[0] == errors[1]
    assert any("Custom 'boom' (operad-custom" in note for note in errors[0][1])
    names = {row["Name"] for row in found()["Nodes"]}
    assert names == {"before", "boom"}


class _Failing(od.operator.CustomOp):
    """Fails."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        raise ZeroDivisionError("boom")


@od.operator.register("profiled_failing")
class _FailingProp(od.operator.CustomOpProp):
    """As its operator."""

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Failing:
        return _Failing()


def test_what_began_before_a_pause_is_left_out() -> None:
    gate = threading.Event()
    symbol = od.sym.Custom(od.sym.var("x"), op_type="profiled_waiting", name="waits")
    _Waiting.gate = gate
    executor = symbol.simple_bind(od.cpu(), x=(2,), grad_req="null")
    begun = _Waiting.begun = threading.Event()
    profiler.start()
    thread = threading.Thread(target=lambda: executor.forward(is_train=True)[0].wait_to_read())
    thread.start()
    begun.wait()
    profiler.pause()
    profiler.resume()
    gate.set()
    thread.join()
    assert "waits" not in {row["Name"] for row in found()["Nodes"]}


class _Waiting(od.operator.CustomOp):
    """Waits for the test."""

    gate = threading.Event()
    begun = threading.Event()

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.begun.set()
        self.gate.wait()


@od.operator.register("profiled_waiting")
class _WaitingProp(od.operator.CustomOpProp):
    """As its operator."""

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Waiting:
        return _Waiting()
