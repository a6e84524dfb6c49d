"""Kernels that compute parts of an operator by their scalar forms, in vector code.

Declaring them imports nothing of what writes and compiles the code: that comes with the first call that is
large enough (`operad_sdk.vector.form_kernels`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from operad.first_use import import_module
from operad.operator import Cost, Kernel, KernelCall, Operator, Shape

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

FROM_SIZE: Final = 256
"""Elements from which a form is worth its compilation, 0.03 to 0.06 s where no process did it before, if the
operator's own function takes several passes over rows."""
ELEMENTS_FROM_SIZE: Final = 1 << 14
"""The same where the operator's own function is one or two of NumPy's."""


class View(NamedTuple):
    """A part of a contiguous array, or its elements in another order.

    Attributes:
        offset: Bytes to its first element.
        shape: Its shape.
        strides: Its steps in bytes.
    """

    offset: int
    shape: Shape
    strides: tuple[int, ...]

    def of(self, array: Any) -> Any:
        """The view of an array; of a copy, if that is not contiguous."""
        array = np.ascontiguousarray(array)
        return np.ndarray(self.shape, array.dtype, array, self.offset, self.strides)


def by_form(operator: type[OperatorProperty], *parts: str, from_size: int = FROM_SIZE) -> None:
    """Give an operator kernels that compute some of its parts by their scalar forms.

    They are taken on the host where there is vector code, for float32 and float64, where the part has a form
    for the call, whose reductions all go over the same axes. Results differ from those of the
    operator's own functions by rounding.

    Args:
        parts: Of `list_parts`.
        from_size: Elements of the largest array from which they are taken.
    """
    for part in parts:
        operator.kernels.append(
            Kernel(
                f"{operator.name}.vector_{part}",
                partial(_made, part),
                "cpu",
                priority=5,
                when=_WithForm(part, from_size),
                parts=partial(_only, part),
                cost=partial(_cost, part),
            )
        )


def by_elements(
    operator: type[OperatorProperty], *arguments: str, without: Collection[str] = ()
) -> type[OperatorProperty]:
    """Give an operator of elements such kernels for its outputs and for the gradients of some arguments.

    Args:
        without: Parts of which vector code has no form, or no faster one than NumPy.
    Returns:
        The operator.
    """
    parts = ["forward", *(f"{name}_grad" for name in arguments)]
    by_form(operator, *[part for part in parts if part not in without], from_size=ELEMENTS_FROM_SIZE)
    return operator


@final
class _WithForm:
    """Condition: the call is large enough, there is vector code, and the part has a form that it computes."""

    def __init__(self, part: str, from_size: int) -> None:
        self._part = part
        self._from_size = from_size

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the kernel is not used."""
        size = max([prod(shape) for shape in (*call.in_shapes, *call.out_shapes)], default=0)
        if size < self._from_size:
            return f"{size} elements, vector code pays from {self._from_size}"
        return self.regardless_of_size(call)

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition as if every call were large enough: checks try kernels on small arrays."""
        found: bool | str = _heavy().reason_for(self._part, call) or True
        return found

    @property
    def is_possible(self) -> bool:
        """True if the kernel can be used at all in this environment."""
        found: bool = _heavy().reason_against() is None
        return found


def _heavy() -> Any:
    return import_module("operad_sdk.vector.form_kernels")


def _made(part: str, *call: Any) -> Operator:
    made: Operator = _heavy().FormOperator(part, *call)
    return made


def _cost(part: str, call: KernelCall) -> Cost:
    found: Cost = _heavy().cost_of(part, call)
    return found


def _only(part: str, _: OperatorProperty) -> tuple[str]:
    return (part,)
