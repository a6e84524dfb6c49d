"""The shape language as documentation."""

from __future__ import annotations

from operad_sdk.shapes.grammar import Item, Spec


def describe(spec: Spec) -> str:
    """One line for each argument, auxiliary state and output, for a docstring's `Shapes:`."""
    lines = [_line(item, "") for item in spec.arguments]
    lines += [_line(item, "auxiliary state, ") for item in spec.auxiliary]
    lines += [_line(item, "hidden output, " if item.is_hidden else "output, ") for item in spec.outputs]
    return "\n".join(lines)


def _line(item: Item, kind: str) -> str:
    name = item.name if item.repeat is None else f"{item.name}0, {item.name}1, ..."
    condition = "" if item.condition is None else f", only {item.text[item.text.rindex(' if ') + 1 :]}"
    dtype = f" of type {item.type}" if item.type else ""
    return f"{name}: {kind}{item.shape_text}{dtype}{condition}"
