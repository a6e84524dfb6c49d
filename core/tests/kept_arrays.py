"""A product whose kernel keeps an array for a gradient and has another prepared, each in the plainest way."""

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

    def forward(self, op_ctx, in_data, req, out_data, aux_states):
        assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states):
        for place in (0, 1):
            if req[place] is not OpReq.NULL:
                assign(in_grad[place], req[place], out_grad[0] * in_data[1 - place])


class KeepingOperator(PlainOperator):
    """The same by twice the weight, where that is prepared; the gradient of the weight reads a kept copy."""

    def forward(self, op_ctx, in_data, req, out_data, aux_states):
        data, weight, twice = in_data
        assign(out_data[0], req[0], data * weight if twice is None else data * twice / 2)
        if out_data[1] is not None:
            out_data[1][...] = data

    def backward(self, op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states):
        if req[0] is not OpReq.NULL:
            assign(in_grad[0], req[0], out_grad[0] * in_data[1])
        if req[1] is not OpReq.NULL:
            assign(in_grad[1], req[1], out_grad[0] * out_data[1])


def _like_data(call):
    return call.shape("data"), call.dtype("data")


def _doubling(call):
    def double(weight, twice):
        twice[...] = 2 * weight

    return double


def _reads(prop, part):
    head = BackwardEntry("out_grad", 0)
    return [head, BackwardEntry("in_data", 1)] if part == "data_grad" else [head]


TWICE = Prepared(("weight",), ("forward",), _like_data, _doubling)
PLAIN = Kernel("Scaled.plain", PlainOperator)
KEEPING = Kernel(
    "Scaled.keeping", KeepingOperator, priority=1,
    keeps={"copy": _like_data}, needs=("copy",), prepares={"twice": TWICE}, reads=_reads,
)  # fmt: skip


class Scaled(OperatorProperty):
    """`data * weight`, of equal shapes."""

    name = "scaled"
    kernels: ClassVar = [PLAIN, KEEPING]

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
