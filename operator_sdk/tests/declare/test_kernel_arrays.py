"""What kernels keep for the gradient: in bound graphs, on tapes, and where it is not taken."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.context import cpu
from operad.executor import simple_bind
from operad.graph import Entry, Graph, OpNode, Variable
from operad.imperative import Invoker
from operad_sdk import DeclarationError, OperatorProperty, operator
from operator_sdk.tests.declare.kernel_graphs import X, applied, bound


@pytest.fixture
def cubed():
    """`x ** 3`; what a kernel keeps for the gradient is `3 x^2`, and `calls` counts who computed what."""

    @operator("cubed")
    class Cubed(OperatorProperty):
        spec = "data:(*S) -> output:(*S)"

        def forward(data):
            return data**3

        def data_grad(output_grad, data):
            return output_grad * 3 * data * data

    return Cubed


@pytest.fixture
def calls():
    return SimpleNamespace(forward=0, kept=0, gradient=0)


def keep_slope(cls, calls, **options):
    """Give the operator kernels of which the first keeps the slope and the second reads it."""

    @cls.kernel("forward", priority=2, keeps={"slope": lambda call: (call.shape("data"), call.dtype("data"))})
    def keeping(data, output, slope):
        calls.forward += 1
        calls.kept += slope is not None
        np.multiply(data, data, out=output)
        if slope is not None:
            np.multiply(output, 3, out=slope)
        output *= data

    @cls.kernel("data_grad", priority=2, needs="slope", **options)
    def by_slope(output_grad, slope, data_grad):
        calls.gradient += 1
        np.multiply(output_grad, slope, out=data_grad)


def test_what_is_kept_is_planned_and_read_by_the_gradient(cubed, calls):
    keep_slope(cubed, calls)
    exe = bound(applied(cubed), x=X)
    (out,) = exe.forward(is_train=True)
    exe.backward(od.nd.array(2 * np.ones_like(X)))
    np.testing.assert_array_equal(out.asnumpy(), X**3)
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 6 * X * X)
    assert vars(calls) == {"forward": 1, "kept": 1, "gradient": 1}
    assert exe.memory_plan.planned_bytes >= X.nbytes
    forward, backward = exe.why().rows
    assert (forward.arrays, forward.kept_bytes) == (f"keeps slope ({X.nbytes} bytes)", X.nbytes)
    assert backward.arrays == "reads slope"
    assert "slope" in str(exe.why())


def test_nothing_is_kept_where_no_gradient_is_computed(cubed, calls):
    keep_slope(cubed, calls)
    exe = bound(applied(cubed), "null", x=X)
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), X**3)
    assert vars(calls) == {"forward": 1, "kept": 0, "gradient": 0}
    assert exe.memory_plan.planned_bytes == 0


def test_nothing_is_kept_where_another_kernel_computes_the_gradient(cubed, calls):
    keep_slope(cubed, calls, when=lambda call: "not today")
    exe = bound(applied(cubed), x=X)
    exe.forward(is_train=True)
    exe.backward(od.nd.array(np.ones_like(X)))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 3 * X * X)
    assert vars(calls) == {"forward": 1, "kept": 0, "gradient": 0}


def test_where_another_kernel_computes_the_outputs_a_gradient_that_needs_kept_arrays_is_the_next_ones(
    cubed, calls
):
    keep_slope(cubed, calls)

    @cubed.kernel("forward", priority=3)
    def other(data, output):
        np.power(data, 3, out=output)

    exe = bound(applied(cubed), x=X)
    exe.forward(is_train=True)
    exe.backward(od.nd.array(np.ones_like(X)))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 3 * X * X)
    assert vars(calls) == {"forward": 0, "kept": 0, "gradient": 0}
    assert "does not keep" in exe.why().rows[1].others["cubed.by_slope"]


def test_a_recorded_call_carries_what_its_kernel_keeps(cubed, calls):
    keep_slope(cubed, calls)
    invoke, x = Invoker(cubed()), od.nd.array(X)
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = invoke([x])
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 3 * X * X)
    assert vars(calls) == {"forward": 2, "kept": 2, "gradient": 2}
    assert np.array_equal(invoke([x]).asnumpy(), X**3)
    assert calls.kept == 2


def test_recording_that_does_not_train_keeps_nothing(cubed, calls):
    keep_slope(cubed, calls)
    invoke, x = Invoker(cubed()), od.nd.array(X)
    x.attach_grad()
    with autograd.record(train_mode=False):
        y = invoke([x])
    y.backward(train_mode=False)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3 * X * X)
    assert vars(calls) == {"forward": 1, "kept": 0, "gradient": 0}


def test_a_gradient_of_the_gradient_knows_nothing_of_kernels(cubed, calls):
    keep_slope(cubed, calls)
    invoke, x = Invoker(cubed()), od.nd.array(X)
    x.attach_grad()
    with autograd.record():
        (slope,) = autograd.grad(invoke([x]), [x], create_graph=True)
    slope.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * X, rtol=1e-6)


def test_two_nodes_keep_apart_and_a_value_used_twice_is_kept_once(cubed, calls):
    keep_slope(cubed, calls)
    first = Entry(OpNode(cubed(), "first", [Entry(Variable("x"))]))
    second = Entry(OpNode(cubed(), "second", [first]))
    exe = bound(Graph([second]), x=X)
    exe.forward(is_train=True)
    exe.backward(od.nd.array(np.ones_like(X)))
    np.testing.assert_allclose(exe.grad_dict["x"].asnumpy(), 9 * X**8, rtol=1e-5)


def test_half_precision_is_kept_in_its_own_type(calls):
    @operator("half_cubed")
    class Half(OperatorProperty):
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        compute_dtype = "float32"

        def forward(data):
            return data**3

        def data_grad(output_grad, data):
            return output_grad * 3 * data * data

    keep_slope(Half, calls)
    exe = simple_bind(applied(Half), cpu(), {"x": X.shape}, {"x": np.dtype("float16")}, "write")
    exe.arg_dict["x"][:] = X
    exe.forward(is_train=True)
    exe.backward(od.nd.array(np.ones_like(X), dtype="float16"))
    np.testing.assert_allclose(exe.grad_dict["x"].asnumpy(), 3 * X * X, rtol=1e-2)
    assert calls.kept == calls.gradient == 1


def test_a_class_kernel_keeps_for_its_own_gradient(cubed):
    @cubed.kernel(
        priority=2,
        needs="slope",
        keeps={"slope": lambda call: (call.shape("data"), call.dtype("data"))},
    )
    class Whole:
        def __init__(self, prop, ctx, in_shapes, in_types):
            pass

        def forward(self, data, output, slope):
            output[...] = data**3
            if slope is not None:
                slope[...] = 3 * data * data

        def data_grad(self, output_grad, slope, data_grad):
            np.multiply(output_grad, slope, out=data_grad)

    exe = bound(applied(cubed), x=X)
    exe.forward(is_train=True)
    exe.backward(od.nd.array(np.ones_like(X)))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 3 * X * X)
    assert exe.why().rows[1].kernel == "cubed.Whole"


@pytest.mark.parametrize(
    ("parts", "options", "function", "message"),
    [
        (["forward"], {"keeps": {"mask": lambda call: ((), "u1")}}, "plain", "does not name 'mask'"),
        (["data_grad"], {"needs": "mask"}, "gradient", "does not name 'mask'"),
        (["data_grad"], {"keeps": {"slope": lambda call: ((), "u1")}}, "gradient", "kept with forward"),
        (["forward"], {"needs": "slope"}, "plain", "needed with gradients"),
    ],
)
def test_a_declaration_that_contradicts_its_function_is_refused(cubed, parts, options, function, message):
    def plain(data, output): ...

    def gradient(output_grad, slope, data_grad): ...

    with pytest.raises(DeclarationError, match=message):
        cubed.kernel(*parts, **options)({"plain": plain, "gradient": gradient}[function])


def test_a_kept_array_may_not_have_a_name_of_the_operator(cubed):
    @cubed.kernel("forward", priority=1, keeps={"data": lambda call: ((), "u1")})
    def keeping(data, output): ...

    with pytest.raises(DeclarationError, match="name of cubed"):
        bound(applied(cubed), x=X)
