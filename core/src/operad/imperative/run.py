"""Handing plain functions over arrays' memory to the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from operad import engine
from operad.device import Context
from operad.engine import FnProperty, Var
from operad.engine.thread import NESTED, local
from operad.imperative.state import refuse_traced


def execute(
    function: Callable[..., object],
    args: tuple[Any, ...],
    ctx: Context,
    const_vars: Sequence[Var],
    mutable_vars: Sequence[Var],
    name: str,
    inline: bool = False,
    reads_mutable: bool | Collection[Var] = False,
    is_parallel: bool = True,
    size_bytes: int = 0,
    uses_blas: bool = False,
    prop: FnProperty = FnProperty.NORMAL,
) -> None:
    """Call `function(*args)` once its variables are free: here and now if that may be, else pushed.

    Args:
        function: What to call, with plain arrays.
        args: Its arguments.
        ctx: Where it runs.
        const_vars: Variables it reads; distinct, and none of `mutable_vars`.
        mutable_vars: Variables it writes; distinct.
        name: What errors call it.
        inline: Whether it is small enough for the calling thread.
        reads_mutable: Whether it uses the old contents of what it writes, or of which variables.
        is_parallel: Whether it is worth several threads inside.
        size_bytes: Memory that it keeps in use until it is done.
        uses_blas: Whether it has products, which BLAS must compute with one thread wherever they run.
        prop: The kind of work.
    """
    refuse_traced(f"{name} would run at once", "call it outside")
    current = engine.get()
    if inline or local.state.inside == NESTED:
        fn, given = (engine.run_single, (function, *args)) if uses_blas else (function, args)
        call = (fn, given, ctx, const_vars, mutable_vars, name)
        if current.run_inline(*call) or current.run_inline_soon(*call):
            return
    current.push_sync(
        lambda _: function(*args), ctx, const_vars, mutable_vars, prop, name=name,
        reads_mutable=reads_mutable, is_parallel=is_parallel, size_bytes=size_bytes,
    )  # fmt: skip


def distinct(
    read: Sequence[Var], updated: Collection[Var], written: Collection[Var]
) -> tuple[list[Var], list[Var], list[Var]]:
    """Sort an operation's variables, named any number of times, into what the engine wants.

    Args:
        read: Those whose contents matter.
        updated: Those written of which the old contents matter.
        written: Those written.
    Returns:
        `const_vars`, `mutable_vars`, and which of the mutable ones count as read (`reads_mutable`).
    """
    if len({*read, *updated, *written}) == len(read) + len(updated) + len(written):
        return [*read], [*updated, *written], [*updated]
    old = dict.fromkeys(updated)
    mutable = {**old, **dict.fromkeys(written)}
    const = []
    for var in dict.fromkeys(read):
        if var in mutable:
            old[var] = None
        else:
            const.append(var)
    return const, list(mutable), list(old)
