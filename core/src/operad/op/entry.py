"""The arrays of a backward call."""

from __future__ import annotations

from typing import Any, NamedTuple


class BackwardEntry(NamedTuple):
    """One array that a backward call reads: `kind` is `out_grad`, `in_data` or `out_data`."""

    kind: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which no entry needs


def inplace_pairs(of: Any) -> list[tuple[BackwardEntry, int]]:
    """An operator's `backward_inplace_option`: what is read, and the argument whose gradient may be there."""
    counts = {"out_grad": of.num_visible_outputs, "in_data": len(of.list_arguments())}
    counts |= {"out_data": len(of.list_outputs()), "in_grad": len(of.list_arguments())}
    roles = [[BackwardEntry(kind, index) for index in range(count)] for kind, count in counts.items()]
    return [(read, grad.index) for read, grad in of.backward_inplace_option(*roles)]
