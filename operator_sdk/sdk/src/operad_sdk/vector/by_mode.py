"""The operator of parts that training and prediction compute apart."""

from __future__ import annotations

from typing import Any, final

from operad.operator import BackwardArrays, CallTemplate, ForwardArrays, OpContext, Operator


@final
class ByMode(Operator):
    """Kernels of both modes."""

    def __init__(self, training: Operator, prediction: Operator) -> None:
        self._modes = {True: training, False: prediction}

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs, and states that change."""
        self._modes[op_ctx.is_train].forward(op_ctx, arrays)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients."""
        self._modes[op_ctx.is_train].backward(op_ctx, arrays)

    def forward_templates(self, op_ctx: OpContext, *counts: Any) -> list[CallTemplate]:
        """Calls of the kernel for the mode."""
        return self._modes[op_ctx.is_train].forward_templates(op_ctx, *counts)

    def backward_templates(self, op_ctx: OpContext, *counts: Any) -> list[CallTemplate]:
        """The same going back."""
        return self._modes[op_ctx.is_train].backward_templates(op_ctx, *counts)
