"""What kernels have prepared: once for each version of a variable, and where it is not."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.context import cpu
from operad.graph import Entry, Graph, OpNode, Variable
from operad.imperative import Invoker
from operad.operator import ForwardArrays, OpContext
from operad_sdk import DeclarationError, OperatorProperty, OpReq, Prepared, ResourceRequest, operator
from operator_sdk.sdk.tests.declare.kernel_graphs import W, X, applied, bound
from operator_sdk.sdk.tests.scaled_rows import scaled_rows


@pytest.fixture
def scaled():
    """Rows times weights; a kernel has the weights doubled beforehand, and halves what it gets of them."""

    return scaled_rows("scaled_by_kernels")


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


def test_who_knows_the_operator_alone_gets_no_kernel_with_demands_of_its_own(scaled):
    @scaled.kernel("forward", priority=3, resources=lambda call, part: [ResourceRequest.TEMP_SPACE])
    def hungry(op_ctx, data, weight, output):
        op_ctx.requested[0].get_space(data.shape, data.dtype)

    made = scaled().create_operator(cpu(), [X.shape, W.shape], [X.dtype, W.dtype])
    out = np.empty_like(X)
    made.forward(OpContext(cpu(), False), ForwardArrays([X, W], [OpReq.WRITE], [out]))
    np.testing.assert_array_equal(out, X * W)


def test_a_prepared_array_may_not_have_a_name_of_the_operator(scaled):
    rule = Prepared(("weight",), ("forward",), _like_weight, lambda call: np.copyto)

    @scaled.kernel("forward", priority=1, prepares={"data": rule})
    def preparing(data, weight, output): ...

    with pytest.raises(DeclarationError, match="name of scaled_by_kernels"):
        bound(applied(scaled, ("x", "w")), x=X, w=W).forward()
