"""Computation of the operators that run subgraphs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import EllipsisType
from typing import Any

from operad import NDArray, ndarray
from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    BackwardArrays,
    ForwardArrays,
    OpContext,
    Operator,
    OpReq,
    OwnResources,
    Requests,
    Shape,
    SomeArrays,
)
from operad_control_flow.control_flow import ControlFlow
from operad_control_flow.rules import SHAPES, TYPES
from operad_control_flow.runs import Runs


class Runner(Operator):
    """Computes with arrays. Subclasses say what; what they call runs at once.

    Operators inside take turns at resources of its own: another operation may hold the device's.
    Each run draws one number from the device's generator, and theirs are seeded with it.

    Args:
        prop: The operator.
        ctx: Where it runs.
        in_shapes: Shapes of the arguments; `in_types` likewise.
    """

    def __init__(
        self, prop: ControlFlow, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self.ctx = ctx
        shapes, types = prop.seen(in_shapes, SHAPES), prop.seen(in_types, TYPES)
        self._given = list(zip(prop.parts, shapes, types, strict=True))
        self._resources = OwnResources()
        self._seed: int | None = None
        self._is_train = False  # in the last forward
        self._is_kept = False  # whether what the gradients read is there
        self.set_up(prop, in_shapes)

    @abstractmethod
    def set_up(self, prop: Any, in_shapes: Sequence[Shape]) -> None:
        """Take from the operator what all runs need."""

    @abstractmethod
    def run(self, is_train: bool, keep: bool, ins: list[NDArray], outs: list[Target]) -> None:
        """Compute and write the outputs, and with `keep` keep what `run_back` needs."""

    @abstractmethod
    def run_back(self, is_train: bool, heads: list[NDArray], grads: list[Target]) -> None:
        """Compute and write the gradients of the arguments."""

    def runs(self, number: int, shared: Sequence[int] = ()) -> Runs:
        """Executors of a subgraph, by its number; see `Runs`."""
        part, shapes, types = self._given[number]
        return Runs(part, self.ctx, shapes, types, shared)

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs; in training all steps are kept."""
        if op_ctx.requested:
            self._seed = int(op_ctx.requested[0].generator.integers(1 << 63))
        self._is_train = op_ctx.is_train
        self._is_kept = False
        with self._inside(self._is_train):
            self._run(self._is_train, arrays.in_data, self._targets(arrays.req, arrays.out_data))
        self._is_kept = self._is_train

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients.

        After a prediction, which keeps nothing, and after another backward, which overwrites what it has
        read, all steps are computed once more.
        """
        if not self._is_kept:
            with self._inside(self._is_train):
                self._run(True, arrays.in_data, [Target(OpReq.NULL, None)] * len(arrays.out_grad))
        self._is_kept = False
        with self._inside(op_ctx.is_train):
            grads = self._targets(arrays.req, arrays.in_grad)
            self.run_back(op_ctx.is_train, self._arrays(arrays.out_grad), grads)
            for grad in grads:
                grad.write_zeros_if_unwritten()

    def _run(self, keep: bool, in_data: SomeArrays, outs: list[Target]) -> None:
        if self._seed is not None:
            self._resources.seed(self._seed)  # the same when steps are computed once more
        self.run(self._is_train, keep, self._arrays(in_data), outs)

    @contextmanager
    def _inside(self, is_train: bool) -> Iterator[None]:
        with ndarray.nested(is_train), self._resources:
            yield
            self._resources.release_spaces()

    def _arrays(self, datas: SomeArrays) -> list[Any]:
        return ndarray.over(datas, self.ctx)

    def _targets(self, req: Requests, datas: SomeArrays) -> list[Target]:
        return [Target(*pair) for pair in zip(req, self._arrays(datas), strict=True)]


class Target:
    """An array to be written as a request asks."""

    def __init__(self, req: OpReq, array: NDArray | None) -> None:
        self._req, self._array = req, array
        self._is_written = False

    def write(self, value: NDArray) -> None:
        """Write, or add, a value."""
        self._is_written = True
        _assign(self._req, self._array, ..., value)

    def write_row(self, row: int, value: NDArray | float) -> None:
        """Write, or add, one row; whoever does writes all of them."""
        self._is_written = True
        _assign(self._req, self._array, row, value)

    def write_zeros_if_unwritten(self) -> None:
        """Write 0 where nothing has been written."""
        if not self._is_written:
            _assign(self._req, self._array, ..., 0)


def _assign(req: OpReq, array: NDArray | None, key: int | EllipsisType, value: Any) -> None:
    if req is OpReq.NULL or array is None:
        return
    if req is OpReq.ADD:
        array[key] += value
    else:
        array[key] = value
