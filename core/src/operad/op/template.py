"""Calls that are worked out before their arrays are there.

What a call is depends on an operator, on requests and on where it runs; which arrays it gets may change at
every run. So an operator names functions and where each takes its values from, and the runner fills
the arrays in: an executor once, a backward pass of a tape at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, final


@final
class ArgumentSlot(int):
    """Stands for an array, by its number among all that an operator is given."""


@final
class CallTemplate(NamedTuple):
    """A function with its arguments.

    Attributes:
        function: What to call.
        args: Its arguments, in order: an `ArgumentSlot` for an array, anything else for itself.
    """

    function: Callable[..., object]
    args: tuple[Any, ...]


def filled(templates: Sequence[CallTemplate], arrays: Sequence[Any]) -> Callable[[], object]:
    """The calls with their arrays, as one thing to call many times."""
    calls = [
        partial(function, *[arrays[arg] if arg.__class__ is ArgumentSlot else arg for arg in args])
        for function, args in templates
    ]
    return calls[0] if len(calls) == 1 else partial(_call_all, calls)


def moved(templates: Sequence[CallTemplate], slots: Sequence[ArgumentSlot | None]) -> list[CallTemplate]:
    """The calls, where each array has another slot, or is not there."""
    return [
        CallTemplate(function, tuple([slots[arg] if arg.__class__ is ArgumentSlot else arg for arg in args]))
        for function, args in templates
    ]


def in_groups(counts: Sequence[int], arrays: Sequence[Any]) -> Iterator[list[Any]]:
    """Arrays in groups of so many each: lists, in which `out_data[0] += 1` may be written."""
    first = 0
    for count in counts:
        yield list(arrays[first : first + count])
        first += count


def _call_all(calls: Sequence[Callable[[], object]]) -> None:
    for call in calls:
        call()
