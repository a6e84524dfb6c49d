"""The kernels that compute `BatchNorm` by vector code."""

from __future__ import annotations

from functools import partial
from typing import Any

from operad_normalization.segments import BY_VECTORS, forward_cost, gradients_cost, pay
from operad_sdk import KernelCall


def with_vectors(cls: Any) -> Any:
    """Give the operator its kernels: for the outputs, and for gradients with and without that of gamma."""
    forward = partial(cls._standardize, way=BY_VECTORS)
    gradients = partial(cls._gradients, way=BY_VECTORS)
    without_gamma = partial(cls._gradients_without_gamma, way=BY_VECTORS)
    cls.kernel("forward", name="in_vectors", priority=1, when=pay(), cost=forward_cost)(forward)
    told = {"priority": 1, "cost": gradients_cost}
    of_gamma = {"name": "vector_gradients", "when": pay(_learns_gamma)}
    of_one = {"name": "vector_gradients_without_gamma", "when": pay(_takes_one_for_gamma)}
    cls.kernel("data_grad", "gamma_grad", "beta_grad", **of_gamma, **told)(gradients)
    cls.kernel("data_grad", "beta_grad", **of_one, **told)(without_gamma)
    return cls


def _learns_gamma(call: KernelCall) -> bool | str:
    return not call.prop.fix_gamma or "fix_gamma is set"


def _takes_one_for_gamma(call: KernelCall) -> bool | str:
    return (call.prop.fix_gamma and not is_affine(call.prop)) or "gamma counts, or the data does not"


def is_affine(prop: Any) -> bool:
    """Return whether the output is the data times known numbers, plus beta."""
    return bool(prop.fix_gamma and prop.use_global_stats)
