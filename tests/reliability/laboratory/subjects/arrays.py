"""Subjects that call operators on arrays, record, open scopes and run executors."""

from __future__ import annotations

import gc
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd, nd
from operad import engine as engines
from operad.engine import nested
from operad.engine.thread import NESTED, OUTSIDE, local
from operad.operator import is_np_shape
from operad.program.program import collector_paused
from operad_mxnet.environment import np_shape
from tests.reliability.laboratory.subjects.subject import (
    CTX,
    Subject,
    require,
    require_one_of,
    value,
)

ONES: Final = np.ones((8, 8), "float32")


class Arrays(Subject):
    """Calls on small arrays, which run in the calling thread where the settings allow that."""

    def __init__(self) -> None:
        self.x = nd.array(ONES * 0.5)
        self.y = nd.array(ONES * 2.0)
        self.out = nd.array(ONES * 3.0)
        nd.waitall()

    def check(self, hit: BaseException | None) -> None:
        require_one_of(self.x.asnumpy(), ONES * 0.5, what="an input")
        require_one_of(self.y.asnumpy(), ONES * 2.0, what="an input")
        require_one_of(nd.tanh(self.x).asnumpy(), np.tanh(ONES * 0.5), what="tanh")
        require_one_of((self.x + self.y).asnumpy(), ONES * 2.5, what="a sum")


class Tanh(Arrays):
    """The shortest call."""

    def act(self) -> None:
        nd.tanh(self.x)


class Add(Arrays):
    """An operator of Python, into a given array."""

    def act(self) -> None:
        nd.elemwise_add(self.x, self.y, out=self.out)

    def check(self, hit: BaseException | None) -> None:
        require_one_of(value(self.out, hit), ONES * 3.0, ONES * 2.5, what="the output")
        self.out[:] = 3.0
        require_one_of(self.out.asnumpy(), ONES * 3.0, what="the output")
        super().check(hit)


class Dot(Arrays):
    """A call that runs in the calling thread with its variables claimed, and a read."""

    def act(self) -> None:
        self.product = nd.dot(self.x, self.y).asnumpy()

    def check(self, hit: BaseException | None) -> None:
        super().check(hit)
        if hit is None:
            require_one_of(self.product, ONES * 8.0, what="a product")


class Write(Arrays):
    """Writes into an array, whole and in part, and a read."""

    def act(self) -> None:
        self.out[:] = 4.0
        self.out[2:4] = 5.0
        self.out.wait_to_read()

    def check(self, hit: BaseException | None) -> None:
        found = value(self.out, hit)
        require(found is None or set(found.ravel()) <= {3.0, 4.0, 5.0}, f"what was written is {found}")
        self.out[:] = 3.0
        require_one_of(self.out.asnumpy(), ONES * 3.0, what="the output")
        super().check(hit)


class Recycle(Arrays):
    """Arrays of all sizes that come and go."""

    def act(self) -> None:
        for shape in ((3,), (40, 40), (90, 90)):
            made = nd.ones(shape)
            again = made + made
            del made, again


class Update(Arrays):
    """A step of an optimizer: weight and momentum change together, or not at all."""

    def __init__(self) -> None:
        super().__init__()
        # In float64, since the weight is exact after as many steps as a loop makes before a signal comes.
        self.weight, self.step = nd.array(ONES, dtype="float64"), nd.array(ONES * 2.0, dtype="float64")
        self.momentum = nd.zeros((8, 8), dtype="float64")

    def act(self) -> None:
        nd.sgd_mom_update(self.weight, self.step, self.momentum, lr=0.5, momentum=1.0, out=self.weight)

    def check(self, hit: BaseException | None) -> None:
        weight, momentum = value(self.weight, hit), value(self.momentum, hit)
        if weight is not None and momentum is not None:
            steps = -momentum[0, 0]  # each makes the momentum less by one
            wanted = 1.0 - steps * (steps + 1.0) / 2.0
            require((weight == wanted).all(), f"after {steps} steps a weight is {weight[0, 0]}, not {wanted}")
        self.weight[:] = 1.0
        self.momentum[:] = 0.0
        super().check(hit)


class Record(Arrays):
    """A recorded step and its gradient; what is saved for backward is given back."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nd.array(ONES)
        self.weight.attach_grad()

    def act(self) -> None:
        with autograd.record():
            hidden = nd.tanh(nd.dot(self.x, self.weight))
            loss = nd.sum(hidden * hidden)
        loss.backward()

    def check(self, hit: BaseException | None) -> None:
        hidden = np.tanh(ONES * 4.0)
        wanted = 8 * 0.5 * 2 * hidden * (1 - hidden**2)
        if hit is None:
            require_one_of(self.weight.grad.asnumpy(), wanted, what="a gradient")
        else:
            value(self.weight.grad, hit)
        super().check(hit)


class Scopes(Subject):
    """Scopes inside others; what they switched on is off again, wherever they are left."""

    def act(self) -> None:
        with autograd.record(), od.cpu(1), od.AttrScope(ctx_group="a"), od.name.Prefix("p"):
            self.inner = self._now()
            with autograd.pause(train_mode=True), od.cpu(2), nested():
                self.innermost = self._now()
                with engines.bulk(5), np_shape(), collector_paused():
                    self.others = self._others()

    @staticmethod
    def _now() -> tuple[object, ...]:
        group = od.AttrScope.current.get(None).get("__ctx_group__")
        name = od.name.NameManager.current.get("x", "hint")
        return local.state.mode, od.current_context(), group, name, local.state.inside

    @staticmethod
    def _others() -> tuple[object, ...]:
        return local.state.bulk_size, is_np_shape(), gc.isenabled()

    def check(self, hit: BaseException | None) -> None:
        require(self._now() == (0, od.cpu(0), None, "x", OUTSIDE), f"outside of all it is {self._now()}")
        require(self._others() == (0, False, True), f"outside of all it is {self._others()}")
        if hit is None:
            require(self.inner == (3, od.cpu(1), "a", "px", OUTSIDE), f"inside it is {self.inner}")
            wanted = (1, od.cpu(2), "a", "px", NESTED)
            require(self.innermost == wanted, f"inside all it is {self.innermost}")
            require(self.others == (5, True, False), f"inside all it is {self.others}")


class Step(Subject):
    """An executor's step."""

    def __init__(self) -> None:
        rng = np.random.RandomState(0)
        net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc0")
        net = od.sym.FullyConnected(od.sym.tanh(net), num_hidden=4, name="fc1")
        net = od.sym.SoftmaxOutput(net, name="softmax")
        self.executor = net.simple_bind(CTX, data=(5, 7))
        for name, array in self.executor.arg_dict.items():
            array[:] = rng.standard_normal(array.shape) if name != "softmax_label" else np.arange(5) % 4
        self.step()
        self.wanted = self.results()

    def step(self) -> None:
        """Forward, backward and a read."""
        self.executor.forward(is_train=True)
        self.executor.backward()
        self.executor.outputs[0].wait_to_read()

    def act(self) -> None:
        self.step()

    def results(self) -> list[np.ndarray[Any, Any]]:
        """Outputs and gradients."""
        arrays = [*self.executor.outputs, *self.executor.grad_dict.values()]
        return [np.array(array.asnumpy()) for array in arrays if array is not None]

    def check(self, hit: BaseException | None) -> None:
        if hit is not None:
            self.step()
        found = self.results()
        same = [np.array_equal(one, two) for one, two in zip(found, self.wanted, strict=True)]
        require(all(same), f"outputs and gradients are right: {same}")


class Save(Subject):
    """A recorded call whose operator saves something for its gradient, which is never asked for."""

    def __init__(self) -> None:
        self.x = nd.array(ONES * 0.5)
        self.x.attach_grad()

    def act(self) -> None:
        with autograd.record():
            nd.Dropout(nd.softmax(self.x), p=0.5)

    def check(self, hit: BaseException | None) -> None:
        require_one_of(self.x.asnumpy(), ONES * 0.5, what="an input")
        with autograd.record():
            y = nd.softmax(self.x)
        y.backward()
        require_one_of(self.x.grad.asnumpy(), ONES * 0.0, what="the gradient of a row that sums to 1")
