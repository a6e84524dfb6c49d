"""Record of a plan that the hot path can run, with all that it reads in one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from operad.imperative.array_spec import ArraySpec
from operad.imperative.chunk import recycles
from operad.imperative.run_time import RunTime

MOST_ARRAYS: Final = 4
"""Arrays that the hot path takes."""


@final
class FastPath:
    """The parts of a plan by which small arrays are computed in the calling thread; see `hot`.

    Attributes:
        call: Runs it: `hot.apply_fast`, specialized for its number of arrays.
        plan: What it is the fast path of; None for a copy.
        name: What errors call it.
        direct: Computes it from plain arrays and run-time values.
        out_spec: Specification of the one output.
        is_recycled: Whether the block of the output is recycled whole; see `chunk`.
        updates: Whether the output may lie where an argument lies, for each argument.
        runs_under_lock: Whether it holds the engine's lock meanwhile, for a few microseconds.
        run_time: The run-time parameters; None if it has none.
    """

    __slots__ = (
        "call", "direct", "is_recycled", "name", "out_spec", "plan", "run_time", "runs_under_lock", "updates",
    )  # fmt: skip

    def __init__(
        self,
        call: Callable[..., Any],
        name: str,
        direct: Callable[..., Any],
        out_spec: ArraySpec,
        *,
        plan: Any = None,
        updates: Sequence[bool] = (False,),
        runs_under_lock: bool = True,
        run_time: RunTime | None = None,
    ) -> None:
        self.call = call
        self.plan = plan
        self.name = name
        self.direct = direct
        self.out_spec = out_spec
        self.is_recycled = recycles(out_spec.deferred)
        self.updates = updates
        self.runs_under_lock = runs_under_lock
        self.run_time = run_time
