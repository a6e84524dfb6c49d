"""The NumPy back end: a program as a straight line of ufunc calls.

Both sides of every branch are computed for every element and `where` picks; the caller silences
floating-point warnings, so a side that was not taken raises none. Constants are scalars of the
element type, hence nothing is promoted to float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from operad_sdk.mapper.ir import Program
from operad_sdk.mapper.primitives import PRIMITIVES

Kernel = Callable[..., None]


@lru_cache(maxsize=1024)
def kernel(program: Program, dtype: np.dtype[Any]) -> Kernel:
    """A function of the inputs, arrays or scalars of `dtype`, and of the array to fill."""
    namespace: dict[str, Any] = {"copyto": np.copyto}
    texts = [f"a{i}" for i in range(len(program.inputs))]
    lines: list[str] = []
    for position, step in enumerate(program.instructions[len(texts) :], start=len(texts)):
        if step.op == "constant":
            scalar = np.bool_(step.value) if step.kind == "bool" else _typed(step.value, dtype)
            namespace[f"c{position}"] = scalar
            texts.append(f"c{position}")
            continue
        namespace[step.op] = PRIMITIVES[step.op].evaluate
        operands = ", ".join(texts[i] for i in step.args)
        is_last = position == program.result and step.kind == "real"
        if is_last and isinstance(PRIMITIVES[step.op].evaluate, np.ufunc):
            lines.append(f"{step.op}({operands}, out)")
            break
        lines.append(f"v{position} = {step.op}({operands})")
        texts.append(f"v{position}")
    else:
        lines.append(f"copyto(out, {texts[program.result]}, casting='unsafe')")
    arguments = ", ".join([*texts[: len(program.inputs)], "out"])
    source = f"def kernel({arguments}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(source, f"<mapper {program.name} on numpy>", "exec"), namespace)  # noqa: S102 -- our own text
    result: Kernel = namespace["kernel"]
    return result


def _typed(value: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        return dtype.type(value)
