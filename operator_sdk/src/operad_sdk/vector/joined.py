"""Several forms as one, whose kernel reads what they share once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from operad.operator import Axes, ScalarForm, Shape
from operad_sdk.mapper.builder import Builder


def joined(forms: Sequence[ScalarForm], shapes: Mapping[str, Shape]) -> ScalarForm | None:
    """The form of all results; None where it is not over the space of each.

    Args:
        forms: Inputs of one name are one array.
        shapes: Of all inputs and results, by name.
    """
    kinds: dict[str, str] = {}
    axes: dict[str, Axes] = {}
    for form in forms:
        for name, step in zip(form.inputs, form.instructions, strict=False):
            is_read = name in form.inputs_read
            if kinds.setdefault(name, step.kind) != step.kind or (
                is_read and axes.setdefault(name, step.axes) != step.axes
            ):
                return None
    if len({form.space(shapes) for form in forms}) > 1:
        return None
    names = tuple(kinds)
    builder = Builder(forms[0].name, names, list(kinds.values()))
    results = []
    for form in forms:
        at = builder.replay(form, [names.index(name) for name in form.inputs])
        results += [result._replace(position=at[result.position]) for result in form.results]
    return builder.finish(*results, axes={names.index(name): own for name, own in axes.items()})
