"""The operator of parts that training and prediction compute apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from operad.operator import BackwardArrays, CallTemplate, ForwardArrays, OpContext, Operator


@final
class ByMode(Operator):
    """Kernels of both modes, each made where it is first used.

    Args:
        training: Makes that of training.
        prediction: Makes that of prediction.
    """

    def __init__(self, training: Callable[[], Operator], prediction: Callable[[], Operator]) -> None:
        self._makers = {True: training, False: prediction}
        self._made: dict[bool, Operator] = {}

    def _of(self, op_ctx: OpContext) -> Operator:
        found = self._made.get(op_ctx.is_train)
        if found is None:
            found = self._made.setdefault(op_ctx.is_train, self._makers[op_ctx.is_train]())
        return found

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs, and states that change."""
        self._of(op_ctx).forward(op_ctx, arrays)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients."""
        self._of(op_ctx).backward(op_ctx, arrays)

    def forward_templates(self, op_ctx: OpContext, *counts: Any) -> list[CallTemplate]:
        """Calls of the kernel for the mode."""
        return self._of(op_ctx).forward_templates(op_ctx, *counts)

    def backward_templates(self, op_ctx: OpContext, *counts: Any) -> list[CallTemplate]:
        """The same going back."""
        return self._of(op_ctx).backward_templates(op_ctx, *counts)
