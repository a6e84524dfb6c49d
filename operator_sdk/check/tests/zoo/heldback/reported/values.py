"""Results that were reported to be wrong: windows, sums, probabilities, accuracy."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _means_of_windows(data, kernel, stride):
    starts = range(0, max(data.shape[1] - 1, 0) // stride * stride + 1, stride)
    return np.stack([data[:, start : start + kernel].mean(1) for start in starts], 1)


@operator("zoo_mean_of_windows")
class MeanOfWindows(Floating):
    """Means of windows; the last may be shorter."""

    kernel = param(int, 2, ge=1, le=3, doc="Length of a window.")
    stride = param(int, 2, ge=1, le=3, doc="Distance of windows.")
    spec = "data:(N, W + 1) -> output:(N, W//stride + 1)"
    contract = Contract(reference=_means_of_windows)

    def forward(data, output, kernel, stride):
        output[...] = 0
        for place in range(output.shape[1]):
            output[:, place] = data[:, place * stride : place * stride + kernel].sum(1) / kernel


@operator("zoo_half_mean")
class HalfMean(Floating):
    """Mean of each column."""

    spec = "data:(N + 1, D) -> output:(D)"

    def forward(data):
        return np.add.reduce(data, 0, dtype=data.dtype) / data.dtype.type(len(data))

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad / data_grad.dtype.type(len(data_grad))


ZOO = without_gradients(
    [
        Fault(
            "F",
            MeanOfWindows,
            "the last window is divided by its size, though part of it lies beyond the data",
            report="https://github.com/microsoft/onnxruntime/issues/16203",
        ),
        Fault(
            "D",
            HalfMean,
            "a mean in half precision is a sum in half precision first",
            report="https://github.com/chainer/chainer/issues/7681",
        ),
    ]
)
