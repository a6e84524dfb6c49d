"""Base classes for operators that a program writes.

Source: CustomOp and CustomOpProp, python/mxnet/operator.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ArgumentError

_REQUESTS = ("null", "write", "inplace", "add")


class CustomOp:
    """Computes a custom operator on arrays.

    What `forward` and `backward` call runs at once, in the thread that runs the operator, and is not
    recorded. They may read and write their arrays (`asnumpy`, views, sums in place), whatever is queued
    behind the operator. For other arrays they wait, and raise where pending work on those seems to wait for
    the operator itself. Their arrays are theirs for the call only.
    """

    def forward(
        self, is_train: bool, req: list[str], in_data: list[Any], out_data: list[Any], aux: list[Any]
    ) -> None:
        """Compute the outputs.

        Args:
            is_train: The mode.
            req: For each output, "null", "write", "inplace" or "add".
            in_data: The arguments.
            out_data: To be written, by `assign`.
            aux: The auxiliary states, to be read and written.
        """

    def backward(
        self,
        req: list[str],
        out_grad: list[Any],
        in_data: list[Any],
        out_data: list[Any],
        in_grad: list[Any],
        aux: list[Any],
    ) -> None:
        """Compute the gradients of the arguments.

        Args:
            req: For each gradient, as in `forward`.
            out_grad: Gradients of the outputs. What `declare_backward_dependency` leaves out is None, here
                and in the next two.
            in_data: The arguments.
            out_data: The outputs.
            in_grad: To be written, by `assign`.
            aux: The auxiliary states.
        """

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Write `src` into `dst` as `req` asks.

        Raises:
            ArgumentError: `req` is none of the requests.
        """
        if req not in _REQUESTS:
            raise ArgumentError(f"assign: req is {req!r}, expected one of {', '.join(map(repr, _REQUESTS))}")
        if req == "add":
            dst[...] += src
        elif req != "null":
            dst[...] = src


class CustomOpProp:
    """Says what a custom operator means: its arguments, shapes and types, and what its gradient reads.

    Parameters of a call arrive in `__init__` as text.

    Args:
        need_top_grad: Whether the gradient reads that of the outputs; False for losses.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the arguments."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states."""
        return []

    def infer_shape(self, in_shape: list[list[int]]) -> Sequence[Any]:
        """Shapes of arguments, outputs and, where there are any, auxiliary states.

        Args:
            in_shape: Shape of each argument; empty where unknown, 0 for an unknown axis.
        """
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: list[Any]) -> Sequence[Any]:
        """Element types, as `infer_shape`; the default is that of the first argument for all."""
        first = in_type[0]
        return (
            [first] * len(in_type),
            [first] * len(self.list_outputs()),
            [first] * len(self.list_auxiliary_states()),
        )

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Numbers of the arrays that `backward` reads; the other arrays may be recycled before."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(
        self, ctx: Any, in_shapes: list[tuple[int, ...]], in_dtypes: list[np.dtype[Any]]
    ) -> CustomOp:
        """The operator that computes for one node, or one imperative call."""
        return CustomOp()
