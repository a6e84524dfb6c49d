"""Operators that a program wrote, in loops that read nothing per batch: they use what they hold.

A stepped engine lets no operation run but where the loop waits, so all that follows is queued behind each
operation, and its memory is used again while operations on it are pending: the worst that timing can do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.engine.stepped import SteppedEngine
from operad import autograd, engine, nd
from tests.reliability.processes import run

pytest.importorskip("operad_custom", reason="these are programs that write operators")
pytest.importorskip("operad_module", reason="the loops are those of a Module")
pytest.importorskip("operad_iterators", reason="the loops are those of an iterator")

BATCHES, ROWS, FEATURES, CLASSES = 6, 100, 20, 10


class Loss(od.operator.CustomOp):
    """A loss whose parts are written in every way that a program may write them."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        out_data[0][:] = in_data[0] * 1

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        in_grad[0][:] = out_data[0] - in_data[1]


class InParts(Loss):
    """Views, slices, temporaries and sums in place; what it wrote it reads again."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        x, y = in_data[0], out_data[0]
        half = len(x) // 2
        y[:half] = x[:half]
        y[half:] = nd.concat(x[half:], x[half:], dim=0)[: len(x) - half]
        y += nd.zeros_like(x)
        y[:] = y.reshape((-1,)).reshape(x.shape) * 1

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        grad = in_grad[0]
        grad[:] = out_data[0]
        grad -= in_data[1]
        grad[:] = nd.elemwise_add(grad, nd.zeros_like(grad), out=grad)


class Reading(Loss):
    """Reads with NumPy, and waits for what it made."""

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        made = out_data[0] - in_data[1]
        made.wait_to_read()
        assert made.asnumpy().shape == in_data[1].asnumpy().shape
        in_grad[0][:] = nd.array(made.asnumpy())


class Recording(Loss):
    """Has its gradient from a tape of its own."""

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        x = out_data[0].copy()
        x.attach_grad()
        with autograd.record():
            loss = (0.5 * nd.square(x - in_data[1])).sum()
        loss.backward()
        in_grad[0][:] = x.grad


class Calling(Loss):
    """Calls another operator of the program."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        out_data[0][:] = nd.Custom(in_data[0], in_data[1], op_type="loops_InParts")


class ReadingWeights(Loss):
    """Reads an array of the program that the operation holds as well, and that an update is queued for."""

    weight: Any = None

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        out_data[0][:] = in_data[0] + 0 * self.weight[:1].sum()


OPERATORS: dict[str, type[Loss]] = {
    each.__name__: each for each in (Loss, InParts, Reading, Recording, Calling, ReadingWeights)
}


def _register(name: str, op: type[Loss]) -> None:
    @od.operator.register(f"loops_{name}")
    class Prop(od.operator.CustomOpProp):
        def __init__(self) -> None:
            super().__init__(need_top_grad=False)

        def list_arguments(self) -> list[str]:
            return ["data", "label"]

        def infer_shape(self, in_shape: Any) -> Any:
            return [in_shape[0], in_shape[0]], [in_shape[0]], []

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Loss:
            return op()


for _name, _op in OPERATORS.items():
    _register(_name, _op)


def _outputs(module: Any) -> None:
    module.get_outputs()[0].wait_to_read()


WAITS: dict[str, Callable[[Any], object]] = {
    "never": lambda module: None,
    "for all": lambda module: nd.waitall(),
    "for the output": _outputs,
    "reading": lambda module: module.get_outputs()[0].asnumpy(),
}


def train(name: str, num_hidden: int, wait: str = "never") -> np.ndarray:
    """The last output of a training loop."""
    od.random.seed(3)
    np.random.seed(3)  # what initializers draw from
    net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=num_hidden, name="first")
    net = od.sym.FullyConnected(net, num_hidden=CLASSES, name="last")
    net = od.sym.Custom(net, od.sym.var("label"), op_type=f"loops_{name}")
    module = od.mod.Module(net, label_names=["label"])
    module.bind([("data", (ROWS, FEATURES))], [("label", (ROWS, CLASSES))])
    module.init_params()
    module.init_optimizer()
    ReadingWeights.weight = module._exec_group.execs[0].arg_dict["last_weight"]
    source = np.random.default_rng(0)
    data = source.random((BATCHES * ROWS, FEATURES), dtype=np.float32)
    label = source.random((BATCHES * ROWS, CLASSES), dtype=np.float32)
    for batch in od.io.NDArrayIter({"data": data}, {"label": label}, ROWS):
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
        WAITS[wait](module)
    found: np.ndarray = module.get_outputs()[0].asnumpy()
    return found


SIZES = [16, 512]
"""Hidden units: with the first all runs in the calling thread where nothing is pending, with the second
products are queued."""


@pytest.fixture(scope="module")
def expected() -> Iterator[dict[tuple[str, int], np.ndarray]]:
    """Results of the naive engine, which has nothing pending."""
    engine.set("naive")
    yield {(name, size): train(name, size, "for all") for name in OPERATORS for size in SIZES}
    engine.set("threaded")


ORDERS: dict[str, Callable[[int], int]] = {
    "first": lambda _: 0,
    "last": lambda count: count - 1,
    "any": random.Random(5).randrange,
}


@pytest.mark.walk
@pytest.mark.parametrize("num_done", [0, 2])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", OPERATORS)
def test_a_loop_that_never_waits_computes_what_one_does_that_waits(
    name: str, size: int, order: str, num_done: int, stepped: SteppedEngine, expected: Any
) -> None:
    stepped.runner.pick = ORDERS[order]
    stepped.num_done_in_a_wait = num_done
    # Something that is not done keeps all that comes next in the queue.
    stepped.push_sync(lambda _: None, od.cpu(), (), (), name="first")
    np.testing.assert_allclose(train(name, size), expected[name, size], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("kind", ["threaded", "naive"])
@pytest.mark.parametrize("size", SIZES)
def test_every_way_of_waiting_gives_the_same(size: int, kind: str, wait: str, expected: Any) -> None:
    engine.set(kind)
    try:
        for name in OPERATORS:
            np.testing.assert_allclose(train(name, size, wait), expected[name, size], rtol=1e-4, atol=1e-6)
    finally:
        engine.set("threaded")


class Scaled(autograd.Function):
    """Computes with what it was handed, and with what it saved, in place and in parts."""

    def forward(self, x: Any) -> Any:
        y = x * 2
        y[:1] = y[:1] + 0
        y += 0
        self.save_for_backward(x)
        return y

    def backward(self, dy: Any) -> Any:
        (x,) = self.saved_tensors
        grad = dy * 2 + 0 * x
        grad[1:] = grad[1:] * 1
        return grad


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(8, 8), (200, 200)])
def test_a_function_in_a_loop_that_never_waits(
    shape: tuple[int, int], order: str, stepped: SteppedEngine
) -> None:
    stepped.runner.pick = ORDERS[order]
    x, gate = nd.ones(shape), stepped.new_variable()
    x.attach_grad()
    for _ in range(5):
        stepped.push_sync(
            lambda _: None, od.cpu(), (x._chunk.var,), (gate,)
        )  # so that a write of x is queued
        with autograd.record():
            loss = Scaled()(x).sum()
        loss.backward()
        x -= 0.25 * x.grad
    np.testing.assert_array_equal(x.asnumpy(), np.full(shape, 1 - 5 * 0.5, "float32"))


def test_an_updater_of_a_store_in_a_loop_that_never_waits(stepped: SteppedEngine) -> None:
    pytest.importorskip("operad_kvstore", reason="the store is its")
    store, weight, grad = od.kv.create("local"), nd.ones((100, 10)), nd.ones((100, 10))

    def update(key: object, given: Any, stored: Any) -> None:
        stored[:5] -= given[:5] * 2
        stored[5:] = stored[5:] - 2 * given[5:]

    store.init(0, weight)
    store._set_updater(update)
    for _ in range(6):
        stepped.push_sync(lambda _: None, od.cpu(), (), (grad._chunk.var, weight._chunk.var))
        store.push(0, grad)
        store.pull(0, out=weight)
    assert set(weight.asnumpy().ravel().tolist()) == {1 - 6 * 2}


PROGRAM = """
import sys
import operad.as_mxnet
import mxnet as mx, numpy as np

class Loss(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        out_data[0][:] = in_data[0] * 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        in_grad[0][:] = out_data[0] - in_data[1]

@mx.operator.register("Loss")
class LossProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, shapes):
        return [shapes[0], shapes[0]], [shapes[0]], []

    def create_operator(self, ctx, shapes, types):
        return Loss()

net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=int(sys.argv[1]))
net = mx.sym.Custom(mx.sym.FullyConnected(net, num_hidden=10), mx.sym.var("label"), op_type="Loss")
module = mx.mod.Module(net, label_names=["label"])
module.bind([("data", (100, 784))], [("label", (100, 10))])
module.init_params()
module.init_optimizer()
rng = np.random.default_rng(0)
data, label = rng.random((3000, 784)).astype("f"), rng.random((3000, 10)).astype("f")
for batch in mx.io.NDArrayIter({"data": data}, {"label": label}, 100):
    module.forward(batch, is_train=True)
    module.backward()
    module.update()
assert np.isfinite(module.get_outputs()[0].asnumpy()).all()
print("ok")
"""


@pytest.mark.parametrize("num_threads", [1, 2])
def test_mxnets_program_runs_on_real_threads(num_threads: int) -> None:
    pytest.importorskip("operad_mxnet", reason="the program imports mxnet")
    done = run("-c", PROGRAM, "512", num_threads=num_threads)
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr
