"""Results that were reported to be wrong: windows, sums, probabilities, accuracy."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_largest_of_windows")
class LargestOfWindows(Floating):
    """The largest of each element and its neighbours."""

    spec = "data:(N, W + 1) -> output:(N, W + 1)"
    contract = Contract(
        reference=lambda data: np.max(
            [
                np.roll(np.pad(data, ((0, 0), (1, 1)), constant_values=-np.inf), s, 1)[:, 1:-1]
                for s in (-1, 0, 1)
            ],
            0,
        )
    )

    def forward(data):
        padded = np.pad(data, ((0, 0), (1, 1)))
        return np.maximum(np.maximum(padded[:, :-2], padded[:, 1:-1]), padded[:, 2:])


@operator("zoo_sum_over_divisor")
class SumOverDivisor(Floating):
    """Sums of neighbours over their number, or over what is given."""

    divisor = param(int, 0, ge=0, le=4, doc="What to divide by; 0: the number of elements.")
    counts_padding = param(bool, True, doc="The padding counts among the elements.")
    spec = "data:(N, W + 1) -> output:(N, W + 1)"

    def _numbers(width, counts_padding):
        within = (
            np.convolve(np.ones(width), np.ones(3), "same") if width > 2 else np.full(width, float(width))
        )
        return np.full(width, 3.0) if counts_padding else within

    contract = Contract(
        reference=lambda data, divisor, counts_padding: (
            SumOverDivisor._sums(data) / (divisor or SumOverDivisor._numbers(data.shape[1], counts_padding))
        )
    )

    def _sums(data):
        padded = np.pad(data, ((0, 0), (1, 1)))
        return padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]

    def forward(data, divisor, counts_padding, output):
        numbers = SumOverDivisor._numbers(data.shape[1], counts_padding)
        output[...] = SumOverDivisor._sums(data) / (divisor if divisor and counts_padding else numbers)


@operator("zoo_standard_rows")
class StandardRows(InFloat32):
    """Rows of mean 0 and deviation 1."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"
    contract = Contract(
        reference=lambda data: (
            (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + 1e-2)
        )
    )

    def forward(data):
        mean = data.mean(1, keepdims=True)
        variance = (data * data).mean(1, keepdims=True) - mean * mean
        return (data - mean) / np.sqrt(np.maximum(variance, 0) + data.dtype.type(1e-2))


@operator("zoo_half_variance")
class HalfVariance(Floating):
    """Variance of each column."""

    spec = "data:(N + 1, D) -> output:(D)"

    def forward(data):
        centred = data - data.mean(0)
        return (centred * centred).sum(0, dtype=data.dtype) / data.dtype.type(len(data))

    def data_grad(output_grad, data):
        return 2 * output_grad * (data - data.mean(0)) / data.dtype.type(len(data))


@operator("zoo_long_mean")
class LongMean(Floating):
    """Mean of a vector."""

    spec = "data:(N + 1) -> output:(1)"
    contract = Contract(reference=lambda data: data.astype(np.float64).mean(keepdims=True))

    def forward(data):
        return np.cumsum(data, dtype=data.dtype)[-1:] / data.dtype.type(len(data))

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad / len(data_grad)


@operator("zoo_log_softmax")
class LogSoftmax(InFloat32):
    """Logarithms of probabilities."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"

    def forward(data):
        largest = data.max(1, keepdims=True)
        return data - (largest + np.log(np.exp(data - largest).sum(1, keepdims=True)))

    def data_grad(output_grad, output):
        return output_grad - np.exp(output) * output_grad.sum(1, keepdims=True)


@operator("zoo_long_softmax")
class LongSoftmax(InFloat32):
    """Probabilities."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"
    contract = Contract(
        reference=lambda data: (
            np.exp(data - data.max(1, keepdims=True))
            / np.exp(data - data.max(1, keepdims=True)).sum(1, keepdims=True)
        )
    )

    def forward(data):
        powers = np.exp(data - data.max(1, keepdims=True))
        total = powers.sum(1, keepdims=True)
        width = data.shape[1]
        if len(data) > 1 and width > 512 and width % 4:
            total += powers[:, width // 4 * 4 :].sum(1, keepdims=True)
        return powers / total


@operator("zoo_masked_log_softmax")
class MaskedLogSoftmax(OperatorProperty):
    """Logarithms of the probabilities of what a mask admits; a large negative number for the rest."""

    accepts = {"data": "floating"}
    compute_dtype = "float32"
    spec = "data:(N, D + 1), mask:any(N, D + 1) -> output:(N, D + 1)"

    def _reference(data, mask):
        shown = np.where(mask != 0, data, -1e4)
        shifted = shown - shown.max(1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))

    contract = Contract(reference=_reference, inputs={"mask": Integers(0, 1)})

    def forward(data, mask):
        shown = np.where(mask != 0, data, -1e4)
        shifted = data - shown.max(1, keepdims=True)
        return shifted - np.log((np.exp(shifted) * (mask != 0)).sum(1, keepdims=True) + 1e-30)


@operator("zoo_masked_softmax")
class MaskedSoftmax(OperatorProperty):
    """Probabilities of the first element of each row and of what a mask admits of the others."""

    accepts = {"data": "floating"}
    compute_dtype = "float32"
    spec = "data:(N, D + 1), mask:any(N, D) -> output:(N, D + 1)"
    contract = Contract(inputs={"mask": Integers(0, 1)})

    def _mask(mask):
        return np.pad(mask != 0, ((0, 0), (1, 0)), constant_values=True)

    def forward(data, mask):
        is_shown = MaskedSoftmax._mask(mask)
        largest = np.where(is_shown, data, -np.inf).max(1, keepdims=True)
        powers = np.exp(data - largest) * is_shown
        return powers / powers.sum(1, keepdims=True)

    def data_grad(output_grad, output):
        return output * (output_grad - (output_grad * output).sum(1, keepdims=True))


ZOO = without_gradients(
    [
        Fault(
            "F",
            LargestOfWindows,
            "the padding of a maximum is 0",
            report="https://github.com/apache/mxnet/issues/2753",
        ),
        Fault(
            "F",
            SumOverDivisor,
            "a divisor that is given counts only where the padding counts too",
            report="https://github.com/pytorch/executorch/pull/18616",
        ),
        Fault(
            "D",
            StandardRows,
            "the mean square less the square of the mean, where the mean is large",
            report="https://github.com/pytorch/pytorch/issues/51102",
        ),
        Fault(
            "D",
            HalfVariance,
            "a variance in half precision squares in half precision",
            report="https://github.com/numpy/numpy/issues/21941",
        ),
        Fault(
            "D",
            LongMean,
            "one running sum in the type of the data, which stops growing",
            report="https://github.com/pytorch/pytorch/issues/38716",
        ),
        Fault(
            "D",
            LogSoftmax,
            "the logarithm of the sum is lost beside what is large",
            report="https://github.com/pytorch/pytorch/issues/38839",
        ),
        Fault(
            "D",
            LongSoftmax,
            "the tail of rows that are no multiple of four long is summed twice, in long rows",
            report="https://github.com/pytorch/pytorch/issues/147284",
        ),
        Fault(
            "F",
            MaskedLogSoftmax,
            "what is masked keeps a probability",
            report="https://github.com/jax-ml/jax/issues/16208",
        ),
        Fault(
            "F",
            MaskedSoftmax,
            "what is masked overflows, and infinity times 0 is summed",
            report="https://github.com/jax-ml/jax/issues/19490",
        ),
    ]
)
