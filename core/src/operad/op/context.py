"""Run that an operator is part of, as far as it knows it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, final

from operad import engine
from operad.device import Context


@final
class OpContext(NamedTuple):
    """Handed to every `forward` and `backward`.

    Attributes:
        ctx: The device the arrays live on.
        is_train: Whether this is a training run.
        requested: The resources the operator asked for in `forward_resource` or
            `backward_resource`, in that order.

    Source: OpContext, include/mxnet/op_attr_types.h.
    """

    ctx: Context
    is_train: bool
    requested: tuple[Any, ...] = ()

    @property
    def num_threads(self) -> int:
        """Number of threads that the operation may use at this moment; 1 on a GPU and for light operators."""
        return 1 if self.ctx.is_gpu else engine.get().budget.num_threads_now

    def parallel(self, function: Callable[[int, int], object], count: int, width: int) -> None:
        """Call `function(part, slot)` for every part below `count`, in up to `width` threads.

        For work that falls into parts which write to different memory. The parts must be cut by
        shapes alone, never by `num_threads`, so that the result is the same on every machine.

        Args:
            function: Computes one part. It may use scratch memory of its `slot`: no two parts that
                run at once have the same.
            count: How many parts there are.
            width: How many may run at once: `num_threads`, or less; slots are below it.
        """
        engine.get().budget.parallel(function, count, width)

    @property
    def xp(self) -> ModuleType:
        """The array module of the arrays: `numpy` or `cupy`."""
        return self.ctx.xp
