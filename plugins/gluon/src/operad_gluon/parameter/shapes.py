"""Shapes of parameters, some lengths of which are told later, and contexts."""

from __future__ import annotations

from collections.abc import Sequence

import operad as od
from operad import Context


def shape_is_known(shape: Sequence[int] | None) -> bool:
    """Return whether a shape is known: there are axes, and none has length 0."""
    return bool(shape) and all(length > 0 for length in shape or ())


def completes(new: Sequence[int], old: Sequence[int]) -> bool:
    """Return whether `new` has the lengths of `old`, where those are known."""
    return len(new) == len(old) and all(b in (0, -1, a) for a, b in zip(new, old, strict=True))


def contexts(ctx: Context | Sequence[Context] | None) -> list[Context]:
    """`ctx` as a list; the current context where it is None."""
    if ctx is None:
        return [od.current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)
