"""Faults of backward passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.operator import Array, BackwardArrays, ForwardArrays, OpContext, OpReq
from operad_check.comparison.flat import is_flat
from operad_check.mutations.fault import Fault
from operad_check.mutations.forward import ReadingOld, SkippingLast
from operad_check.mutations.mutant import Wrapped
from operad_check.trials.trial import Trial

_SLIGHTLY_MORE: Final = 1 + 2.0**-8

Arrays = Sequence[Any]
Requests = Sequence[OpReq]


class _Changed(Wrapped):
    """Changes the arguments of a backward pass before it runs."""

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        super().backward(op_ctx, self.changed(arrays))

    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        """Arguments that backward is handed instead of these."""
        return arrays


class _Overwrites(_Changed):
    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        return arrays._replace(req=[OpReq.WRITE if r is OpReq.ADD else r for r in arrays.req])


class _IgnoresHead(_Changed):
    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        return arrays._replace(out_grad=[None if g is None else np.ones_like(g) for g in arrays.out_grad])


class _Swaps(_Changed):
    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        pair = swappable(arrays.in_grad, self.prop.differentiable_inputs())
        if pair is None:
            return arrays
        i, j = pair
        grads, req = list(arrays.in_grad), list(arrays.req)
        grads[i], grads[j], req[i], req[j] = grads[j], grads[i], req[j], req[i]
        return arrays._replace(req=req, in_grad=grads)


class _NeedsAll(_Changed):
    """Computes gradients only if all of them are wanted."""

    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        flows = self.prop.differentiable_inputs()
        if all(r is not OpReq.NULL for r, flag in zip(arrays.req, flows, strict=True) if flag):
            return arrays
        _clear(arrays)
        return arrays._replace(req=[OpReq.NULL] * len(arrays.req))


class _WritesFirst(_Changed):
    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        _clear(arrays)
        return arrays


def _clear(arrays: BackwardArrays) -> None:
    for r, array in zip(arrays.req, arrays.in_grad, strict=True):
        if array is not None and r in (OpReq.WRITE, OpReq.INPLACE):
            array[...] = 0


class _Remembers(_Changed):
    """Uses the inputs of the last forward pass, of any call."""

    seen: Arrays | None = None

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        self.seen = [array.copy() for array in arrays.in_data]
        super().forward(op_ctx, arrays)

    def changed(self, arrays: BackwardArrays) -> BackwardArrays:
        if self.seen is None:
            raise RuntimeError("backward before forward")
        return arrays._replace(in_data=self.seen)


class _Around(Wrapped):
    """Runs backward, and then does something to each gradient that was written or added to."""

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        before = [None if array is None else array.copy() for array in arrays.in_grad]
        super().backward(op_ctx, arrays)
        for r, old, new in zip(arrays.req, before, arrays.in_grad, strict=True):
            if r is not OpReq.NULL and old is not None and new is not None and new.size:
                self.change(r, old, new)

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        """Apply the fault to one gradient that was written or added to."""


class _SkipsLast(SkippingLast, _Around):
    """Of gradients."""


class _IsOff(_Around):
    def change(self, req: OpReq, old: Array, new: Array) -> None:
        new[...] = old + (new - old) * _SLIGHTLY_MORE if req is OpReq.ADD else new * _SLIGHTLY_MORE


class _ReadsOld(ReadingOld, _Around):
    """Of gradients."""


class _SpoilsHead(Wrapped):
    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        super().backward(op_ctx, arrays)
        for array in (*arrays.out_grad, *arrays.in_data):
            if array is not None and array.size and array.dtype.kind == "f":
                array.flat[0] += 1


class _ReadsUndeclared(Wrapped):
    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        super().backward(op_ctx, arrays)
        declared = self.prop.backward_dependency([r is not OpReq.NULL for r in arrays.req])
        for kind in ("out_grad", "in_data", "out_data"):
            for place, array in enumerate(getattr(arrays, kind)):
                if (kind, place) not in declared and (kind != "out_grad" or array is not None):
                    _add_first(arrays.req, arrays.in_grad, array)


def _add_first(req: Requests, in_grad: Arrays, array: Array) -> None:
    for r, gradient in zip(req, in_grad, strict=True):
        if r is not OpReq.NULL and array.size:
            gradient += np.nan_to_num(array.flat[0])


def swappable(in_grad: Arrays, flows: Sequence[bool]) -> tuple[int, int] | None:
    """Two gradients of one shape that are both wanted."""
    there = [i for i, array in enumerate(in_grad) if array is not None and flows[i]]
    for i in there:
        for j in there:
            if i < j and in_grad[i].shape == in_grad[j].shape and in_grad[i].dtype == in_grad[j].dtype:
                return i, j
    return None


def flows(trial: Trial) -> bool:
    """Return whether the case has gradients."""
    return any(trial.differentiable())


def slopes(trial: Trial) -> bool:
    """Return whether the case has gradients, not all 0 as those of step functions."""
    return flows(trial) and not is_flat(trial, trial.backward())


def flows_twice(trial: Trial) -> bool:
    """Return whether the case has several gradients."""
    return sum(trial.differentiable()) > 1


def leaves_out(trial: Trial) -> bool:
    """Return whether backward leaves arrays undeclared."""
    if not flows(trial):
        return False
    declared = {e for e in trial.prop.backward_dependency(trial.differentiable()) if e.kind != "out_grad"}
    return len(declared) < len(trial.arguments) + len(trial.outputs)


_NUMERIC: Final = ("B302", "B301", "B303")

BACKWARD: Final = (
    Fault("backward overwrites where it should add", ("B305",), _Overwrites, applies=flows),
    Fault("backward leaves the last element of gradients as it was", ("B307",), _SkipsLast, applies=flows),
    Fault("gradients are off by one part in 256", ("B302", "B301"), _IsOff, applies=slopes),
    Fault("gradients are swapped", _NUMERIC, _Swaps, applies=flows_twice, may_be_equal=True),
    Fault(
        "backward takes the head gradient for ones", _NUMERIC, _IgnoresHead, applies=flows, may_be_equal=True
    ),
    Fault("backward computes only all gradients together", ("B305",), _NeedsAll, applies=flows_twice),
    Fault("backward changes what it reads", ("B309",), _SpoilsHead, applies=flows),
    Fault("backward adds to what gradients held before", ("M407",), _ReadsOld, applies=flows),
    Fault("backward reads arrays that it does not declare", ("M401",), _ReadsUndeclared, applies=leaves_out),
    Fault("backward clears gradients before it reads", ("M404",), _WritesFirst, applies=flows),
    Fault(
        "backward uses inputs that forward kept in the operator",
        ("B310",),
        _Remembers,
        applies=lambda trial: flows(trial) and not trial.prop.is_stateful,
    ),
)
