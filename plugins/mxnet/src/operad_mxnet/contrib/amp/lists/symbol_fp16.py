"""Lists of operators that are computed in half precision, and in single.

Operators that multiply matrices say so (`multiplies`), and gain from half precision. What loses digits in
it is listed: functions that magnify or cancel, sums of many elements, losses. All others are computed in
the type of what they get.

Each list is made when it is first read, and may be changed in place.

Source: python/mxnet/contrib/amp/lists/symbol_fp16.py. Differs: operators that multiply are found by what they
declare, those of other authors too; names of operators that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import operad

__all__ = [
    "CONDITIONAL_FP32_FUNCS",
    "FP16_FP32_FUNCS",
    "FP16_FUNCS",
    "FP32_FUNCS",
    "LOSS_OUTPUT_FUNCTIONS",
    "WIDEST_TYPE_CASTS",
]

FP16_FUNCS: list[str]
FP32_FUNCS: list[str]
FP16_FP32_FUNCS: list[str]
WIDEST_TYPE_CASTS: list[str]

LOSS_OUTPUT_FUNCTIONS: Final = [
    "SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput",
]  # fmt: skip
"""Operators that end a network and have a `grad_scale`."""

CONDITIONAL_FP32_FUNCS: Final = [
    ("Activation", "act_type", ["softrelu"]),
    ("LeakyReLU", "act_type", ["elu", "selu"]),
]
"""Operators that are computed in single precision for some values of a parameter."""

_SINGLE: Final = """
    exp expm1 log log10 log2 log1p square reciprocal rsqrt rcbrt arccos arcsin arctanh cosh sinh tan erfinv
    gamma gammaln _power _power_scalar _rpower_scalar _rdiv_scalar _hypot _hypot_scalar broadcast_power
    broadcast_hypot sum nansum prod nanprod mean norm moments cumsum softmax softmin log_softmax
    SoftmaxActivation SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput
    SVMOutput MakeLoss make_loss softmax_cross_entropy smooth_l1 CTCLoss L2Normalization LRN LayerNorm
    GroupNorm InstanceNorm khatri_rao topk argsort sort _linalg_gemm _linalg_gemm2 _linalg_potrf
    _linalg_potri _linalg_trmm _linalg_trsm _linalg_syrk _linalg_sumlogdiag _linalg_gelqf _linalg_syevd
    _linalg_inverse _linalg_det _linalg_slogdet _contrib_hawkesll _contrib_fft _contrib_ifft
    _contrib_count_sketch _contrib_SyncBatchNorm _contrib_MultiBoxDetection _contrib_MultiBoxPrior
    _contrib_MultiBoxTarget _contrib_Proposal _contrib_MultiProposal _contrib_box_nms BilinearSampler
    GridGenerator SpatialTransformer
"""
_WIDEST: Final = """
    elemwise_add elemwise_sub elemwise_mul elemwise_div _maximum _minimum _mod broadcast_add broadcast_sub
    broadcast_mul broadcast_div broadcast_maximum broadcast_minimum broadcast_mod add_n Concat stack where
    _grad_add batch_take
"""


def _multiplying() -> list[str]:
    names = operad.registry.list_operators()
    found = (name for name in names if getattr(operad.registry.get(name), "multiplies", ()))
    return sorted({"RNN", *found} & set(names))


def _others() -> list[str]:
    listed = {*_multiplying(), *_installed(_SINGLE), *_installed(_WIDEST)}
    return sorted(set(operad.registry.list_operators()) - listed)


def _installed(names: str) -> list[str]:
    known = set(operad.registry.list_operators())
    return [name for name in names.split() if name in known]


_MADE: Final[dict[str, Callable[[], list[str]]]] = {
    "FP16_FUNCS": _multiplying,
    "FP32_FUNCS": lambda: _installed(_SINGLE),
    "FP16_FP32_FUNCS": _others,
    "WIDEST_TYPE_CASTS": lambda: _installed(_WIDEST),
}


def __getattr__(name: str) -> Any:
    if name not in _MADE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _MADE[name]()
    return made
