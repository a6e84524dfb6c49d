"""Operators that a program registers, called on arrays and on symbols."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, BlockingInOperatorError, OperatorNotFoundError, ShapeError


class Scale(od.operator.CustomOp):
    """`scale * data`, in operators."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * self.scale)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * self.scale)


@od.operator.register("test_scale")
class ScaleProp(od.operator.CustomOpProp):
    def __init__(self, scale: str = "2") -> None:
        super().__init__()
        self.scale = scale
        assert isinstance(scale, str)

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Scale:
        return Scale(float(self.scale))


class Softmax(od.operator.CustomOp):
    """MXNet's example: read with NumPy, keep nothing, ignore the head gradient."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], od.nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        label = in_data[1].asnumpy().astype(int)
        y = out_data[0].asnumpy()
        y[np.arange(len(label)), label] -= 1
        self.assign(in_grad[0], req[0], od.nd.array(y))


@od.operator.register("test_softmax")
class SoftmaxProp(od.operator.CustomOpProp):
    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def list_arguments(self) -> list[str]:
        return ["data", "label"]

    def infer_shape(self, in_shape: Any) -> Any:
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]], []

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Softmax:
        return Softmax()


def test_an_array_call_computes_and_gives_text_to_the_class() -> None:
    assert od.nd.Custom(od.nd.array([1, 2]), op_type="test_scale", scale=3).asnumpy().tolist() == [3, 6]


def test_a_recorded_call_has_the_written_gradient() -> None:
    x = od.nd.array([1, 2])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.Custom(x * 2, op_type="test_scale", scale=3)
    y.backward(od.nd.array([1, 10]))
    assert x.grad.asnumpy().tolist() == [6, 60]


def test_symbols_infer_shapes_and_bound_executors_compute() -> None:
    out = od.sym.Custom(od.sym.var("data"), op_type="test_softmax", name="softmax")
    assert out.list_arguments() == ["data", "softmax_label"]
    assert out.infer_shape(data=(4, 3))[0] == [(4, 3), (4,)]
    bound = out.simple_bind(od.cpu(), data=(2, 3))
    bound.arg_dict["data"][:] = [[1, 2, 3], [3, 2, 1]]
    bound.arg_dict["softmax_label"][:] = [2, 0]
    y = bound.forward(is_train=True)[0].asnumpy()
    e = np.exp([1, 2, 3])
    np.testing.assert_allclose(y, [e / e.sum(), e[::-1] / e.sum()], rtol=1e-6)
    bound.backward()
    expected = y - np.array([[0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(bound.grad_dict["data"].asnumpy(), expected, rtol=1e-6)


def test_a_file_of_it_is_read_again() -> None:
    out = od.sym.Custom(od.sym.var("data"), op_type="test_scale", scale=5)
    (y,) = od.sym.load_json(out.tojson()).eval(data=od.nd.array([1, 2]))
    assert y.asnumpy().tolist() == [5, 10]


@pytest.mark.parametrize("req", ["write", "add", "null"])
def test_every_request_is_honoured(req: str) -> None:
    x, grad = od.nd.array([1, 2]), od.nd.array([7, 7])
    bound = od.sym.Custom(od.sym.var("data"), op_type="test_scale").bind(od.cpu(), [x], [grad], req)
    bound.forward(is_train=True)
    bound.backward([od.nd.array([1, 1])])
    expected = {"write": [2, 2], "add": [9, 9], "null": [7, 7]}[req]
    assert grad.asnumpy().tolist() == expected


def test_auxiliary_states_are_written() -> None:
    class Count(od.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            if is_train:
                aux[0][:] += 1
            self.assign(out_data[0], req[0], in_data[0] + aux[0])

    @od.operator.register("test_count")
    class CountProp(od.operator.CustomOpProp):
        def list_auxiliary_states(self) -> list[str]:
            return ["count"]

        def infer_shape(self, in_shape: Any) -> Any:
            return in_shape, in_shape, [[1]]

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Count:
            return Count()

    bound = od.sym.Custom(od.sym.var("data"), op_type="test_count", name="c").simple_bind(od.cpu(), data=(1,))
    for is_train, expected in ((True, 1), (False, 1), (True, 2)):
        assert bound.forward(is_train=is_train)[0].asscalar() == expected
    assert bound.aux_dict["c_count"].asscalar() == 2


def test_an_operator_without_arguments_makes_arrays() -> None:
    class Three(od.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            self.assign(out_data[0], req[0], od.nd.arange(3))

    @od.operator.register("test_three")
    class ThreeProp(od.operator.CustomOpProp):
        def list_arguments(self) -> list[str]:
            return []

        def infer_shape(self, in_shape: Any) -> Any:
            return [], [[3]], []

        def infer_type(self, in_type: Any) -> Any:
            return [], [np.float32], []

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Three:
            return Three()

    assert od.nd.Custom(op_type="test_three").asnumpy().tolist() == [0, 1, 2]


def registered(name: str, forward: Any, prop: Any = od.operator.CustomOpProp) -> None:
    class Op(od.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            forward(self, req, in_data, out_data)

    class Prop(prop):  # type: ignore[misc]  # any base
        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Op:
            return Op()

    od.operator.register(name)(Prop)


@pytest.mark.parametrize("size", [2, 100_000])
def test_an_error_surfaces_at_the_wait_with_the_line_of_the_call(size: int) -> None:
    registered("test_broken", lambda *_: 1 / 0)
    y = od.nd.Custom(od.nd.ones(size), op_type="test_broken")
    with pytest.raises(ZeroDivisionError) as caught:
        y.asnumpy()
    assert isinstance(caught.value, od.OperadError)
    assert "Custom (operad-custom " in caught.value.__notes__[0]
    assert __file__ in caught.value.__notes__[0]


def test_an_error_of_an_operator_that_it_calls_is_its_error() -> None:
    registered("test_wrong_call", lambda op, req, ins, outs: od.nd.linalg_potrf(-od.nd.eye(3)))
    with pytest.raises(np.linalg.LinAlgError):
        od.nd.Custom(od.nd.ones(2), op_type="test_wrong_call").asnumpy()


def test_what_is_called_inside_runs_at_once_and_is_not_recorded() -> None:
    seen: list[Any] = []

    def forward(op: Any, req: Any, ins: Any, outs: Any) -> None:
        seen.append((od.autograd.is_recording(), (ins[0] * 2).sum().asscalar()))
        op.assign(outs[0], req[0], ins[0])

    registered("test_nested", forward)
    x = od.nd.ones(3)
    x.attach_grad()
    with od.autograd.record():
        od.nd.Custom(x, op_type="test_nested").wait_to_read()
        assert od.autograd.is_recording()
    assert seen == [(False, 6)]


def test_one_custom_operator_may_call_another() -> None:
    registered(
        "test_outer",
        lambda op, req, ins, outs: op.assign(outs[0], req[0], od.nd.Custom(ins[0], op_type="test_scale")),
    )
    assert od.nd.Custom(od.nd.ones(2), op_type="test_outer").asnumpy().tolist() == [2, 2]


def test_waiting_for_work_that_waits_for_the_operator_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operad.engine.back_pressure._PATIENCE_S", 0.01)
    later: list[Any] = []
    registered("test_waits", lambda *_: later[0].asnumpy())
    x, held = od.nd.ones(100_000), od.nd.ones(100_000)
    later.append(x)
    gate = threading.Event()
    od.engine.get().push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[held._chunk.var])
    y = od.nd.Custom(held, op_type="test_waits")
    x += y
    gate.set()
    with pytest.raises(BlockingInOperatorError):
        y.asnumpy()


def test_it_runs_in_a_forked_child() -> None:
    od.nd.Custom(od.nd.ones(100_000), op_type="test_scale").wait_to_read()
    child = os.fork()
    if child == 0:
        y = od.nd.Custom(od.nd.ones(100_000), op_type="test_scale")
        os._exit(0 if y.asnumpy().min() == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_an_unknown_name_says_what_is_registered() -> None:
    with pytest.raises(OperatorNotFoundError, match="test_scale"):
        od.nd.Custom(od.nd.ones(1), op_type="nobody")


def test_wrong_numbers_of_shapes_and_a_wrong_operator_are_named() -> None:
    class Prop(od.operator.CustomOpProp):
        def infer_shape(self, in_shape: Any) -> Any:
            return in_shape, []

    od.operator.register("test_shapes")(Prop)
    with pytest.raises(ArgumentError, match="infer_shape gave"):
        od.nd.Custom(od.nd.ones(1), op_type="test_shapes")

    class Other(od.operator.CustomOpProp):
        def create_operator(self, *_: Any) -> Any:
            return 3

    od.operator.register("test_other")(Other)
    with pytest.raises(ArgumentError, match="create_operator returned 3"):
        od.nd.Custom(od.nd.ones(1), op_type="test_other")
    with pytest.raises(ShapeError, match="label has shape"):
        od.nd.Custom(od.nd.ones((2, 3)), od.nd.ones(3), op_type="test_softmax")
    with pytest.raises(ArgumentError, match="expected a subclass"):
        od.operator.register("test_none")(3)  # type: ignore[type-var]  # the mistake


@pytest.mark.parametrize("base", [od.operator.NumpyOp, od.operator.NDArrayOp])
def test_the_older_kinds_make_symbols(base: Any) -> None:
    class Square(base):  # type: ignore[misc]  # any base
        def forward(self, in_data: Any, out_data: Any) -> None:
            out_data[0][:] = in_data[0] * in_data[0]

        def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
            in_grad[0][:] = 2 * in_data[0] * out_grad[0]

    x, grad = od.nd.array([2, 3]), od.nd.zeros(2)
    bound = Square()(od.sym.var("x"), name="square").bind(od.cpu(), [x], [grad])
    assert bound.forward(is_train=True)[0].asnumpy().tolist() == [4, 9]
    bound.backward([od.nd.array([1, 10])])
    assert grad.asnumpy().tolist() == [4, 60]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_later_registration_takes_the_place_of_the_first(is_recorded: bool) -> None:
    x, found = od.nd.ones(2), []
    for factor in (2, 3):
        registered(
            "test_again", lambda op, req, ins, outs, by=factor: op.assign(outs[0], req[0], ins[0] * by)
        )
        with od.autograd.record() if is_recorded else nullcontext():
            found += [od.nd.Custom(x, op_type="test_again").asnumpy()[0] for _ in range(2)]
    assert found == [2, 2, 3, 3]
