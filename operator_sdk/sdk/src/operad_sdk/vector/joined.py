"""Several forms as one, whose kernel reads what they share once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from operad.dtypes import DType
from operad.operator import Axes, ScalarForm, Shape
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector.compiled import CompiledForm, compiled, walk_of
from operad_sdk.vector.primitives import NoVectorCodeError

Specs = tuple[tuple[Shape, DType], ...]


class Joined(NamedTuple):
    """Several forms as one, and shape and type of each of its inputs and then results."""

    kernel: CompiledForm
    specs: Specs


@lru_cache(maxsize=4096)
def joined_kernel(forms: tuple[ScalarForm, ...], specs: tuple[Specs, ...], dtype: DType) -> Joined | None:
    """One kernel of several forms with a result each; None where there is none, or it has other bits.

    Args:
        specs: For each form those of its inputs and its result.
    """
    given = {
        name: spec
        for form, own in zip(forms, specs, strict=True)
        for name, spec in zip(form.inputs, own, strict=False)
    }
    results = {form.results[0].name: own[-1] for form, own in zip(forms, specs, strict=True)}
    whole = joined(forms, {name: shape for name, (shape, _) in (given | results).items()})
    if whole is None:
        return None
    try:
        made = Joined(compiled(whole, dtype), (*(given[name] for name in whole.inputs), *results.values()))
        every = [made, *(Joined(compiled(form, dtype), own) for form, own in zip(forms, specs, strict=True))]
        orders = {walk_of(*one).order for one in every}
    except NoVectorCodeError:
        return None
    fused = {one.kernel.fuses for one in every}
    return made if max(len(orders - {None}), len(fused - {None})) <= 1 else None


def joined(forms: Sequence[ScalarForm], shapes: Mapping[str, Shape]) -> ScalarForm | None:
    """The form of all results; None where it is not over the space of each.

    Args:
        forms: Inputs of one name are one array.
        shapes: Of all inputs and results, by name.
    """
    found = _merged(tuple(forms))
    return None if found is None or len({form.space(shapes) for form in forms}) > 1 else found


@lru_cache(maxsize=4096)
def _merged(forms: tuple[ScalarForm, ...]) -> ScalarForm | None:
    """The same for any shapes."""
    kinds: dict[str, str] = {}
    axes: dict[str, Axes] = {}
    for form in forms:
        for name, step in zip(form.inputs, form.instructions, strict=False):
            is_read = name in form.inputs_read
            if kinds.setdefault(name, step.kind) != step.kind or (
                is_read and axes.setdefault(name, step.axes) != step.axes
            ):
                return None
    names = tuple(kinds)
    builder = Builder(forms[0].name, names, list(kinds.values()))
    results = []
    for form in forms:
        at = builder.replay(form, [names.index(name) for name in form.inputs])
        results += [result._replace(position=at[result.position]) for result in form.results]
    return builder.finish(*results, axes={names.index(name): own for name, own in axes.items()})
