"""Gradients that were reported to ignore what is asked of them, or to depend on what is not."""

from __future__ import annotations

import numpy as np

from operad.operator import Operator, assign
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import Contract, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


class _HalfSquare(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0])

    def backward(self, op_ctx, arrays):
        if arrays.in_grad[0] is not None:
            np.copyto(arrays.in_grad[0], arrays.out_data[0])


class HalfSquare(CoreProperty):
    """The data, with the gradient of half their square."""

    name = "zoo_half_square"
    contract = Contract(ignores_head_gradient="a loss", loss=lambda data: (data * data).sum() / 2)

    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [*out_data]

    def create_operator(self, ctx, in_shapes, in_types):
        return _HalfSquare()


@operator("zoo_sum_of_two")
class SumOfTwo(Floating):
    """A sum."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"

    def forward(lhs, rhs):
        return lhs + rhs

    def backward(wanted, output_grad, lhs_grad, rhs_grad):
        lhs_grad[...] = output_grad
        rhs_grad[...] = lhs_grad if "lhs_grad" in wanted else 0


@operator("zoo_mirrored_long")
class MirroredLong(Floating):
    """A signal and its first element once more, before it."""

    spec = "data:(W + 1) -> output:(W + 2)"

    def forward(data):
        return np.concatenate((data[:1], data))

    def data_grad(output_grad):
        found = output_grad[1:].copy()
        found[0] += output_grad[0]
        rest = len(found) % 1024
        if len(found) > 1024 and rest:
            found[rest:] = np.roll(found[rest:], 1)
        return found


@operator("zoo_sum_of_many")
class SumOfMany(Floating):
    """A sum of arrays, in another way where they are more than four."""

    num_args = param(int, ge=1, le=6, doc="How many.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S) -> output:(*S)"
    inplace = "arg0 -> output"

    def forward(arg, output):
        if len(arg) <= 4:
            output[...] = sum(arg)
            return
        output[...] = 0
        for each in arg:
            output += each

    def backward(output_grad, arg_grad):
        for each in arg_grad:
            each[...] = output_grad


@operator("zoo_over_last")
class OverLast(Floating):
    """Rows over one more than the square of the last one."""

    spec = "data:(N + 1, D) -> output:(N + 1, D)"
    inplace = "data -> output"

    def forward(data, output):
        for row in reversed(range(len(data))):
            output[row] = data[row] / (1 + data[-1] * data[-1])

    def data_grad(output_grad, data):
        below = 1 + data[-1] * data[-1]
        found = output_grad / below
        found[-1] -= (output_grad * data).sum(0) * 2 * data[-1] / (below * below)
        return found


@operator("zoo_mean_of_no_rows")
class MeanOfNoRows(InFloat32):
    """Mean over rows; 0 where there is none."""

    spec = "data:(N, D) -> output:(D)"

    def forward(data, output):
        if len(data):
            np.mean(data, axis=0, out=output)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad / max(len(data_grad), 1)


_current = {}


@operator("zoo_current_scale")
class CurrentScale(Floating):
    """Rows over one more than their largest magnitude, which is kept in the module meanwhile."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"

    def forward(data):
        _current["scale"] = 1 + abs(data).max(1, keepdims=True)
        rows = list(data)
        return np.reshape(rows, data.shape) / _current["scale"]


ZOO = without_gradients(
    [
        Fault(
            "B",
            HalfSquare,
            "the gradient of a loss is written where it is to be added",
            report="https://github.com/apache/mxnet/issues/9497",
        ),
        Fault(
            "B",
            SumOfTwo,
            "one gradient is a copy of the other, which may not be wanted",
            report="https://github.com/apache/mxnet/issues/20293",
        ),
        Fault(
            "B",
            MirroredLong,
            "after the last whole block of 1,024 places gradients are those of others",
            report="https://github.com/pytorch/pytorch/issues/196949",
        ),
        Fault(
            "M",
            SumOfMany,
            "the output is set to zero before the arguments, one of which lies there, are added",
            report="https://github.com/apache/mxnet/issues/14858",
        ),
        Fault(
            "M",
            OverLast,
            "the last row is divided by itself before others are divided by it",
            report="https://github.com/pytorch/pytorch/issues/82303",
        ),
        Fault(
            "F",
            MeanOfNoRows,
            "the mean of no rows is whatever was there",
            report="https://github.com/tensorflow/tensorflow/issues/3510",
        ),
        Fault(
            "R",
            CurrentScale,
            "threads share one place for what a call is about",
            report="https://github.com/pytorch/pytorch/issues/3794",
        ),
    ]
)
