"""What an operator knows about the run it is part of."""

from __future__ import annotations

from types import ModuleType
from typing import Any, final

from operad.context import Context


@final
class OpContext:
    """Handed to every `forward` and `backward`.

    Attributes:
        ctx: The device the arrays live on.
        is_train: Whether this is a training run.
        requested: The resources the operator asked for in `forward_resource` or
            `backward_resource`, in that order.

    Source: OpContext, include/mxnet/op_attr_types.h.
    """

    __slots__ = ("ctx", "is_train", "requested")

    def __init__(self, ctx: Context, is_train: bool, requested: tuple[Any, ...] = ()) -> None:
        self.ctx = ctx
        self.is_train = is_train
        self.requested = requested

    @property
    def xp(self) -> ModuleType:
        """The array module of the arrays: `numpy` or `cupy`."""
        return self.ctx.xp
