"""Scalar forms of nodes, and where their inputs and results are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from operad.dtypes import DType
from operad.graph import OpNode
from operad.operator import FORWARD, Gradient, ScalarForm, Shape


class Part(NamedTuple):
    """Some outputs of a node by one form.

    Attributes:
        form: What is computed.
        inputs: For each input of the form, the node's input that it is.
        outputs: For each result of the form, the node's output that it is.
    """

    form: ScalarForm
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def parts_of(node: OpNode, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> list[Part] | str:
    """All outputs of a node by forms; or, as text, why there are none.

    Args:
        in_shapes: Of the node's arguments, as `in_types`.
    """
    if node.op.is_stateful:
        return "it keeps something from call to call"
    found = forms_of(node, in_shapes, in_types)
    forms = [form for form in found if not isinstance(form, str)]
    if len(forms) < len(found):
        return next(form for form in found if isinstance(form, str))
    if isinstance(node.op, Gradient):
        return _of_gradient(node.op, forms)
    (form,) = forms
    if any(step.op == "position" for step in form.instructions):
        return "it counts along axes, and clusters may be computed along others"
    names = node.op.list_outputs()
    outputs = tuple([names.index(result.name) for result in form.results if result.name in names])
    if sorted(outputs) != list(range(node.num_outputs)) or len(outputs) != len(form.results):
        return "its form does not give all outputs, and nothing else"
    return [Part(form, tuple(range(len(form.inputs))), outputs)]


def forms_of(node: OpNode, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> list[ScalarForm | str]:
    """Forms of a node's outputs together, or of a gradient's each; as text, the reason why there is none."""
    op = node.op
    if not isinstance(op, Gradient):
        return [op.scalar_form(FORWARD, in_shapes, in_types)]
    shapes: list[Any] = op.of_operator(in_shapes)
    types: list[Any] = op.of_operator(in_types)
    names = op.of.list_arguments()
    return [op.of.scalar_form(f"{names[target]}_grad", shapes, types) for target in op.targets]


def _of_gradient(op: Gradient, forms: Sequence[ScalarForm]) -> list[Part] | str:
    names, found = op.of.list_arguments(), []
    for number, (target, form) in enumerate(zip(op.targets, forms, strict=True)):
        reads = op.of.backward_dependency([position == target for position in range(len(names))])
        if len(form.results) != 1 or any(entry not in op.reads for entry in reads):
            return "its form reads something else than the gradient does"
        found.append(Part(form, tuple([op.entries.index(entry) for entry in reads]), (number,)))
    return found
