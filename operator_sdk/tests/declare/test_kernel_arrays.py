"""What kernels keep, have prepared and may overwrite: in bound graphs, on tapes, and where not taken."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.context import cpu
from operad.executor import simple_bind
from operad.graph import Entry, Graph, OpNode, Variable, check_plan
from operad.imperative import Invoker
from operad.operator import OpContext
from operad_sdk import (
    DeclarationError,
    OperatorProperty,
    OpReq,
    Prepared,
    ResourceRequest,
    operator,
)

X = np.array([[0.5, -1.0, 4.0], [2.0, 3.0, -0.25]], np.float32)
W = np.array([1.5, 2.0, -3.0], np.float32)


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


def applied(cls, inputs=("x",), **params):
    nodes = [Entry(Variable(name)) for name in inputs]
    return Graph([Entry(OpNode(cls(**params), "node", nodes))])


def bound(graph, grad_req="write", **arrays):
    exe = simple_bind(graph, cpu(), {n: a.shape for n, a in arrays.items()}, {}, grad_req)
    for name, array in arrays.items():
        exe.arg_dict[name][:] = array
    check_plan(exe.memory_plan)
    return exe


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


@pytest.fixture
def scaled():
    """Rows times weights; a kernel has the weights doubled beforehand, and halves what it gets of them."""

    @operator("scaled_by_kernels")
    class Scaled(OperatorProperty):
        spec = "data:(N, D), weight:(D) -> output:(N, D)"

        def forward(data, weight):
            return data * weight

        def data_grad(output_grad, weight):
            return output_grad * weight

        def weight_grad(output_grad, data):
            return (output_grad * data).sum(0)

    return Scaled


def _like_weight(call):
    return call.shape("weight"), call.dtype("weight")


def prepare_double(cls, made, parts=("forward", "data_grad")):
    def maker(call):
        def fill(weight, double):
            made.append(weight.copy())
            np.multiply(weight, 2, out=double)

        return fill

    rule = Prepared(("weight",), parts, _like_weight, maker)

    @cls.kernel("forward", priority=2, prepares={"double": rule})
    def forward(data, weight, output, double):
        np.multiply(data, 2 * weight if double is None else double, out=output)
        output /= 2

    @cls.kernel("data_grad", priority=2, prepares={"double": rule})
    def gradient(output_grad, weight, data_grad, double):
        np.multiply(output_grad, 2 * weight if double is None else double, out=data_grad)
        data_grad /= 2


def test_an_array_is_prepared_once_for_each_version_of_its_argument(scaled):
    made = []
    prepare_double(scaled, made, ("forward",))
    exe = bound(applied(scaled, ("x", "w")), "null", x=X, w=W)
    for _ in range(3):
        np.testing.assert_array_equal(exe.forward()[0].asnumpy(), X * W)
    exe.arg_dict["x"][:] = 2 * X
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), 2 * X * W)
    assert len(made) == 1
    exe.arg_dict["w"][:] = -W
    for _ in range(3):
        np.testing.assert_array_equal(exe.forward()[0].asnumpy(), -2 * X * W)
    assert len(made) == 2
    assert exe.memory_plan.prepared_bytes == W.nbytes
    assert exe.why().rows[-1].prepared_bytes == W.nbytes


def test_gradients_read_what_was_prepared_for_them(scaled):
    made = []
    prepare_double(scaled, made)
    exe = bound(applied(scaled, ("x", "w")), {"x": "write"}, x=X, w=W)
    for factor in (1, -2):
        exe.arg_dict["w"][:] = factor * W
        (out,) = exe.forward(is_train=True)
        exe.backward(od.nd.array(X))
        np.testing.assert_array_equal(out.asnumpy(), X * W * factor)
        np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), X * W * factor)
    assert len(made) == 4  # for each of two kernels


def test_a_weight_that_is_trained_is_not_prepared(scaled):
    made = []
    prepare_double(scaled, made)
    exe = bound(applied(scaled, ("x", "w")), x=X, w=W)
    np.testing.assert_array_equal(exe.forward(is_train=True)[0].asnumpy(), X * W)
    exe.backward(od.nd.array(X))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), X * W)
    np.testing.assert_allclose(exe.grad_dict["w"].asnumpy(), (X * X).sum(0), rtol=1e-6)
    assert not made
    assert exe.memory_plan.prepared_bytes == 0


def test_what_is_no_variable_is_not_prepared(scaled):
    made = []
    prepare_double(scaled, made)
    weight = Entry(OpNode(scaled(), "inner", [Entry(Variable("m")), Entry(Variable("v"))]))
    row = Entry(OpNode(_FirstRow(), "row", [weight]))
    exe = bound(Graph([Entry(OpNode(scaled(), "outer", [Entry(Variable("x")), row]))]), "null", x=X, m=X, v=W)
    np.testing.assert_allclose(exe.forward()[0].asnumpy(), X * (X * W)[0], rtol=1e-6)
    assert [list(each) for each in made] == [list(W)]


@operator("first_row_of_kernels_test")
class _FirstRow(OperatorProperty):
    spec = "data:(N, D) -> output:(D)"

    def forward(data):
        return data[0]

    def data_grad(output_grad, data_grad):
        data_grad[...] = 0
        data_grad[0] = output_grad


def test_imperative_calls_prepare_nothing(scaled):
    made = []
    prepare_double(scaled, made)
    x, w = od.nd.array(X), od.nd.array(W)
    x.attach_grad()
    with autograd.record():
        y = Invoker(scaled())([x, w])
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), X * W)
    np.testing.assert_array_equal(x.grad.asnumpy(), np.ones_like(X) * W)
    assert not made


def test_an_array_that_could_not_be_prepared_is_tried_again(scaled):
    attempts = []

    def maker(call):
        def fill(weight, double):
            attempts.append(1)
            if len(attempts) == 1:
                raise MemoryError("full")
            np.multiply(weight, 2, out=double)

        return fill

    rule = Prepared(
        ("weight",), ("forward",), lambda call: (call.shape("weight"), call.dtype("weight")), maker
    )

    @scaled.kernel("forward", priority=2, prepares={"double": rule})
    def forward(data, weight, output, double):
        np.multiply(data, double, out=output)

    exe = bound(applied(scaled, ("x", "w")), "null", x=X, w=W)
    with pytest.raises(MemoryError):
        exe.forward()[0].asnumpy()
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), 2 * X * W)
    assert len(attempts) == 2


def test_memory_that_was_lent_is_prepared_for_every_run(scaled):
    made = []
    prepare_double(scaled, made, ("forward",))
    exe = bound(applied(scaled, ("x", "w")), "null", x=X, w=W)
    exe.forward()
    lent = np.from_dlpack(exe.arg_dict["w"])
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), X * W)
    lent[:] = -W  # which the engine does not see
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), -X * W)


def test_pairs_of_a_kernel_replace_those_of_the_operator():
    @operator("reversed_by_kernels")
    class Reversed(OperatorProperty):
        spec = "data:(N, D) -> output:(N, D)"
        inplace = "data -> output"

        def forward(data):
            return data[::-1].copy()

        def data_grad(output_grad):
            return output_grad[::-1].copy()

    @Reversed.kernel("forward", priority=1, inplace="")
    def careless(data, output):
        output[:] = 0
        output[:] += data[::-1]

    chain = Entry(OpNode(_Negated(), "negated", [Entry(Variable("x"))]))
    exe = bound(
        Graph([Entry(OpNode(Reversed(), "last", [Entry(OpNode(Reversed(), "mid", [chain]))]))]), "null", x=X
    )
    np.testing.assert_array_equal(exe.forward()[0].asnumpy(), -X)
    assert not exe.memory_plan.inplace
    x = od.nd.array(X)
    np.testing.assert_array_equal(Invoker(Reversed())([x], out=x).asnumpy(), X[::-1])


@operator("negated_of_kernels_test")
class _Negated(OperatorProperty):
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return -data

    def data_grad(output_grad):
        return -output_grad


def test_a_kernel_may_overwrite_what_the_operator_may_not():
    @operator("halved_by_kernels")
    class Halved(OperatorProperty):
        spec = "data:(N, D) -> output:(N, D)"

        def forward(data):
            return data / 2

        def data_grad(output_grad):
            return output_grad / 2

    @Halved.kernel("forward", priority=1, inplace="data -> output")
    def forward(data, output):
        np.divide(data, 2, out=output)

    @Halved.kernel("data_grad", priority=1, inplace="output_grad -> data_grad")
    def gradient(output_grad, data_grad):
        np.divide(output_grad, 2, out=data_grad)

    entry = Entry(Variable("x"))
    for step in range(4):
        entry = Entry(OpNode(Halved(), f"n{step}", [entry]))
    exe = bound(Graph([entry]), x=X)
    np.testing.assert_array_equal(exe.forward(is_train=True)[0].asnumpy(), X / 16)
    exe.backward(od.nd.array(X))
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), X / 16)
    assert len(exe.memory_plan.inplace) == 4
    assert exe.memory_plan.planned_bytes == 64


def test_resources_of_kernels_are_their_own():
    seen = []

    @operator("summed_by_kernels")
    class Summed(OperatorProperty):
        spec = "lhs:(N, D), rhs:(N, D) -> output:(N, D)"

        def forward(lhs, rhs):
            return lhs + rhs

        def lhs_grad(output_grad):
            return output_grad.copy()

        def rhs_grad(output_grad):
            return output_grad.copy()

    def space(op_ctx, shape):
        seen.append(len(op_ctx.requested))
        (found,) = [one.get_space(shape, np.float32) for one in op_ctx.requested]
        return found

    temp = {"resources": lambda call, part: [ResourceRequest.TEMP_SPACE]}

    @Summed.kernel("forward", priority=1, **temp)
    def forward(op_ctx, lhs, rhs, output):
        sums = space(op_ctx, lhs.shape)
        np.add(lhs, rhs, out=sums)
        output[:] = sums

    @Summed.kernel("lhs_grad", priority=1, **temp)
    def left(op_ctx, output_grad, lhs_grad):
        sums = space(op_ctx, output_grad.shape)
        sums[:] = output_grad
        lhs_grad[:] = sums

    @Summed.kernel("rhs_grad", priority=1)
    def right(op_ctx, output_grad, rhs_grad):
        seen.append(-len(op_ctx.requested))
        rhs_grad[:] = output_grad

    exe = bound(applied(Summed, ("x", "y")), x=X, y=X)
    np.testing.assert_array_equal(exe.forward(is_train=True)[0].asnumpy(), 2 * X)
    exe.backward(od.nd.array(X))
    np.testing.assert_array_equal(exe.grad_dict["y"].asnumpy(), X)
    assert sorted(seen) == [0, 1, 1]
    x = od.nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = Invoker(Summed())([x, x])
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full_like(X, 2))


def test_who_knows_the_operator_alone_gets_no_kernel_with_demands_of_its_own(scaled):
    @scaled.kernel("forward", priority=3, resources=lambda call, part: [ResourceRequest.TEMP_SPACE])
    def hungry(op_ctx, data, weight, output):
        op_ctx.requested[0].get_space(data.shape, data.dtype)

    made = scaled().create_operator(cpu(), [X.shape, W.shape], [X.dtype, W.dtype])
    out = np.empty_like(X)
    made.forward(OpContext(cpu(), False), [X, W], [OpReq.WRITE], [out], [])
    np.testing.assert_array_equal(out, X * W)
