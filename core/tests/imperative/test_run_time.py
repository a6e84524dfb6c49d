"""Run-time parameters: another value is another result, and no new plan."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import ParamError
from operad.imperative import call, find_invoker
from operad.op import Kernel, Operator, OperatorProperty, assign, param

X = np.float32([1, 2, 3])


class Scale(Operator):
    """Counts how often it is made."""

    made = 0

    def __init__(self, prop, *_):
        type(self).made += 1
        self.prop = prop

    def rebound(self, prop):
        made = type(self).__new__(type(self))
        made.prop = prop
        return made

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * self.prop.rate + self.prop.shift)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * self.prop.rate)


class Stiff(Scale):
    """Cannot be rebound."""

    def rebound(self, prop):
        return None


class scaled_at_run_time(OperatorProperty):  # noqa: N801 - named as operators are
    """`rate * data + shift`."""

    rate = param(float, gt=0, run_time=True)
    shift = param(int, 0)
    kernels = (Kernel("scaled.array", Scale),)

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


class stiffly_scaled(scaled_at_run_time):  # noqa: N801 - as above
    """The same with a kernel that must be made again."""

    kernels = (Kernel("stiff.array", Stiff),)


class unscaled(OperatorProperty):  # noqa: N801 - as above
    """No run-time parameter."""

    infer_shape = scaled_at_run_time.infer_shape


@pytest.fixture(autouse=True)
def installed():
    call._invokers.clear()  # so that each test meets an operator that nobody has called
    Scale.made = Stiff.made = 0
    for prop in (scaled_at_run_time, stiffly_scaled):
        registry.register(prop)
    yield
    for prop in (scaled_at_run_time, stiffly_scaled):
        registry.unregister(prop.name)
    registry.refresh()


@pytest.mark.parametrize("name", ["scaled_at_run_time", "stiffly_scaled"])
def test_every_value_has_its_own_result(name):
    x = od.nd.array(X)
    call = getattr(od.nd, name)
    for rate in (0.5, 2.0, 3.5, 0.5):
        np.testing.assert_array_equal(call(x, rate=rate, shift=1).asnumpy(), X * np.float32(rate) + 1)


def test_a_new_value_makes_no_new_operator():
    x, y = od.nd.array(X), od.nd.array(np.ones((2, 2)))
    for rate in np.linspace(0.5, 2, 20):
        od.nd.scaled_at_run_time(x, rate=rate)
        od.nd.scaled_at_run_time(y, rate=rate)
    assert Scale.made == 2  # one for each shape
    od.nd.scaled_at_run_time(x, rate=0.5, shift=2)
    assert Scale.made == 3


def test_gradients_are_those_of_each_call():
    x = od.nd.array(X)
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.scaled_at_run_time(od.nd.scaled_at_run_time(x, rate=0.5), rate=3.0)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full(3, 1.5, np.float32))


def test_calls_that_wait_keep_their_values(held):
    x = od.nd.array(X)
    with held(x):
        results = [od.nd.scaled_at_run_time(x, rate=rate) for rate in (1.0, 2.0, 4.0)]
    for rate, result in zip((1.0, 2.0, 4.0), results, strict=True):
        np.testing.assert_array_equal(result.asnumpy(), X * np.float32(rate))


@pytest.fixture
def held():
    """`with held(array):` keeps the engine from touching an array."""
    from contextlib import contextmanager
    from threading import Event

    from operad import engine

    @contextmanager
    def hold(array):
        free = Event()
        engine.get().push_sync(lambda _: free.wait(), od.cpu(), (), (array._chunk.var,))
        try:
            yield
        finally:
            free.set()

    engine.set("threaded")
    return hold


def test_a_value_that_does_not_fit_is_refused_as_ever():
    x = od.nd.array(X)
    od.nd.scaled_at_run_time(x, rate=1.0)
    for rate in (-1.0, "fast"):
        with pytest.raises(ParamError, match="scaled_at_run_time: parameter 'rate' is"):
            od.nd.scaled_at_run_time(x, rate=rate)


def test_values_that_never_come_again_pile_up_nowhere():
    x = od.nd.array(X)
    od.nd.scaled_at_run_time(x, rate=0.5)
    before = dict(call._invokers)
    for rate in np.linspace(1, 2, 100):
        od.nd.scaled_at_run_time(x, rate=float(rate))
    assert call._invokers == before


def test_a_gradient_is_compiled_once_for_all_values():
    x = od.nd.array(X)
    x.attach_grad()
    structures = set()
    for rate in (0.5, 3.0):
        with od.autograd.record():
            y = od.nd.scaled_at_run_time(x, rate=rate)
        structures.add(y._autograd[0].plan.structure)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), np.full(3, rate, np.float32))
    assert len(structures) == 1


def test_the_property_of_a_recorded_call_has_its_values():
    x = od.nd.array(X)
    x.attach_grad()
    with od.autograd.record():
        nodes = [od.nd.scaled_at_run_time(x, rate=rate)._autograd[0] for rate in (0.25, 0.75)]
    assert [node.plan.prop.get_params()["rate"] for node in nodes] == ["0.25", "0.75"]


def test_equal_parameters_have_one_invoker_whatever_their_run_time_values():
    (one, first), (other, second) = (find_invoker(scaled_at_run_time, {"rate": r}) for r in (0.25, 0.75))
    assert one is other
    assert (first, second) == ((0.25,), (0.75,))


def test_one_declaration_may_serve_two_operators_under_two_names():
    shared = param(float, 1.0, run_time=True)

    class First(scaled_at_run_time):
        kernels = scaled_at_run_time.kernels
        rate = shared

    class Second(scaled_at_run_time):
        kernels = scaled_at_run_time.kernels
        speed = shared

    x = od.nd.array(X)
    try:
        for op in (First, Second):
            registry.register(op)
        np.testing.assert_array_equal(od.nd.First(x, rate=2.0).asnumpy(), 2 * X)
        np.testing.assert_array_equal(od.nd.Second(x, rate=3.0, speed=5.0).asnumpy(), 3 * X)
    finally:
        for op in (First, Second):
            registry.unregister(op.name)
