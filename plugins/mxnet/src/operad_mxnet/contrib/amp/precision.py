"""Lists of operators by the precision that they are computed in, and the type of half precision.

Source: the functions `list_...` of python/mxnet/contrib/amp/amp.py.
"""

from __future__ import annotations

from operad.errors import ParamError
from operad_mxnet.contrib.amp.lists import symbol_fp16


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
    return symbol_fp16.FP16_FUNCS


def list_fp32_ops(target_dtype: str = "float16") -> list[str]:
    """Operators that are computed in single precision."""
    check_type(target_dtype)
    return symbol_fp16.FP32_FUNCS


def list_lp16_fp32_ops(target_dtype: str = "float16") -> list[str]:
    """Operators that are computed in the type of what they get: all that no other list has."""
    check_type(target_dtype)
    return symbol_fp16.FP16_FP32_FUNCS


def list_conditional_fp32_ops(target_dtype: str = "float16") -> list[tuple[str, str, list[str]]]:
    """Operators that are computed in single precision for some values of a parameter."""
    check_type(target_dtype)
    return symbol_fp16.CONDITIONAL_FP32_FUNCS


def list_widest_type_cast(target_dtype: str = "float16") -> list[str]:
    """Operators of several arrays that are computed in single precision where any of them has it."""
    check_type(target_dtype)
    return symbol_fp16.WIDEST_TYPE_CASTS


def list_loss_output_functions(target_dtype: str = "float16") -> list[str]:
    """Losses that end a network."""
    check_type(target_dtype)
    return symbol_fp16.LOSS_OUTPUT_FUNCTIONS


def list_lp16_use_fp32_params(target_dtype: str = "float16") -> None:
    """Operators whose parameters stay in single precision: there is no such list for `float16`."""
    check_type(target_dtype)
