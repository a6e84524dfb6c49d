"""Views, joins and parts: operators that move elements and compute nothing."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import OperatorProperty, operator, param
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_flat")
class Flat(OperatorProperty):
    """Each batch in a row."""

    spec = "data:(N, *S) -> output:(N, prod(S))"
    inplace = "data -> output"

    def forward(data):
        return data.reshape(len(data), math.prod(data.shape[1:]))

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad.reshape(data_grad.shape)


@operator("zoo_right_turned")
class Turned(OperatorProperty):
    """Rows for columns."""

    spec = "data:(N, D) -> output:(D, N)"

    def forward(data):
        return data.T

    def data_grad(output_grad):
        return output_grad.T


@operator("zoo_right_backwards")
class Backwards(OperatorProperty):
    """The last axis in the other order."""

    spec = "data:(*S, D) -> output:(*S, D)"

    def forward(data):
        return data[..., ::-1]

    def data_grad(output_grad):
        return output_grad[..., ::-1]


@operator("zoo_right_repeated")
class Repeated(Floating):
    """Rows once more for each of a number."""

    times = param(int, 2, ge=1, le=4, doc="How often.")
    spec = "data:(N, D) -> output:(times, N, D)"

    def forward(data, times):
        return np.broadcast_to(data, (times, *data.shape))

    def data_grad(output_grad):
        return output_grad.sum(0)


@operator("zoo_right_rolled")
class Rolled(OperatorProperty):
    """The last axis turned by a number of places, which may be below 0 and above its length."""

    by = param(int, 1, doc="How far.")
    spec = "data:(*S, D) -> output:(*S, D)"

    def forward(data, by):
        return np.roll(data, by, -1)

    def data_grad(output_grad, by):
        return np.roll(output_grad, -by, -1)


@operator("zoo_right_sliced")
class Sliced(OperatorProperty):
    """Every so many of the elements after the first."""

    begin = param(int, 0, ge=0, le=3, doc="How many to leave out first.")
    step = param(int, 1, ge=1, le=3, doc="Distance of those that are taken.")
    spec = "data:(N + begin + 1) -> output:(N//step + 1)"

    def forward(data, begin, step):
        return data[begin::step]

    def data_grad(output_grad, data_grad, begin, step):
        data_grad[...] = 0
        data_grad[begin::step] = output_grad


@operator("zoo_right_joined")
class Joined(OperatorProperty):
    """Rows of several arrays, one after another."""

    num_args = param(int, ge=1, le=5, doc="How many arrays.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(L[i], D) -> output:(sum(L), D)"

    def forward(arg):
        return np.concatenate(arg)

    def backward(output_grad, arg_grad):
        begin = 0
        for target in arg_grad:
            target[...] = output_grad[begin : begin + len(target)]
            begin += len(target)


@operator("zoo_right_parted")
class Parted(OperatorProperty):
    """Columns in parts of one length."""

    num_outputs = param(int, 2, ge=1, le=4, doc="How many parts.")
    spec = "data:(N, D*num_outputs) -> output[num_outputs]:(N, D)"

    def forward(data, output, num_outputs):
        for target, part in zip(output, np.split(data, num_outputs, 1), strict=True):
            target[...] = part

    def data_grad(output_grad):
        return np.concatenate(output_grad, 1)


@operator("zoo_right_stacked")
class Stacked(OperatorProperty):
    """Arrays along a new axis, the last one."""

    num_args = param(int, ge=1, le=4, doc="How many arrays.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S) -> output:(*S, num_args)"

    def forward(arg):
        return np.stack(arg, -1)

    def backward(output_grad, arg_grad):
        for place, target in enumerate(arg_grad):
            target[...] = output_grad[..., place]


@operator("zoo_right_mirrored")
class Mirrored(Floating):
    """Rows with one element mirrored at each end."""

    spec = "data:(N, W + 2) -> output:(N, W + 4)"

    def forward(data):
        return np.pad(data, ((0, 0), (1, 1)), mode="reflect")

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, 1:-1]
        data_grad[:, 1] += output_grad[:, 0]
        data_grad[:, -2] += output_grad[:, -1]


@operator("zoo_right_lower")
class Lower(Floating):
    """Matrices below and on a diagonal, zeros above."""

    k = param(int, 0, doc="Which diagonal.")
    spec = "data:(*S, N, M) -> output:(*S, N, M)"

    def forward(data, k):
        return np.tril(data, k)

    def data_grad(output_grad, k):
        return np.tril(output_grad, k)


ZOO = [
    Right(Flat, "a view of the input is returned"),
    Right(Turned, "a transposed view is returned"),
    Right(Backwards, "a view that runs backwards"),
    Right(Repeated, "a view with strides of 0"),
    Right(Rolled, "elements that turn round"),
    Right(Sliced, "some elements get no gradient"),
    Right(Joined, "as many arguments as a parameter says, each with a length of its own"),
    Right(Parted, "as many outputs as a parameter says"),
    Right(Stacked, "a new axis for each argument"),
    Right(Mirrored, "elements that come several times"),
    Right(Lower, "half of the gradient is 0"),
]
