"""What kernels may overwrite and which resources they get, apart from their operator's."""

from __future__ import annotations

import numpy as np

import operad as od
from operad import autograd
from operad.graph import Entry, Graph, OpNode, Variable
from operad.imperative import Invoker
from operad_sdk import OperatorProperty, ResourceRequest, operator
from operator_sdk.sdk.tests.declare.kernel_graphs import X, applied, bound


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
