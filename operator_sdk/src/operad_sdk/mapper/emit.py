"""Printing forms as source text: Python for people and numba, one expression per line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.primitives import PRIMITIVES

Constant = Callable[[Instruction], str]


def literal(step: Instruction) -> str:
    """A constant as Python text that needs no import beyond `inf` and `nan`."""
    return str(bool(step.value)) if step.kind == "bool" else repr(step.value)


def _operand(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def python_lines(
    form: ScalarForm, names: Sequence[str], constant: Constant = literal
) -> tuple[list[str], str]:
    """Assignments that compute `form`, and the expression of its result.

    Args:
        form: What to print.
        names: Expressions of the inputs, in order.
        constant: How constants are spelt.
    """
    texts: list[str] = list(names)
    lines = []
    for position, step in enumerate(form.instructions[len(names) :], start=len(names)):
        if step.op == "constant":
            texts.append(_operand(constant(step)))
            continue
        lines.append(f"v{position} = {PRIMITIVES[step.op].python.format(*(texts[i] for i in step.args))}")
        texts.append(f"v{position}")
    return lines, texts[form.result]


def python_source(form: ScalarForm) -> str:
    """A Python function that computes `form` on scalars."""
    lines, result = python_lines(form, form.inputs)
    body = [*lines, f"return {result}"]
    return f"def {form.name}({', '.join(form.inputs)}):\n" + "".join(f"    {line}\n" for line in body)
