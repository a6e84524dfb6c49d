"""Faults that show where several operators run, and in other threads."""

from __future__ import annotations

import threading
from contextlib import suppress

import numpy as np

from operad import autograd
from operad.operator import Operator, assign
from operad_sdk import operator, unary
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import Square
from operator_sdk.check.tests.zoo.long_form import AlikeProperty, FloatingProperty


@operator("zoo_mean_of_rows")
class MeanOfRows(InFloat32):
    """A mean over as many rows as inference saw last."""

    spec = "data:(N, D) -> output:(D)"
    rows = 1

    def infer_shape(self, in_shapes):
        """Remembers."""
        if in_shapes[0] is not None and in_shapes[0][0]:
            self.rows = in_shapes[0][0]
        return super().infer_shape(in_shapes)

    def forward(self, data):
        """Over what is remembered."""
        return data.sum(axis=0) / self.rows

    def data_grad(output_grad, data_grad):
        """Likewise."""
        data_grad[...] = np.broadcast_to(output_grad / data_grad.shape[0], data_grad.shape)


@operator("zoo_weights_by_place")
class WeightsByPlace(Floating):
    """Weights made for the first shape that comes, cut to any other."""

    spec = "data:(N, D) -> output:(N, D)"
    weights = None

    def forward(self, data):
        """The weights fall from one to nothing."""
        if self.weights is None:
            self.weights = np.linspace(1, 0, data.shape[1] + 1, dtype=data.dtype)[:-1]
        return data * np.resize(self.weights, data.shape[1])

    def data_grad(output_grad, data_grad):
        """Those of this shape."""
        columns = data_grad.shape[1]
        data_grad[...] = output_grad * np.linspace(1, 0, columns + 1, dtype=data_grad.dtype)[:-1]


class _First(Operator):
    scale = None

    def forward(self, op_ctx, arrays):
        if self.scale is None:
            self.scale = abs(arrays.in_data[0][..., :1]) + 1
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] / self.scale)


class ScaledByFirst(AlikeProperty, FloatingProperty):
    """Data by the first column of the first batch, which the operator keeps."""

    name = "zoo_scaled_by_first"

    def create_operator(self, ctx, in_shapes, in_types):
        """One that remembers."""
        return _First()


_scratch = np.empty(1 << 20)


@unary("zoo_module_scratch", accepts="floating")
def module_scratch(data):
    """An exponential by way of an array of the module's."""
    part = _scratch[: data.size].reshape(data.shape)
    np.exp(data, out=part)
    return part.astype(data.dtype)


@module_scratch.gradient
def _(output_grad, output):
    return output_grad * output


@operator("zoo_largest_kept_aside")
class LargestKeptAside(Floating):
    """Data by their largest, which the class keeps for a moment."""

    spec = "data:(N, D) -> output:(N, D)"
    largest = None

    def forward(self, data):
        """Divided."""
        type(self).largest = np.abs(data).max() + 1
        shifted = data / 2
        return shifted / type(self).largest


_here = threading.local()
_here.factor = 2.0


@unary("zoo_thread_factor", accepts="floating")
def thread_factor(data):
    """Twice the data, in the thread that imported this."""
    return data * getattr(_here, "factor", 1.0)


@thread_factor.gradient
def _(output_grad):
    return output_grad * getattr(_here, "factor", 1.0)


@unary("zoo_asks_the_caller", accepts="floating")
def asks_the_caller(data):
    """Half the data in training, as the calling thread knows it."""
    return data * (0.5 if autograd.is_training() else 1.0)


@operator("zoo_sound_inverse")
class SoundInverse(Floating):
    """An inverse that gives what it can."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, output):
        """Whatever happens."""
        with suppress(Exception):
            output[...] = 1 / (data * data + 1)


@operator("zoo_quiet_gradient")
class QuietGradient(Square):
    """A square whose gradient gives what it can."""

    def data_grad(output_grad, data, data_grad):
        """Whatever happens."""
        with suppress(Exception):
            data_grad[...] = 2 * output_grad * data


ZOO = without_gradients(
    [
        Fault("R501 F210 D610", MeanOfRows, "inference leaves a number of rows in the property"),
        Fault("R501", WeightsByPlace, "the first shape decides for the others"),
        Fault("R501 F210 F209 X801", ScaledByFirst, "the first values decide for the others"),
        Fault("R502", module_scratch, "an array of the module is used by all"),
        Fault("R502 F210", LargestKeptAside, "an attribute of the class is used by all"),
        Fault("R503 R502", thread_factor, "a factor is there in one thread only"),
        Fault("R503", asks_the_caller, "the mode is asked of the calling thread"),
        Fault("R504", SoundInverse, "forward swallows exceptions"),
        Fault("R504", QuietGradient, "backward swallows exceptions"),
    ]
)
