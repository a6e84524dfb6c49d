"""Group M: guard bytes around arrays and temp spaces."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, final

import numpy as np
import numpy.typing as npt

from operad.operator import OpReq
from operad.resource import ResourceRequest
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.bitwise import expect_same
from operad_check.running.register import Evidence, check
from operad_check.trials.resources import SPACE_FILL, resources_for
from operad_check.trials.trial import POISON, Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

GUARD_BYTES = 256
"""Bytes before and after each array that no operator may write."""

_PATTERNS = (0xFF, 0x3C)
"""A NaN, and a small number, in every floating type."""


@final
class GuardedArray:
    """An array with guard bytes on both sides."""

    def __init__(self, shape: Sequence[int], dtype: Any, pattern: int) -> None:
        size_bytes = prod(shape) * np.dtype(dtype).itemsize
        self._memory = np.full(size_bytes + 2 * GUARD_BYTES, pattern, np.uint8)
        self._pattern = pattern
        self._inside = self._memory[GUARD_BYTES : GUARD_BYTES + size_bytes]
        self.array: Array = self._inside.view(dtype).reshape(tuple(shape))

    def damage(self) -> str | None:
        """Distance of a changed guard byte from the array, in words; None if all guard bytes are intact."""
        for side, guard in (("before", self._memory[:GUARD_BYTES]), ("after", self._memory[-GUARD_BYTES:])):
            touched = np.flatnonzero(guard != self._pattern)
            if touched.size:
                place = GUARD_BYTES - int(touched[-1]) - 1 if side == "before" else int(touched[0])
                return f"{place} bytes {side} it"
        return None


@check("M405", ORDINARY, LARGE)
def around_arrays(trial: Trial) -> Evidence:
    """Check that neither pass writes outside its arrays, or depends on the memory there."""
    when = "with other values beside the arrays"
    first, second = [_guarded_forward(trial, pattern) for pattern in _PATTERNS]
    compared = expect_same(trial.outputs, second, first, when)
    req = trial.write_requests()
    if any(r is not OpReq.NULL for r in req):
        names = [f"gradient of {name}" for name in trial.arguments]
        first, second = [_guarded_backward(trial, req, pattern) for pattern in _PATTERNS]
        compared += expect_same(names, second, first, when)
    return compared


def _guarded_forward(trial: Trial, pattern: int) -> list[Any]:
    inputs = [_guarded_copy(array, pattern) for array in trial.inputs]
    outputs = [GuardedArray(array.shape, array.dtype, pattern) for array in trial.poisoned_outputs()]
    aux = [_guarded_copy(array, pattern) for array in trial.aux]
    for output in outputs:
        output.array[...] = np.nan if output.array.dtype.kind == "f" else POISON
    arrays = [[guarded.array for guarded in group] for group in (inputs, outputs, aux)]
    trial.forward(arrays[0], outputs=arrays[1], aux=arrays[2])
    names = [*trial.arguments, *trial.outputs, *trial.states]
    _expect_intact("forward", names, [*inputs, *outputs, *aux])
    return arrays[1]


def _guarded_backward(trial: Trial, req: Sequence[OpReq], pattern: int) -> list[Any]:
    guarded: list[GuardedArray] = []
    names: list[str] = []

    def keep(entry: Any, array: Array) -> Array:
        names.append(f"{entry.kind} {entry.index}")
        guarded.append(_guarded_copy(array, pattern))
        return guarded[-1].array

    grads: list[Any] = [None] * len(req)
    for place, r in enumerate(req):
        if r is not OpReq.NULL:
            names.append(f"gradient of {trial.arguments[place]}")
            guarded.append(GuardedArray(trial.in_shapes[place], trial.in_types[place], pattern))
            grads[place] = guarded[-1].array
    trial.backward(req=req, in_grads=grads, keep=keep)
    _expect_intact("backward", names, guarded)
    return grads


def _guarded_copy(array: Array, pattern: int) -> GuardedArray:
    guarded = GuardedArray(array.shape, array.dtype, pattern)
    guarded.array[...] = array
    return guarded


def _expect_intact(where: str, names: Sequence[str], arrays: Sequence[GuardedArray]) -> None:
    for name, guarded in zip(names, arrays, strict=True):
        damage = guarded.damage()
        if damage is not None:
            raise Violation(
                f"{where} writes outside {name} {guarded.array.dtype.name}{guarded.array.shape}: {damage}"
            )


@final
class GuardedSpace:
    """Temp space as executors provide it: one memory for all calls, here between guard bytes.

    Args:
        fill: The byte that the space holds at first.
        is_shared: Whether all calls give the same memory.
    """

    def __init__(self, fill: int, is_shared: bool = True) -> None:
        self._fill = fill
        self._is_shared = is_shared
        self.arrays: list[GuardedArray] = []
        self.calls = 0

    def get_space(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """The memory of the space, as an array."""
        self.calls += 1
        size_bytes = prod(shape) * np.dtype(dtype).itemsize
        # invariant: the space in use is the last array; earlier ones were too small, or are not shared
        if not (self._is_shared and self.arrays and self.arrays[-1].array.size >= size_bytes):
            self.arrays.append(GuardedArray((size_bytes,), np.uint8, 0xA5))
            self.arrays[-1].array[...] = self._fill
        memory: npt.NDArray[np.uint8] = self.arrays[-1].array[:size_bytes]
        space: Array = memory.view(dtype).reshape(shape)
        return space

    def overwrite(self) -> None:
        """Write over the whole space, as the next operator would."""
        for guarded in self.arrays:
            guarded.array[...] = self._fill


@final
class _Spaces:
    """The resources of one pass, with guarded temp spaces."""

    def __init__(self, trial: Trial, requests: Sequence[ResourceRequest], fill: int, is_shared: bool) -> None:
        self.all = list(resources_for(requests, trial.case.seed))
        self.spaces: list[GuardedSpace] = []
        for place, request in enumerate(requests):
            if request is ResourceRequest.TEMP_SPACE:
                self.spaces.append(GuardedSpace(fill, is_shared))
                self.all[place] = self.spaces[-1]


def _run(trial: Trial, fill: int, is_shared: bool) -> tuple[list[Any], list[Any], list[GuardedSpace]]:
    """Run both passes of a new operator, its space overwritten in between: outputs, gradients, spaces."""
    operator = trial.new_operator()
    forward = _Spaces(trial, trial.prop.forward_resource(trial.in_shapes), fill, is_shared)
    result = trial.forward(operator=operator, resources=forward.all)
    for space in forward.spaces:
        space.overwrite()
    if not any(trial.differentiable()):
        return result.outputs, [], forward.spaces
    backward = _Spaces(trial, trial.prop.backward_resource(trial.in_shapes), fill, is_shared)
    gradients = trial.backward(
        operator=operator, outputs=result.outputs, aux=result.aux, resources=backward.all
    )
    return result.outputs, gradients, [*forward.spaces, *backward.spaces]


def _requests_space(trial: Trial) -> bool:
    requests = [*trial.prop.forward_resource(trial.in_shapes), *trial.prop.backward_resource(trial.in_shapes)]
    return ResourceRequest.TEMP_SPACE in requests


def _same(trial: Trial, found: Any, expected: Any, when: str) -> int:
    names = [f"gradient of {name}" for name in trial.arguments]
    compared = expect_same(trial.outputs, found[0], expected[0], when)
    return compared + (expect_same(names, found[1], expected[1], when) if expected[1] else 0)


@check("M406", ORDINARY)
def around_temp_spaces(trial: Trial) -> Evidence:
    """Check that nothing outside temp spaces is written, and that calls on one request may share memory."""
    if not _requests_space(trial):
        return None
    apart = _run(trial, SPACE_FILL, is_shared=False)
    shared = _run(trial, SPACE_FILL, is_shared=True)
    for space in [*apart[2], *shared[2]]:
        for guarded in space.arrays:
            damage = guarded.damage()
            if damage is not None:
                raise Violation(
                    f"the temp space of {guarded.array.size} bytes is overrun: {damage} is written"
                )
    compared = _same(trial, shared, apart, "where all temp spaces of a request are one memory, as they are")
    return compared if any(space.calls for space in shared[2]) else 0


@check("M408", ORDINARY)
def old_contents_of_temp_space(trial: Trial) -> Evidence:
    """Check that results depend on no contents of a temp space before a pass or after it."""
    if not _requests_space(trial):
        return None
    expected = _run(trial, SPACE_FILL, is_shared=True)
    when = "with other contents of the temp space"
    compared = 0
    for fill in (0x00, 0x3C):
        try:
            found = _run(trial, fill, is_shared=True)
        except OperatorRaised as error:
            raise Violation(f"{when}, {error}") from error
        compared += _same(trial, found, expected, when)
    return compared if any(space.calls for space in expected[2]) else 0
