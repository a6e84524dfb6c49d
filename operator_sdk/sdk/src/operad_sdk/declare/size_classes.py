"""Classes of sizes, for each of which it is decided once which way of computing is faster.

An estimate is good to a quarter at most, so lengths that differ by less share one: that of the largest length
of their class, four of which double a length. What may be computed does not depend on it: which lengths are
equal, which are 1 and which are numbers among the parameters is the same for a whole class, and where other
lengths do not fit the operator, sizes stand for themselves. So a decision follows from the call alone,
whatever was asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from operad.interrupts import raise_of_handler
from operad.operator import Shape

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_EXACT_BITS: Final = 3
"""Lengths of so many bits are classes of their own."""


def of_class(prop: OperatorProperty, in_shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Shapes that stand for those of a call and for all of its class."""
    instead = {length: length for length in (1, *_numbers(prop))}
    taken = set(instead)
    for shape in in_shapes:
        for length in shape:
            if length not in instead:
                instead[length] = found = _free(length, taken)
                taken.add(found)
    shapes = tuple([tuple([instead[length] for length in shape]) for shape in in_shapes])
    try:
        return shapes if prop.infer_shape(list(shapes))[0] == [*shapes] else tuple(in_shapes)
    except Exception as error:  # noqa: BLE001 - the author's rule, which may refuse other lengths as it likes
        raise_of_handler(error)
        return tuple(in_shapes)


def largest_of_class(length: int) -> int:
    """The largest length of the class of a length."""
    step = 1 << max(0, length.bit_length() - _EXACT_BITS)
    return -(-length // step) * step


def _free(length: int, taken: set[int]) -> int:
    """The largest length of a class, or of the next one that no other length stands in."""
    while (length := largest_of_class(length)) in taken:
        length += 1
    return length


def _numbers(prop: OperatorProperty) -> list[int]:
    """Whole numbers among the parameters, which lengths may have to be."""
    values = [getattr(prop, name) for name in type(prop).params]
    every = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in every if type(one) is int]
