"""Nodes that may go into clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from operad.operator import Shape
from operad_fusion.parts import Part


class Candidate(NamedTuple):
    """Contribution of the nodes of some operator to a cluster.

    Attributes:
        parts: What they compute.
        space: The iteration space.
        dtype: What is `real` in it.
        size: Number of instructions.
        has_rows: Whether it reduces rows, or has results of rows; else all of a cluster is computed at once.
        is_even: Whether all results are whole, and all that is as large as the space is read element by
            element, in the real type.
    """

    parts: list[Part]
    space: Shape
    dtype: Any
    size: int
    has_rows: bool
    is_even: bool


def candidate_of(parts: list[Part], space: Shape, dtype: Any, in_shapes: Sequence[Shape]) -> Candidate:
    """The candidate with these parts; `in_shapes` are those of the node's arguments."""
    steps = [step for part in parts for step in part.form.instructions]
    results = [(part.form, result) for part in parts for result in part.form.results]
    inputs = [
        (in_shapes[place], step)
        for part in parts
        for place, step in zip(part.inputs, part.form.instructions, strict=False)
    ]
    has_rows = any(step.op in ("sum", "max", "min") for step in steps) or any(r.axes for _, r in results)
    is_even = all(r.axes is None and form.instructions[r.position].kind == "real" for form, r in results)
    is_even &= all(shape != space or (step.axes is None and step.kind == "real") for shape, step in inputs)
    return Candidate(parts, space, dtype, len(steps), has_rows, is_even)


def space_of(part: Part, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Shape:
    """The iteration space of a part, by the shapes of its node's inputs and outputs."""
    given = {name: in_shapes[i] for name, i in zip(part.form.inputs, part.inputs, strict=True)}
    made = zip(part.form.results, part.outputs, strict=True)
    return part.form.space(given | {result.name: out_shapes[i] for result, i in made})
