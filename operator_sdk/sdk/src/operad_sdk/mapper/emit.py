"""Printing forms as source text: Python, one expression per line."""

from __future__ import annotations

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.primitives import PRIMITIVES


def _literal(step: Instruction) -> str:
    """A constant as Python text that needs no import beyond `inf` and `nan`."""
    text = str(bool(step.value)) if step.kind == "bool" else repr(step.value)
    return f"({text})" if text.startswith("-") else text


def python_source(form: ScalarForm) -> str:
    """A Python function that computes `form` on scalars."""
    texts: list[str] = list(form.inputs)
    lines = [f"def {form.name}({', '.join(texts)}):"]
    for position, step in enumerate(form.instructions[len(texts) :], start=len(texts)):
        if step.op == "constant":
            texts.append(_literal(step))
            continue
        lines.append(f"    v{position} = {PRIMITIVES[step.op].python.format(*(texts[i] for i in step.args))}")
        texts.append(f"v{position}")
    return "\n".join([*lines, f"    return {texts[form.result]}", ""])
