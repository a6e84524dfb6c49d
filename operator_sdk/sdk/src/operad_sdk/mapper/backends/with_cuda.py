"""The CUDA back end: a form as the text of a CuPy elementwise kernel.

CuPy compiles the text for the device, broadcasts and handles strides. float16 is computed in float
and rounded once, as everywhere. The device's own math functions are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, final

import numpy as np

from operad.context import Context
from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.expansions import remainders_replaced
from operad_sdk.mapper.primitives import PRIMITIVES


@final
@dataclass(frozen=True, slots=True)
class KernelText:
    """The arguments of `cupy.ElementwiseKernel`."""

    in_params: str
    out_params: str
    operation: str
    name: str


def prepare(form: ScalarForm, dtype: np.dtype[Any], values: Sequence[Any], out: Any) -> Callable[[], Any]:
    """A call that fills the GPU array `out` from GPU arrays and numbers."""
    return partial(_compiled(form, dtype), *values, out)


@lru_cache(maxsize=1024)
def _compiled(form: ScalarForm, dtype: np.dtype[Any]) -> Any:
    text = kernel_text(form, dtype)
    return Context("gpu").xp.ElementwiseKernel(text.in_params, text.out_params, text.operation, text.name)


def kernel_text(form: ScalarForm, dtype: np.dtype[Any]) -> KernelText:
    """CUDA C++ that computes one element of `form` for arrays of `dtype`."""
    lowered = remainders_replaced(form)
    is_double = dtype == np.float64
    real, suffix = ("double", "") if is_double else ("float", "f")
    lines = [f"const {real} v{i} = ({real})x{i};" for i in range(len(lowered.inputs))]
    texts = [f"v{i}" for i in range(len(lowered.inputs))]
    for position, step in enumerate(lowered.instructions[len(texts) :], start=len(texts)):
        if step.op == "constant":
            texts.append(_literal(step, suffix))
            continue
        expression = PRIMITIVES[step.op].cuda.format(*(texts[i] for i in step.args), f=suffix)
        kind = real if step.kind == "real" else "bool"
        lines.append(f"const {kind} v{position} = {expression};")
        texts.append(f"v{position}")
    lines.append(f"out = ({real}){texts[lowered.result]};")
    return KernelText(
        in_params=", ".join(f"{dtype.name} x{i}" for i in range(len(lowered.inputs))),
        out_params=f"{dtype.name} out",
        operation="\n".join(lines),
        name=f"operad_{form.name}_{dtype.name}",
    )


def _literal(step: Instruction, suffix: str) -> str:
    if step.kind == "bool":
        return "true" if step.value else "false"
    assert isinstance(step.value, float)
    # By their bits: what is called NAN and INFINITY is in a header that NVRTC has not.
    if math.isnan(step.value):
        return "__int_as_float(0x7fc00000)" if suffix else "__longlong_as_double(0x7ff8000000000000LL)"
    limit = float(np.finfo(np.float32).max) if suffix else math.inf
    if abs(step.value) > limit or math.isinf(step.value):
        text = "__int_as_float(0x7f800000)" if suffix else "__longlong_as_double(0x7ff0000000000000LL)"
        return text if step.value > 0 else f"(-{text})"
    value = math.copysign(0.0, step.value) if suffix and not np.float32(step.value) else step.value
    text = f"{value!r}{suffix}"
    return f"({text})" if text.startswith("-") else text
