"""Faults that are seen from outside the result: global state, memory that stays, inference, declarations."""

from __future__ import annotations

import os
import tempfile
import warnings

import numpy as np

from operad.operator import param as core_param
from operad_sdk import operator, param, unary
from operad_sdk.element_types import check_accepted
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.long_form import AlikeProperty, Times


@unary("zoo_sets_environment", accepts="floating")
def sets_environment(x):
    """Twice the data, with one thread for libraries that are loaded later."""
    os.environ["OPERAD_ZOO_THREADS"] = "1"
    return 2 * x


@sets_environment.gradient
def _(output_grad):
    return 2 * output_grad


@unary("zoo_seeds_numpy", accepts="floating")
def seeds_numpy(x):
    """The data, as repeatable as they are without it."""
    np.random.seed(0)
    return x + 0


@seeds_numpy.gradient
def _(output_grad):
    return output_grad


@unary("zoo_no_warnings", accepts="floating")
def no_warnings(x):
    """The inverse of one more than the square."""
    warnings.filterwarnings("ignore", message="zoo", append=True)
    return 1 / (1 + x * x)


@no_warnings.gradient
def _(output_grad, x, output):
    return -2 * output_grad * x * output * output


@operator("zoo_leaves_file")
class LeavesFile(Floating):
    """The data by way of a file, once for each shape."""

    spec = "data:(N, D) -> output:(N, D)"
    written = set()

    def forward(self, data):
        if data.shape not in self.written:
            self.written.add(data.shape)
            with tempfile.NamedTemporaryFile(prefix="operad-zoo-", delete=False) as file:
                file.write(data.tobytes())
        return data

    def data_grad(output_grad):
        return output_grad


@unary("zoo_changes_directory", accepts="floating")
def changes_directory(x):
    """The data, computed where there is room."""
    os.chdir(tempfile.gettempdir())
    return x + 0


@changes_directory.gradient
def _(output_grad):
    return output_grad


_seen = []


@unary("zoo_keeps_inputs", accepts="floating")
def keeps_inputs(x):
    """The negative."""
    _seen.append(x)
    return -x


@keeps_inputs.gradient
def _(output_grad):
    return -output_grad


@operator("zoo_weights_by_hash")
class WeightsByHash(Floating):
    """Rows times a weight with a name."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return data * (1 + hash("weight") % 7)

    def data_grad(output_grad):
        return output_grad * (1 + hash("weight") % 7)


@unary("zoo_clears_nan", accepts="floating")
def clears_nan(x):
    """Half the square."""
    return x * x / 2


@clears_nan.gradient
def _(output_grad, x):
    return np.nan_to_num(output_grad) * x


@operator("zoo_guesses_argument")
class GuessesArgument(InFloat32):
    """Rows of a matrix product; the weight is taken to be square."""

    spec = "data:(N, D), weight:(D, M) -> output:(N, M)"

    def infer_shape(self, in_shapes):
        data, weight = in_shapes
        if data is not None and weight is None:
            weight = (data[1], data[1])
        return super().infer_shape([data, weight])

    def forward(data, weight):
        return data @ weight

    def data_grad(output_grad, weight):
        return output_grad @ weight.T

    def weight_grad(output_grad, data):
        return data.T @ output_grad


@operator("zoo_impossible_window")
class ImpossibleWindow(Floating):
    """Sums of windows."""

    kernel = param(int, 3, ge=1, doc="Length of a window.")
    spec = "data:(N, W) -> output:(N, max(W - kernel + 1, 1))"

    def forward(data, output, kernel):
        output[...] = 0
        for place in range(output.shape[1]):
            output[:, place] = data[:, place : place + kernel].sum(1)

    def data_grad(output_grad, data_grad, kernel):
        data_grad[...] = 0
        for place in range(output_grad.shape[1]):
            data_grad[:, place : place + kernel] += output_grad[:, place : place + 1]


class NamedOut(AlikeProperty):
    """The data times a parameter that is called as the array to fill."""

    name = "zoo_named_out"
    out = core_param(float, 1.0, doc="Factor.")

    def infer_type(self, in_types):
        if in_types[0] is not None:
            check_accepted(self.name, "data", in_types[0], "floating")
        return in_types, in_types, []

    def create_operator(self, ctx, in_shapes, in_types):
        return Times(self.out)


@operator("zoo_falls_back")
class FallsBack(Floating):
    """A root of the magnitude; what fails is computed in half precision."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        try:
            if data.shape[1] > 2:
                raise MemoryError
            return np.sqrt(abs(data))
        except MemoryError:
            return np.sqrt(abs(data.astype(np.float16))).astype(data.dtype)


ZOO = without_gradients(
    [
        Fault("X", sets_environment, "a variable of the environment is set"),
        Fault("X", seeds_numpy, "the seed of NumPy's own generator is set"),
        Fault("X", no_warnings, "warnings are turned off for the whole process"),
        Fault("X", LeavesFile, "a file is left behind"),
        Fault("X", changes_directory, "the working directory is changed"),
        Fault("X", keeps_inputs, "all inputs are kept for ever"),
        Fault(
            "R", WeightsByHash, "weights depend on the hash of a text, which another process has otherwise"
        ),
        Fault("F", clears_nan, "a NaN in the head gradient is cleared"),
        Fault("F", GuessesArgument, "arguments are inferred from what the output is thought to be"),
        Fault("F", ImpossibleWindow, "a window that does not fit into the data is accepted"),
        Fault("S", NamedOut, "a parameter has the name of a word of every call"),
        Fault("D", FallsBack, "an error in a type is turned into another type"),
    ]
)
