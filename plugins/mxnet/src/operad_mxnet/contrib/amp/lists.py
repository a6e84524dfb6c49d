"""Lists of operators that are computed in half precision, and in single.

Operators that multiply matrices say so (`multiplies`), and gain from half precision. What loses digits in
it is listed: functions that magnify or cancel, sums of many elements, losses. All others are computed in
the type of what they get.

Source: python/mxnet/contrib/amp/lists/symbol_fp16.py. Differs: operators that multiply are found by what they
declare, those of other authors too; names of operators that are not installed are left out.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import operad
from operad.errors import ParamError

_LOSSES: Final = (
    "SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput",
)  # fmt: skip
"""Operators that end a network and have a `grad_scale`."""

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
_CONDITIONAL: Final = (("Activation", "act_type", ("softrelu",)), ("LeakyReLU", "act_type", ("elu", "selu")))
_WIDEST: Final = """
    elemwise_add elemwise_sub elemwise_mul elemwise_div _maximum _minimum _mod broadcast_add broadcast_sub
    broadcast_mul broadcast_div broadcast_maximum broadcast_minimum broadcast_mod add_n Concat stack where
    _grad_add batch_take
"""


def check_type(target_dtype: str) -> str:
    """The name of the type of half precision.

    Raises:
        ParamError: It is another one; there is no bfloat16 here, for NumPy has none.
    """
    if target_dtype != "float16":
        raise ParamError(
            f"amp: target_dtype is {target_dtype!r}, expected 'float16'; NumPy has no bfloat16, and so have "
            "no arrays here"
        )
    return target_dtype


def list_lp16_ops(target_dtype: str = "float16") -> list[str]:
    """Operators that are computed in half precision: those that multiply matrices, and `RNN`."""
    check_type(target_dtype)
    return list(_multiplying())


def list_fp32_ops(target_dtype: str = "float16") -> list[str]:
    """Operators that are computed in single precision."""
    check_type(target_dtype)
    return _installed(_SINGLE)


def list_lp16_fp32_ops(target_dtype: str = "float16") -> list[str]:
    """Operators that are computed in the type of what they get: all that no other list has."""
    check_type(target_dtype)
    others = {*_multiplying(), *_installed(_SINGLE), *_installed(_WIDEST)}
    return sorted(set(operad.registry.list_operators()) - others)


def list_conditional_fp32_ops(target_dtype: str = "float16") -> list[tuple[str, str, list[str]]]:
    """Operators that are computed in single precision for some values of a parameter."""
    check_type(target_dtype)
    return [(name, parameter, list(values)) for name, parameter, values in _CONDITIONAL]


def list_widest_type_cast(target_dtype: str = "float16") -> list[str]:
    """Operators of several arrays that are computed in single precision where any of them has it."""
    check_type(target_dtype)
    return _installed(_WIDEST)


def list_loss_output_functions(target_dtype: str = "float16") -> list[str]:
    """Losses that end a network."""
    check_type(target_dtype)
    return list(_LOSSES)


@cache
def _multiplying() -> tuple[str, ...]:
    names = operad.registry.list_operators()
    found = (name for name in names if getattr(operad.registry.get(name), "multiplies", ()))
    return tuple(sorted({"RNN", *found} & set(names)))


def _installed(names: str) -> list[str]:
    return [name for name in names.split() if name in set(operad.registry.list_operators())]
