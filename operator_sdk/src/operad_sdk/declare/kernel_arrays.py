"""Arrays that a kernel has beside its operator's: kept, needed, prepared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    ArrayRule,
    KernelCall,
    Operator,
    Prepared,
    Shape,
    choose_among,
    ranked,
)
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.binder import OwnArrays
from operad_sdk.declare.function import Declared
from operad_sdk.declare.names import IN_DATA, OUT_DATA, Slot
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
    keeps: dict[str, ArrayRule]
    needs: tuple[str, ...]
    prepares: dict[str, Prepared]
    inplace: tuple[str, ...] | None

    @property
    def kept(self) -> tuple[str, ...]:
        """The kept arrays that functions may name, in order."""
        return tuple(dict.fromkeys((*self.keeps, *self.needs)))

    @property
    def is_empty(self) -> bool:
        """True if there are no such arrays."""
        return not (self.kept or self.prepares)

    def slots(self, prop: OperatorProperty, *, is_forward: bool) -> dict[str, Slot]:
        """Slots of the arrays: behind the outputs, and behind the arguments.

        Raises:
            DeclarationError: A name is one of the operator's.
        """
        outputs, arguments = len(prop.list_outputs()), len(prop.list_arguments())
        kept = self.keeps if is_forward else self.needs
        found = {name: Slot(OUT_DATA, outputs + self.kept.index(name)) for name in kept}
        found |= {name: Slot(IN_DATA, arguments + i) for i, name in enumerate(self.prepares)}
        names = prop.binding.names
        for name in found:
            if name in names.forward or name in names.backward:
                raise DeclarationError(
                    f"kernel {self.label!r} keeps or prepares {name!r}, which is a name of {prop.name}; "
                    "call it otherwise"
                )
        return found

    def pairs(self, *, is_forward: bool) -> tuple[str, ...]:
        """The pairs in place of outputs, or of gradients."""
        return tuple(pair for pair in self.inplace or () if pair.endswith("_grad") is not is_forward)

    def arrays(self, call: KernelCall) -> OwnArrays:
        """Shapes and types for a call; None for arrays that another kernel keeps."""
        kept = [self.keeps[name](call) if name in self.keeps else None for name in self.kept]
        return OwnArrays(self.kept, kept, len(self.prepares))

    def check_named(self, what: str, function: Callable[..., Any], kept: Collection[str]) -> None:
        """Refuse declared arrays that the function does not name."""
        missing = [name for name in kept if name not in Declared(function, what).public_names()]
        if missing:
            raise DeclarationError(
                f"{what} does not name {missing[0]!r}, which it is declared to keep or need; name it, or "
                "leave it out of the declaration"
            )


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
