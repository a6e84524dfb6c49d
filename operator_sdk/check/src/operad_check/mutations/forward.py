"""Faults of forward passes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from operad.errors import OperadError
from operad.operator import Array, ForwardArrays, OpContext, OpReq
from operad.resource import ResourceRequest
from operad_check.cases.positions import index_arguments
from operad_check.cases.retype import is_random
from operad_check.comparison.bitwise import first_difference
from operad_check.mutations.fault import Fault
from operad_check.mutations.mutant import Wrapped
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised

_FAR: Final = 4096
"""Elements of a temp space: more than the operator itself asks for in an audit's cases."""

Arrays = Sequence[Array]


class _Overwrites(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        req = [OpReq.WRITE if r is OpReq.ADD else r for r in arrays.req]
        super().forward(op_ctx, arrays._replace(req=req))


class _WritesUnwanted(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        wanted = [
            OpReq.WRITE if r is OpReq.NULL and array is not None else r
            for r, array in zip(arrays.req, arrays.out_data, strict=True)
        ]
        super().forward(op_ctx, arrays._replace(req=wanted))


class _Around(Wrapped):
    """Runs forward, and then does something to each output that was written or added to.

    Attributes:
        concerns_hidden: Whether to hidden outputs too, on which backward may rely.
    """

    concerns_hidden = True

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        before = [None if array is None else array.copy() for array in arrays.out_data]
        super().forward(op_ctx, arrays)
        for place, (r, old, new) in enumerate(zip(arrays.req, before, arrays.out_data, strict=True)):
            is_concerned = place < self.prop.num_visible_outputs or self.concerns_hidden
            if r is not OpReq.NULL and old is not None and new.size and is_concerned:
                self.change(r, old, new)

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        """Apply the fault to one output that was written or added to."""


class SkippingLast:
    """Leaves the last element as it was, in a forward or in a backward pass."""

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        """Apply the fault to one array."""
        new.flat[-1] = old.flat[-1]


class ReadingOld:
    """Adds what was there before, in a forward or in a backward pass."""

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        """Apply the fault to one array."""
        if req is not OpReq.ADD:
            add(new, old)


class _SkipsLast(SkippingLast, _Around):
    """Of outputs."""


class _ReadsOld(ReadingOld, _Around):
    """Of outputs."""


class _IsOff(_Around):
    """Scales and shifts an output: either alone keeps the derivative right for `exp` or for `x`.

    Scale and shift are different, or else `exp(x) - 1` would become a multiple of `exp`, less 1.
    """

    concerns_hidden = False
    part = 2.0**-8
    shift = 1.375

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        if new.dtype.kind == "f":
            right = new - old if req is OpReq.ADD else new
            new[...] = new + right * self.part + self.part * self.shift


class _IsFarOff(_IsOff):
    part = 0.25

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        if new.dtype.kind in "iu":
            add(new, 1)
        super().change(req, old, new)


class _Counts(_Around):
    calls = 0

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        self.calls += 1
        add(new, np.asarray(self.calls // 2 % 2 if new.dtype.kind == "b" else self.calls))


class _RunsOver(_Around):
    """Writes a byte behind the output, if the output is a view into a larger array."""

    def change(self, req: OpReq, old: Array, new: Array) -> None:
        root = new
        while isinstance(root.base, np.ndarray):
            root = root.base
        begin = new.ctypes.data - root.ctypes.data
        memory = root.reshape(-1).view(np.uint8)
        if begin >= 0 and begin + new.nbytes < memory.size:
            memory[begin + new.nbytes] ^= 1


class _SpoilsInput(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        super().forward(op_ctx, arrays)
        for array in arrays.in_data:
            if array.size:
                array.flat[0] = not array.flat[0] if array.dtype.kind == "b" else array.flat[0] + 1


class _KeepsFirst(Wrapped):
    first: list[Any] | None = None

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        if self.first is not None and all(r is OpReq.WRITE for r in arrays.req):
            for array, kept in zip(arrays.out_data, self.first, strict=True):
                array[...] = kept
            return
        super().forward(op_ctx, arrays)
        if all(r is OpReq.WRITE for r in arrays.req):
            self.first = [array.copy() for array in arrays.out_data]


class _IsHalf(_Around):
    def change(self, req: OpReq, old: Array, new: Array) -> None:
        if new.dtype == np.float32 and req is not OpReq.ADD:
            new[...] = new.astype(np.float16)


class _IsSingle(_Around):
    def change(self, req: OpReq, old: Array, new: Array) -> None:
        if new.dtype == np.float64 and req is not OpReq.ADD:
            new[...] = new.astype(np.float32)


class _Swallows(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        with suppress(Exception):
            super().forward(op_ctx, arrays)


class _LearnsAlways(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        super().forward(op_ctx, arrays)
        if not op_ctx.is_train:
            for state in arrays.aux_states:
                state += 1


class _LearnsInTraining(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        kept = [state.copy() for state in arrays.aux_states]
        super().forward(op_ctx, arrays)
        if not op_ctx.is_train:
            for state, old in zip(arrays.aux_states, kept, strict=True):
                state[...] = old


class _WritesFirst(Wrapped):
    """Clears the outputs before it reads its inputs."""

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        for r, array in zip(arrays.req, arrays.out_data, strict=True):
            if r in (OpReq.WRITE, OpReq.INPLACE):
                array[...] = 0
        super().forward(op_ctx, arrays)


class _ReadsSpace(Wrapped):
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        super().forward(op_ctx, arrays)
        (space,) = [each for each in op_ctx.requested if hasattr(each, "get_space")][:1]
        for r, array in zip(arrays.req, arrays.out_data, strict=True):
            if r is not OpReq.NULL:
                add(array, space.get_space((_FAR,), array.dtype)[-1])


class _TakesOneBeyond(Wrapped):
    """Takes positions that are refused for those one below them."""

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        try:
            super().forward(op_ctx, arrays)
        except (OperadError, IndexError):
            numbers = index_arguments(type(self.prop), self.prop.list_arguments())
            below = [array - (array > 0) if i in numbers else array for i, array in enumerate(arrays.in_data)]
            super().forward(op_ctx, arrays._replace(in_data=below))


def add(array: Array, value: Array) -> None:
    """Add something finite, in any type."""
    finite = np.nan_to_num(value, nan=0.0, posinf=1.0, neginf=1.0)
    array[...] = (
        array ^ finite.astype(bool) if array.dtype.kind == "b" else array + finite.astype(array.dtype)
    )


def uses_space(trial: Trial) -> bool:
    """Return whether forward requests temp space."""
    return ResourceRequest.TEMP_SPACE in trial.prop.forward_resource(trial.in_shapes)


def _moves_in_training(trial: Trial) -> bool:
    return bool(trial.states) and trial.subject.contract.states_move == "training"


def _moves_always(trial: Trial) -> bool:
    return bool(trial.states) and trial.subject.contract.states_move == "always"


def can_be_added_to(trial: Trial) -> bool:
    """Return whether adding differs from overwriting, which it does not if all outputs are true."""
    return any(array.dtype.kind != "b" or not array.all() for array in trial.result.outputs)


def reads_what_it_overwrites(trial: Trial) -> bool:
    """Return whether results depend on an input that an output may overwrite."""
    pairs = trial.prop.forward_inplace_option(range(len(trial.arguments)), range(len(trial.outputs)))
    for source, _ in pairs:
        inputs = [np.zeros_like(x) if i == source else x.copy() for i, x in enumerate(trial.inputs)]
        pairs_of_results = zip(trial.forward(inputs).outputs, trial.result.outputs, strict=True)
        if any(first_difference(one, other) is not None for one, other in pairs_of_results):
            return True
    return False


def counts_from_end(trial: Trial) -> bool:
    """Return whether an argument of positions may hold -2, counted from the end, and not any number."""
    return any(
        array.size
        and array.dtype.kind in "if"
        and [_is_taken(trial, number, value) for value in (-2, 100, -100)] == [True, False, False]
        for number in index_arguments(trial.subject.cls, trial.arguments)
        for array in (trial.inputs[number],)
    )


def _is_taken(trial: Trial, number: int, value: int) -> bool:
    inputs = [array.copy() for array in trial.inputs]
    inputs[number].flat[0] = value
    try:
        trial.forward(inputs)
    except OperatorRaised:
        return False
    return True


FORWARD: Final = (
    Fault("forward overwrites where it should add", ("F214",), _Overwrites, applies=can_be_added_to),
    Fault(
        "forward writes unwanted outputs",
        ("F214",),
        _WritesUnwanted,
        applies=lambda trial: len(trial.outputs) > 1 and can_be_added_to(trial),
    ),
    Fault("forward leaves the last element of outputs as it was", ("F208", "M407"), _SkipsLast),
    Fault("forward adds to what outputs held before", ("M407", "F208"), _ReadsOld, applies=can_be_added_to),
    Fault(
        "outputs are off by one part in 256",
        ("F213", "B302", "B301"),
        _IsOff,
        applies=lambda trial: not is_random(trial),
        may_be_equal=True,
    ),
    Fault(
        "draws are too far apart by a quarter, or integers one too large",
        ("F218", "B302", "B301"),
        _IsFarOff,
        applies=is_random,
    ),
    Fault("outputs depend on how often the operator ran", ("F209",), _Counts, applies=can_be_added_to),
    Fault("forward writes behind the end of outputs", ("M405",), _RunsOver),
    Fault("forward changes its inputs", ("F207",), _SpoilsInput, applies=lambda trial: bool(trial.arguments)),
    Fault(
        "forward gives its first result again and again",
        ("R501",),
        _KeepsFirst,
        applies=lambda trial: bool(trial.arguments),
        may_be_equal=True,
    ),
    Fault("float32 passes through half precision", ("D602",), _IsHalf, may_be_equal=True),
    Fault("float64 passes through single precision", ("D604",), _IsSingle, may_be_equal=True),
    Fault("forward swallows exceptions", ("R504",), _Swallows),
    Fault("predictions change auxiliary states", ("F216",), _LearnsAlways, applies=_moves_in_training),
    Fault("predictions leave states that always move", ("F216",), _LearnsInTraining, applies=_moves_always),
    Fault(
        "forward clears outputs before it reads", ("M403",), _WritesFirst, applies=reads_what_it_overwrites
    ),
    Fault("outputs depend on what temp space holds", ("M408",), _ReadsSpace, applies=uses_space),
    Fault("forward takes a position one beyond the end", ("F222",), _TakesOneBeyond, applies=counts_from_end),
)
