"""Steps along the gradient, or its sign: plain, with momentum, and with Nesterov's momentum."""

from __future__ import annotations

from typing import Final

import numpy as np

from operad_optimizer.updates import references
from operad_optimizer.updates.family import CLIP, DECAY, RATE, RESCALE, mixed, real, update
from operad_optimizer.updates.formulas import decayed, rescaled
from operad_sdk import Array

_MOMENTUM = real(0.0, "Factor of the previous step (momentum).")


def sgd(
    weight: Array, grad: Array, out: Array, lr: float = RATE, wd: float = DECAY,
    rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    kept = (1 - lr * wd) * weight if wd else weight
    np.subtract(kept, rescaled(grad, rescale_grad, clip_gradient, lr), out)


sgd_update = update(
    "sgd_update", sgd, ("[1, 2]", "[10, -10]", "lr=0.1", "[0., 3.]"), "SGDKernel",
    reference=references.sgd, is_lazy=True,
)  # fmt: skip
mp_sgd_update = mixed(
    "mp_sgd_update", sgd, ("[1, 2]", "[10, -10]", "[1, 2]", "lr=0.1", "[0., 3.]"), "MP_SGDKernel",
    reference=references.sgd, is_lazy=True,
)  # fmt: skip


def sgd_momentum(
    weight: Array, grad: Array, mom: Array, out: Array, lr: float = RATE, momentum: float = _MOMENTUM,
    wd: float = DECAY, rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    mom *= momentum
    mom -= rescaled(grad, rescale_grad, clip_gradient, lr)
    if wd:
        mom -= lr * wd * weight
    np.add(weight, mom, out=out)


sgd_mom_update = update(
    "sgd_mom_update", sgd_momentum, ("[1, 2]", "[10, -10]", "[0, 2]", "lr=0.1", "momentum=0.5", "[0., 4.]"),
    "SGDMomKernel", reference=references.momentum_step, is_lazy=True,
)  # fmt: skip
mp_sgd_mom_update = mixed(
    "mp_sgd_mom_update", sgd_momentum, ("[1, 2]", "[10, -10]", "[0, 0]", "[1, 2]", "lr=0.1", "[0., 3.]"),
    "MP_SGDMomKernel", reference=references.momentum_step, is_lazy=True,
)  # fmt: skip


def _nag_mom(
    weight: Array, grad: Array, mom: Array, out: Array, lr: float = RATE, momentum: float = _MOMENTUM,
    wd: float = DECAY, rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = weight + momentum (momentum mom - step) - step`, with `step = lr (grad + wd weight)`.

    After Nesterov, one step ahead. Then `mom = momentum mom - step`, whose step decays the new weight, as
    MXNet's does where it has written that over the old one.
    """
    grad = rescaled(grad, rescale_grad, clip_gradient)
    step = lr * decayed(grad, weight, wd)
    mom *= momentum
    np.add(weight, momentum * (mom - step) - step, out=out)
    mom -= lr * decayed(grad, out, wd) if wd else step


nag_mom_update = update(
    "nag_mom_update", _nag_mom, ("[1, 2]", "[10, -10]", "[0, 2]", "lr=0.1", "momentum=0.5", "[-0.5,  4. ]"),
    "NAGMomKernel", reference=references.nesterov_step,
    differs="`mom` decays the new weight also where that is not written over the old one",
)  # fmt: skip
mp_nag_mom_update = mixed(
    "mp_nag_mom_update", _nag_mom, ("[1, 2]", "[10, -10]", "[0, 0]", "[1, 2]", "lr=0.1", "[0., 3.]"),
    "MP_NAGMomKernel", reference=references.nesterov_step,
    differs="weight decay acts as in `nag_mom_update`, from which MXNet 1.9.1's mixed form departs",
)  # fmt: skip


_NO_SIGN: Final = "NaN has no sign: 0, as in MXNet"


def _sign(array: Array) -> Array:
    """-1, 0 or 1."""
    return np.subtract(array > 0, array < 0, dtype=array.dtype)


def _signsgd(
    weight: Array, grad: Array, out: Array, lr: float = RATE, wd: float = DECAY,
    rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = (1 - lr wd) weight - lr sign(grad)`, where the sign of NaN is 0.

    Neither rescaling nor clipping changes a sign.
    """
    np.subtract((1 - lr * wd) * weight, lr * _sign(grad), out=out)


signsgd_update = update(
    "signsgd_update", _signsgd, ("[1, 2]", "[10, -10]", "lr=0.5", "[0.5, 2.5]"), "SignSGDKernel",
    reference=references.sign_sgd, nan_policy=_NO_SIGN,
    element_cost=4.6,
)  # fmt: skip


def _signum(
    weight: Array, grad: Array, mom: Array, out: Array, lr: float = RATE,
    momentum: float = real(0.0, "Decay rate of the average."),
    wd: float = DECAY, rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
    wd_lh: float = real(0.0, "Weight decay outside the sign, after Loshchilov and Hutter."),
) -> None:  # fmt: skip
    """`mom = momentum mom - (1 - momentum) (grad + wd weight)`, the negative of an average gradient.

    Then `weight = (1 - lr wd_lh) weight + lr sign(mom)`, where the sign of NaN is 0.
    """
    mom *= momentum
    mom -= (1 - momentum) * decayed(rescaled(grad, rescale_grad, clip_gradient), weight, wd)
    np.add((1 - lr * wd_lh) * weight, lr * _sign(mom), out=out)


signum_update = update(
    "signum_update", _signum, ("[1, 2]", "[10, -10]", "[0, 0]", "lr=0.5", "momentum=0.9", "[0.5, 2.5]"),
    "SignumKernel", reference=references.signum, nan_policy=_NO_SIGN,
)  # fmt: skip
