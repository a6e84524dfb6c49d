"""Reads what an operator declares as names rather than arrays.

The contract's methods take sequences of anything and return items of them, so that calling them with
names gives the declarations by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from operad.op import BackwardEntry, OperatorProperty, Shape
from operad.resource import ResourceRequest


@final
class Names(NamedTuple):
    """Names of everything that a backward pass may read or write."""

    out_grad: list[str]
    in_data: list[str]
    out_data: list[str]
    in_grad: list[str]

    def of(self, entry: BackwardEntry) -> str:
        """The name of one array that is read."""
        return {"out_grad": self.out_grad, "in_data": self.in_data, "out_data": self.out_data}[entry.kind][
            entry.index
        ]


@final
@dataclass(frozen=True, slots=True)
class ArgumentGradient:
    """Way in which the gradient of one argument is computed.

    Attributes:
        argument: Whose gradient.
        reads: Arrays kept for it: gradients of outputs (NAME_grad), arguments, outputs.
        form: MXNet's T0, T1 or T2 for an operator of one or two arrays and one output, else null.
    """

    argument: str
    reads: list[str]
    form: str | None


def names_of(prop: OperatorProperty) -> Names:
    """Distinct names; an output called like an argument gets `out_` in front."""
    arguments = prop.list_arguments()
    outputs = [f"out_{name}" if name in arguments else name for name in prop.list_outputs()]
    visible = outputs[: prop.num_visible_outputs]
    grads = [f"{name}_grad" for name in arguments]
    return Names([f"{name}_grad" for name in visible], arguments, outputs, grads)


def shape_line(prop: OperatorProperty) -> str | None:
    """The operator's line of the shape language, for these parameters; None where it has none.

    The core does not know the toolkit that brings the language; its classes carry the line as `spec`.
    """
    spec = getattr(prop, "spec", None)
    line = spec() if callable(spec) else spec
    return line if isinstance(line, str) else None


def gradients(prop: OperatorProperty) -> list[ArgumentGradient]:
    """One for each argument that has a gradient."""
    names = names_of(prop)
    flows = prop.differentiable_inputs()
    found = []
    for index, argument in enumerate(names.in_data):
        if flows[index]:
            wanted = [position == index for position in range(len(flows))]
            reads = [names.of(entry) for entry in prop.backward_dependency(wanted)]
            found.append(ArgumentGradient(argument, reads, _form(prop, wanted)))
    return found


def forward_inplace(prop: OperatorProperty) -> list[tuple[str, str]]:
    """Pairs of an argument and the output that may overwrite it."""
    names = names_of(prop)
    return prop.forward_inplace_option(names.in_data, names.out_data)


def backward_inplace(prop: OperatorProperty) -> list[tuple[str, str]]:
    """Pairs of an array that is read and the gradient that may overwrite it."""
    names = names_of(prop)
    if not any(prop.differentiable_inputs()):
        return []
    return prop.backward_inplace_option(names.out_grad, names.in_data, names.out_data, names.in_grad)


def resources(
    requests: Callable[[Sequence[Shape]], Sequence[ResourceRequest]], shapes: Sequence[Shape] | None
) -> list[str] | None:
    """Names of what is asked for with arguments of these shapes; None without shapes."""
    return None if shapes is None else [request.value for request in requests(shapes)]


def _form(prop: OperatorProperty, wanted: list[bool]) -> str | None:
    """MXNet's name of a gradient that reads the head gradient only, also the output, also the inputs."""
    if len(wanted) > 2 or len(prop.list_outputs()) > 1 or prop.list_auxiliary_states():
        return None
    kinds = {entry.kind for entry in prop.backward_dependency(wanted)}
    return "T2" if "in_data" in kinds else "T1" if "out_data" in kinds else "T0"
