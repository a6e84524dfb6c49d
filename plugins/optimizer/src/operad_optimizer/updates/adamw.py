"""Adam whose weight decay is apart from the averages, for gradients of a scale that is an array.

The scale is that of mixed precision: where gradients overflowed it is 0 or not finite, and the step is
left out. It is an array so that a program that computes it on a device need not wait.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from operad_optimizer.updates import references
from operad_optimizer.updates.family import CLIP, DECAY, RATE, mixed, real, update
from operad_optimizer.updates.formulas import move_average, rescaled
from operad_sdk import Array, param

ADAMW: Final = "AdamWUpdate, src/operator/contrib/adamw-inl.h"


def adamw(
    weight: Array, grad: Array, mean: Array, var: Array, out: Array, rescale_grad: Array,
    lr: float = RATE, beta1: float = real(0.9, "Decay rate of the average gradient."),
    beta2: float = real(0.999, "Decay rate of the average squared gradient."),
    epsilon: float = real(1e-8, "Added to the root."), wd: float = DECAY,
    eta: float = param(float, run_time=True, doc="Multiplier of the whole step."),
    clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`.

    Before, `mean` and `var` move to the averages of the rescaled, clipped gradient and of its square.
    Nothing moves where `rescale_grad` is 0 or not finite. After Loshchilov and Hutter, "Decoupled weight
    decay regularization", 2019, algorithm 2.
    """
    scale = rescale_grad.item()
    if scale == 0 or not np.isfinite(scale):
        out[...] = weight
        return
    grad = rescaled(grad, scale, clip_gradient)
    move_average(mean, beta1, grad)
    move_average(var, beta2, np.square(grad))
    np.subtract(weight, eta * (lr * mean / (np.sqrt(var) + epsilon) + wd * weight), out=out)


_EXAMPLE: Final = ("lr=0.1", "eta=1", "beta1=0.5", "beta2=0.75", "[0.9]")
SKIPS: Final = "a step is left out where the scale of the gradient is not finite"
adamw_update = update(
    "_adamw_update", adamw, ("[1]", "[2]", "[0]", "[0]", "[1]", *_EXAMPLE), ADAMW,
    reference=references.adamw, nan_policy=SKIPS, params={"epsilon": (1e-8, 0.5)},
)  # fmt: skip
mp_adamw_update = mixed(
    "_mp_adamw_update", adamw, ("[1]", "[2]", "[0]", "[0]", "[1]", "[1]", *_EXAMPLE), ADAMW,
    reference=references.adamw, nan_policy=SKIPS, params={"epsilon": (1e-8, 0.5)},
)  # fmt: skip
