"""A product whose kernel has an array prepared, in the plainest way."""

from __future__ import annotations

from typing import ClassVar

from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.op import (
    BackwardEntry,
    Kernel,
    KernelCall,
    Operator,
    OperatorProperty,
    OpReq,
    Prepared,
    assign,
    unify_shapes,
)


class PlainOperator(Operator):
    """`data * weight`."""

    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[1])

    def backward(self, op_ctx, arrays):
        for place in (0, 1):
            if arrays.req[place] is not OpReq.NULL:
                assign(
                    arrays.in_grad[place], arrays.req[place], arrays.out_grad[0] * arrays.in_data[1 - place]
                )


class PreparingOperator(PlainOperator):
    """The same by twice the weight, where that is prepared, and the gradient of the data."""

    def forward(self, op_ctx, arrays):
        data, weight, twice = arrays.in_data
        assign(arrays.out_data[0], arrays.req[0], data * weight if twice is None else data * twice / 2)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * arrays.in_data[1])


def _like_data(call):
    return call.shape("data"), call.dtype("data")


def _doubling(call):
    def double(weight, twice):
        twice[...] = 2 * weight

    return double


def _reads(prop, part):
    return [BackwardEntry("out_grad", 0), BackwardEntry("in_data", 1)]


TWICE = Prepared(("weight",), ("forward",), _like_data, _doubling)
PLAIN = Kernel("Scaled.plain", PlainOperator)
PREPARING = Kernel(
    "Scaled.preparing", PreparingOperator, priority=1,
    parts=lambda prop: ("forward", "data_grad"), prepares={"twice": TWICE}, reads=_reads,
)  # fmt: skip


def noting(seen):
    """The kernels, of which one puts each weight that it doubles into a list."""

    def doubling(call):
        def double(weight, twice):
            seen.append(float(weight[0, 0]))
            twice[...] = 2 * weight

        return double

    return [PLAIN, PREPARING._replace(prepares={"twice": TWICE._replace(maker=doubling)})]


class Scaled(OperatorProperty):
    """`data * weight`, of equal shapes."""

    name = "scaled"
    kernels: ClassVar = [PLAIN, PREPARING]

    def list_arguments(self):
        return ["data", "weight"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, "scaled")
        return [shape, shape], [shape], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], *in_data]


def call_of(shape=(2, 3), ctx=None, dtype=DEFAULT_DTYPE):
    """A call of the product in training."""
    return KernelCall(Scaled(), ctx or cpu(), [shape, shape], [dtype, dtype])
