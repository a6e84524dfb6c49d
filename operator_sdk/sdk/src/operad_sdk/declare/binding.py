"""The functions of a class, bound to one set of tensors: every name in a signature is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from operad.operator import FORWARD, Kernel
from operad_sdk.declare.function import Bound, Declared
from operad_sdk.declare.names import Names, Tensors
from operad_sdk.errors import DeclarationError

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


class BoundFunctions(NamedTuple):
    """Names and functions with which an operator is computed.

    Attributes:
        gradients: The gradients that count for the operator's parameters.
        traced: The same functions, or what takes their places where their own gradients are computed.
        derived: The kernels beside the functions, once they were asked for.
    """

    names: Names
    forward: Bound
    gradients: list[Bound]
    traced: list[Bound]
    derived: list[Kernel]


def bind(tensors: Tensors, forward: Declared, gradients: Sequence[Declared]) -> BoundFunctions:
    """Find the names of all functions.

    Raises:
        DeclarationError: A name means nothing, or two gradients compute the same.
    """
    names = Names(tensors)
    found: list[Bound] = []
    for declared in gradients:
        bound = Bound(declared, names.backward, names.backward_targets, False)
        for other in found:
            if set(other.targets) & set(bound.targets):
                raise DeclarationError(
                    f"{bound.what} and {other.what} compute the same gradient; expected one of them"
                )
        found.append(bound)
    traced = [_traced(declared, bound, names) for declared, bound in zip(gradients, found, strict=True)]
    return BoundFunctions(
        names, Bound(forward, names.forward, names.forward_targets, True), found, traced, []
    )


def _traced(declared: Declared, bound: Bound, names: Names) -> Bound:
    """Substitute for a gradient where the gradient of that gradient is computed.

    Raises:
        DeclarationError: It computes other targets, or reads what the gradient does not.
    """
    if declared.traced is None:
        return bound
    targets = declared.targets or tuple(
        name for name, slot in names.backward_targets.items() if set(slot.positions) <= set(bound.targets)
    )
    instead = declared._replace(
        function=declared.traced, what=f"traced of {declared.what}", targets=targets, names=(), inplace=(),
        accumulate=False,
    )  # fmt: skip
    found = Bound(instead, names.backward, names.backward_targets, False)
    if found.targets != bound.targets or not found.reads <= bound.reads:
        raise DeclarationError(
            f"{instead.what} reads or computes what {declared.what} does not; expected the same targets, and "
            "no array more to read"
        )
    return found


def functions_of(prop: OperatorProperty, parts: Sequence[str]) -> list[Bound]:
    """The author's functions that compute some parts."""
    if FORWARD in parts:
        return [prop.binding.forward]
    names = prop.list_arguments()
    wanted = {names.index(part.removesuffix("_grad")) for part in parts}
    return [bound for bound in prop.binding.traced if not wanted.isdisjoint(bound.targets)]
