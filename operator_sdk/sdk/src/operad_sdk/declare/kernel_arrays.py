"""Arrays that a kernel has beside its operator's: those that are prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import KernelCall, Operator, Prepared, Shape, choose_among, ranked
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.names import IN_DATA, Slot
from operad_sdk.errors import DeclarationError

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


@final
class KernelArrays(NamedTuple):
    """The arrays of a kernel's own, and its pairs in place.

    Attributes:
        label: What messages call the kernel.
    """

    label: str
    prepares: dict[str, Prepared]
    inplace: tuple[str, ...] | None

    def slots(self, prop: OperatorProperty) -> dict[str, Slot]:
        """Slots of the arrays, behind the arguments.

        Raises:
            DeclarationError: A name is one of the operator's.
        """
        arguments = len(prop.list_arguments())
        found = {name: Slot(IN_DATA, arguments + i) for i, name in enumerate(self.prepares)}
        names = prop.binding.names
        for name in found:
            if name in names.forward or name in names.backward:
                raise DeclarationError(
                    f"kernel {self.label!r} prepares {name!r}, which is a name of {prop.name}; "
                    "call it otherwise"
                )
        return found

    def pairs(self, *, is_forward: bool) -> tuple[str, ...]:
        """The pairs in place of outputs, or of gradients."""
        return tuple(pair for pair in self.inplace or () if pair.endswith("_grad") is not is_forward)


def own_operator(
    prop: CoreProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Operator:
    """The operator by the kernels of its own distribution, to which a kernel of another may hand a call on.

    Args:
        prop: The operator; what follows is what a kernel's class is made with.

    Raises:
        OperadError: None of its own kernels applies.
    """
    call = KernelCall(prop, ctx, in_shapes, in_types, is_bare=True)
    own = [one for one in ranked(call) if one.distribution is None and one.rejection(call) is None]
    return choose_among(call, own).operator()
