"""Random draws and states that were reported to be wrong."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distribution, ResourceRequest, operator
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.draws import added
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_same_again")
class SameAgain(Floating):
    """Data and normal noise."""

    spec = "data:(*S) -> output:(*S)"
    resource = ResourceRequest.RANDOM
    drawn = {}
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: 1.0,
            draws=added,
        )
    )

    def forward(self, op_ctx, data):
        if data.shape not in self.drawn:
            self.drawn[data.shape] = op_ctx.requested[0].generator.normal(size=data.shape)
        return (data + self.drawn[data.shape]).astype(data.dtype)


@operator("zoo_swapped_moments")
class SwappedMoments(InFloat32):
    """Columns of mean 0 and deviation 1 in training, by moving moments else."""

    spec = "data:(N + 2, C); aux moving_mean:(C), moving_var:(C) -> output:(N + 2, C)"

    def forward(is_train, data, moving_mean, moving_var, output):
        mean, var = (data.mean(0), data.var(0)) if is_train else (moving_mean, moving_var)
        output[...] = (data - mean) / np.sqrt(abs(var) + data.dtype.type(0.01))
        if is_train:
            moving_mean += (var - moving_mean) / 10
            moving_var += (mean - moving_var) / 10


ZOO = without_gradients(
    [
        Fault(
            "F",
            SameAgain,
            "after the first call the same numbers come again",
            report="https://github.com/cupy/cupy/issues/2032",
        ),
        Fault(
            "X",
            SwappedMoments,
            "the moving variance gets the mean, and the moving mean the variance",
            report="https://github.com/apache/mxnet/issues/18751",
        ),
    ]
)
