"""Scans and what is left of rows: recurrences, probabilities, counts, masks."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Distinct, Integers
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_running_maximum")
class RunningMaximum(Floating):
    """The largest of each row so far."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(inputs={"data": Distinct()})

    def forward(data):
        return np.maximum.accumulate(data, 1)

    def data_grad(output_grad, data, output, data_grad):
        is_new = data == output
        place = np.maximum.accumulate(np.where(is_new, np.arange(data.shape[1]), 0), 1)
        data_grad[...] = 0
        np.add.at(data_grad, (np.arange(len(data))[:, None], place), output_grad)


@operator("zoo_right_running_sum")
class RunningSum(InFloat64):
    """Sums of each row so far."""

    is_reversed = param(bool, False, doc="From the last on.")
    spec = "data:(N, D) -> output:(N, D)"

    def _sums(data, is_reversed):
        steps = -1 if is_reversed else 1
        return np.cumsum(data[:, ::steps], 1, np.float64)[:, ::steps].astype(data.dtype)

    def forward(data, is_reversed):
        return RunningSum._sums(data, is_reversed)

    def data_grad(output_grad, is_reversed):
        return RunningSum._sums(output_grad, not is_reversed)


@operator("zoo_right_recurrence")
class Recurrence(InFloat64):
    """`y_t = a y_(t-1) + x_t`, along the rows."""

    spec = "data:(T, N), decay:(N) -> output:(T, N)"

    def forward(data, decay, output):
        last = np.zeros_like(decay)
        for t in range(len(data)):
            last = decay * last + data[t]
            output[t] = last

    def backward(output_grad, output, decay, data_grad, decay_grad):
        ahead = np.zeros_like(decay)
        decay_grad[...] = 0
        for t in reversed(range(len(output))):
            ahead = output_grad[t] + decay * ahead
            data_grad[t] = ahead
            if t:
                decay_grad += ahead * output[t - 1]


@operator("zoo_right_log_sum")
class LogSum(InFloat32):
    """Logarithm of the sum of the exponentials of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        largest = data.max(1, keepdims=True)
        safe = np.where(np.isfinite(largest), largest, 0)
        return (safe + np.log(np.exp(data - safe).sum(1, keepdims=True)))[:, 0]

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * np.exp(data - output[:, None])


@operator("zoo_right_softmax")
class Softmax(InFloat64):
    """Probabilities, sharper for lower temperatures."""

    temperature = param(float, 1.0, gt=0.125, doc="What the data are divided by.", run_time=True)
    spec = "data:(N, D + 1) -> output:(N, D + 1)"

    def forward(data, temperature):
        powers = np.exp((data - data.max(1, keepdims=True)) / temperature)
        return powers / powers.sum(1, keepdims=True)

    def data_grad(output_grad, output, temperature):
        inner = output_grad - (output_grad * output).sum(1, keepdims=True)
        return output * inner / temperature


@operator("zoo_right_all_and_any")
class AllAndAny(OperatorProperty):
    """Whether all of each row are other than 0, and whether any is."""

    accepts = "any"
    spec = "data:(N, D) -> every:bool(N), some:bool(N)"
    contract = Contract(reference=lambda data: ((data != 0).all(1), (data != 0).any(1)))

    def forward(data):
        return data.all(1), data.any(1)


@operator("zoo_right_mean_of_numbers")
class MeanOfNumbers(InFloat64):
    """Mean of the numbers of each row; 0 where there is none."""

    spec = "data:(N, D) -> output:(N)"
    contract = Contract(nan_policy="what is not a number is left out")

    def forward(data):
        is_number = ~np.isnan(data)
        return np.where(is_number, data, 0).sum(1) / np.maximum(is_number.sum(1), 1)

    def data_grad(output_grad, data):
        is_number = ~np.isnan(data)
        return output_grad[:, None] * is_number / np.maximum(is_number.sum(1, keepdims=True), 1)


@operator("zoo_right_masked_mean")
class MaskedMean(OperatorProperty):
    """Mean of what a mask admits of each row; 0 where it admits nothing."""

    accepts = {"data": "floating", "mask": ("bool",)}
    compute_dtype = "float64"
    spec = "data:(N, D), mask:any(N, D) -> output:(N)"
    contract = Contract(inputs={"mask": Integers(0, 1)})

    def forward(data, mask):
        return np.where(mask, data, 0).sum(1) / np.maximum(mask.sum(1), 1)

    def data_grad(output_grad, mask):
        return output_grad[:, None] * mask / np.maximum(mask.sum(1, keepdims=True), 1)


ZOO = [
    Right(RunningMaximum, "a scan of maxima"),
    Right(RunningSum, "a sum so far, from either end"),
    Right(Recurrence, "a recurrence"),
    Right(LogSum, "logarithms of sums, stable for any size"),
    Right(Softmax, "probabilities as output"),
    Right(AllAndAny, "whether all, and whether any"),
    Right(MeanOfNumbers, "NaN is left out, and said so"),
    Right(MaskedMean, "a mask of booleans that may admit nothing"),
]
