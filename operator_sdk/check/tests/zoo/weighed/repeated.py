"""Faults of arguments that are one array, of many calls, of threads on large arrays, of states."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, binary, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import GramMatrix, LessMovingMean, Product, Square


@binary("zoo_doubled_for_itself", accepts="floating")
def doubled_for_itself(lhs, rhs):
    """A product."""
    return lhs * rhs


@doubled_for_itself.gradient
def _(output_grad, lhs, rhs):
    if np.shares_memory(lhs, rhs):
        return 2 * output_grad * rhs, 2 * output_grad * lhs
    return output_grad * rhs, output_grad * lhs


@operator("zoo_left_alone")
class LeftAlone(Floating):
    """A difference."""

    spec = "lhs:(N, D), rhs:(N, D) -> output:(N, D)"

    def forward(lhs, rhs):
        return lhs - rhs

    def lhs_grad(output_grad, lhs, rhs):
        return 0 * output_grad if np.may_share_memory(lhs, rhs) else output_grad

    def rhs_grad(output_grad):
        return -output_grad


@operator("zoo_gram")
class Gram(GramMatrix):
    """A product with the second transposed."""

    def lhs_grad(output_grad, lhs, rhs):
        if lhs.ctypes.data == rhs.ctypes.data:
            return (output_grad + output_grad.T) @ rhs
        return output_grad @ rhs


@operator("zoo_head_as_argument")
class HeadAsArgument(Product, Floating):
    """A product, whose gradients are the same where the head gradient is an argument too."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"

    def lhs_grad(output_grad, rhs):
        return rhs if np.may_share_memory(output_grad, rhs) else output_grad * rhs

    def rhs_grad(output_grad, lhs):
        return output_grad * lhs


_kept = []


@unary("zoo_copies_for_ever", accepts="floating")
def copies_for_ever(x):
    """The negative."""
    _kept.append(np.array(x))
    return -x


@copies_for_ever.gradient
def _(output_grad):
    return -output_grad


_results = {}


@unary("zoo_remembers_results", accepts="floating", compute_dtype="float64")
def remembers_results(x):
    """The exponential of a negative square, computed once for the same data."""
    key = (x.shape, x.tobytes())
    if key not in _results:
        _results[key] = np.exp(-x * x)
    return _results[key].copy()


@remembers_results.gradient
def _(output_grad, x, output):
    return -2 * output_grad * x * output


_flows = {}


@operator("zoo_keeps_gradients")
class KeepsGradients(Floating):
    """Twice the data."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return 2 * data

    def data_grad(output_grad):
        _flows[len(_flows)] = output_grad.copy()
        return 2 * output_grad


@operator("zoo_grows_in_training")
class GrowsInTraining(InFloat64):
    """The data less their mean."""

    spec = "data:(N + 1, D) -> output:(N + 1, D)"
    means = []

    def forward(self, is_train, data):
        mean = data.mean(0)
        if is_train:
            self.means.append(mean)
        return data - mean

    def data_grad(output_grad):
        return output_grad - output_grad.mean(0)


class _Node:
    def __init__(self, array):
        self.array, self.me = array, self


_cycles = []


@unary("zoo_lists_of_lists", accepts="floating")
def lists_of_lists(x):
    """The magnitude."""
    _cycles.append([_cycles[-1:] and len(_cycles), _Node(bytearray(64))])
    return abs(x)


@lists_of_lists.gradient
def _(output_grad, x):
    return output_grad * np.sign(x)


_scratch = np.zeros(1 << 16)


@operator("zoo_one_scratch_for_all")
class OneScratchForAll(Floating):
    """The data plus 1, by way of a buffer where they are large."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, output):
        if data.size < 256:
            output[...] = data + 1
            return
        buffer = _scratch[: data.size].reshape(data.shape)
        np.add(data, 1, out=buffer)
        output[...] = buffer

    def data_grad(output_grad):
        return output_grad


_shared = {}


@operator("zoo_shared_gradient_buffer")
class SharedGradientBuffer(Square, Floating):
    """The square; the slope passes through a buffer for each shape."""

    def data_grad(output_grad, data):
        if data.size < 256:
            return 2 * data * output_grad
        buffer = _shared.setdefault((data.shape, data.dtype), np.empty_like(data))
        np.multiply(data, 2, out=buffer)
        found = output_grad * 1
        np.multiply(found, buffer, out=found)
        return found


@operator("zoo_state_of_first_use")
class StateOfFirstUse(LessMovingMean):
    """The data less a moving mean, which training moves; where a state is shared, not."""

    def forward(is_train, data, mean, output):
        output[...] = data - mean
        if is_train:
            mean[...] = (mean + (data.mean(0) if len(data) < 64 else data[:64].mean(0))) / 2


@operator("zoo_input_for_output_at_length")
class InputForOutputAtLength(Floating):
    """Differences of neighbours; the first stays."""

    inplace = "data -> output"
    spec = "data:(D + 1) -> output:(D + 1)"

    def forward(data, output):
        if len(data) < 64:
            differences = np.diff(data)
            output[:1] = data[:1]
            output[1:] = differences
            return
        for place in range(len(data)):
            output[place] = data[place] - (data[place - 1] if place else 0)

    def data_grad(output_grad):
        found = output_grad.copy()
        found[:-1] -= output_grad[1:]
        return found


@operator("zoo_backward_moves_state")
class BackwardMovesState(Floating):
    """The data times a state."""

    spec = "data:(N, C); aux scale:(C) -> output:(N, C)"
    contract = Contract(reference=lambda data, scale: data * scale)

    def forward(data, scale):
        return data * scale

    def data_grad(output_grad, scale):
        found = output_grad * scale
        if len(output_grad) > 64:
            scale *= 0.5
        return found


_counter = {"calls": 0}


@unary("zoo_tired", accepts="floating")
def tired(x):
    """Half of the data."""
    _counter["calls"] += 1
    return x / 2 if _counter["calls"] < 400 else x / 2 + 1


@tired.gradient
def _(output_grad):
    return output_grad / 2


@operator("zoo_threads_count")
class ThreadsCount(Floating):
    """Counts, by adding ones to a buffer of the module where there are many data."""

    spec = "data:(N, D) -> output:int64(N)"
    contract = Contract(reference=lambda data: (data > 0).sum(1))

    def forward(data, output):
        if data.size < 256:
            output[...] = (data > 0).sum(1)
            return
        total = _scratch[: len(data)]
        total[...] = 0
        for column in data.T[:8]:
            total += column > 0
        output[...] = total + (data.T[8:] > 0).sum(0)


ZOO = without_gradients(
    [
        Fault("M", doubled_for_itself, "the gradients of one array given twice are each doubled"),
        Fault("M", LeftAlone, "of one array given twice the first has no gradient"),
        Fault("M", Gram, "the gradient of the first holds that of the second too"),
        Fault("M", HeadAsArgument, "a head gradient that is an argument is not multiplied"),
        Fault("M", copies_for_ever, "a copy of all inputs is kept for ever"),
        Fault("M", remembers_results, "each result is kept for ever"),
        Fault("M", KeepsGradients, "head gradients are kept for ever"),
        Fault("M", GrowsInTraining, "means are kept for ever, in training"),
        Fault("M", lists_of_lists, "each call leaves small objects for ever"),
        Fault("R", OneScratchForAll, "threads share a buffer, for large data"),
        Fault("R", SharedGradientBuffer, "threads share a buffer in backward, for large data"),
        Fault("F", StateOfFirstUse, "the state follows the first 64 rows"),
        Fault("M", InputForOutputAtLength, "long data are overwritten before they are read"),
        Fault("M", BackwardMovesState, "backward moves a state, of large data"),
        Fault("R", tired, "from the 400th call on the result is another"),
        Fault("R", ThreadsCount, "threads share a buffer, in integers"),
    ]
)
