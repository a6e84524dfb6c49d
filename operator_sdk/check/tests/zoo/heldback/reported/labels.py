"""Results that were reported to be wrong: NaN, places, classes and labels, steps."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Index, Real
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_between")
class Between(Floating):
    """Data of at least one array and at most another."""

    spec = "data:(*S), low:(*S), high:(*S) -> output:(*S)"

    def forward(data, low, high):
        found = np.where(data < low, low, data)
        return np.where(found > high, high, found)


@operator("zoo_largest_by_segment")
class LargestBySegment(OperatorProperty):
    """The largest row of each segment; 0 where a segment has no row."""

    accepts = {"data": "floating"}
    segments = param(int, 3, ge=1, le=6, doc="How many there are.")
    spec = "data:(N, D), segment:any(N) -> output:(segments, D)"

    def _reference(data, segment, segments):
        of = [data[segment == i] for i in range(segments)]
        return np.stack([rows.max(0) if len(rows) else np.zeros(data.shape[1]) for rows in of])

    contract = Contract(reference=_reference, inputs={"segment": Index("segments")})

    def forward(data, segment, output):
        output[...] = np.finfo(data.dtype).min
        np.maximum.at(output, segment.astype(np.intp), data)


@operator("zoo_adaptive_step")
class AdaptiveStep(InFloat32):
    """A step down a gradient over the root of its corrected mean square."""

    step = param(int, 1, ge=1, le=8, doc="Number of the step.")
    epsilon = param(float, 0.25, gt=0, le=1, doc="Added to the root.")
    spec = "weight:(*S), mean:(*S), square:(*S) -> output:(*S)"
    contract = Contract(
        inputs={"square": Real(0.0, 4.125)},
        reference=lambda weight, mean, square, step, epsilon: (
            weight - (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + epsilon)
        ),
    )

    def forward(weight, mean, square, step, epsilon):
        rate = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        return (weight - rate * mean / (np.sqrt(square) + epsilon)).astype(weight.dtype)


@operator("zoo_backward_slice")
class BackwardSlice(OperatorProperty):
    """Every so many elements from the last to the first."""

    step = param(int, 1, ge=1, le=4, doc="How many.")
    spec = "data:(N + 1) -> output:(N//step + 1)"
    contract = Contract(reference=lambda data, step: data[::-1][::step])

    def forward(data, step):
        return data[::step][::-1]


ZOO = without_gradients(
    [
        Fault(
            "F",
            Between,
            "a NaN in a bound is passed over",
            report="https://github.com/pytorch/pytorch/issues/76795",
        ),
        Fault(
            "F",
            LargestBySegment,
            "a class that counts for nothing gives the lowest number there is",
            report="https://github.com/tensorflow/tensorflow/issues/58123",
        ),
        Fault(
            "F",
            AdaptiveStep,
            "the small number is added before the correction of the root, not after",
            report="https://github.com/tensorflow/tensorflow/issues/9047",
        ),
        Fault(
            "F",
            BackwardSlice,
            "every so many elements are taken from the wrong end",
            report="https://github.com/iree-org/iree/issues/24584",
        ),
    ]
)
