"""Group M: guard bytes around arrays and temp spaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from operad.operator import OpReq
from operad.resource import ResourceRequest
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.running.variation import GRADIENTS, OUTPUTS, Runs, Values, Variant, variation
from operad_check.trials.resources import SPACE_FILL, resources_for
from operad_check.trials.trial import POISON, Array, Forward, Trial
from operad_check.trials.violation import Violation

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


@variation("M405", ORDINARY, LARGE, values=OUTPUTS)
def around_arrays(trial: Trial) -> Runs:
    """Nothing outside the arrays is written, or affects the result.

    Other arrays lie next to every array. A kernel that writes past the end corrupts them, and nobody looks
    for the fault there.

    Broken by:
        for i in range(0, size, 8): store8(output + i, ...)    # size is no multiple of 8
    Not run:
        Native code.
    Fix:
        Bound every loop by the size of the array itself, the last block too.
    How:
        Check that neither pass writes outside its arrays, or depends on the memory there.
    """
    when = "with other values beside the arrays"
    first, second = (partial(_guarded_forward, trial, pattern) for pattern in _PATTERNS)
    yield Variant(when, second, expected=first().outputs)
    if any(trial.differentiable()):
        before, after = (partial(_guarded_backward, trial, pattern) for pattern in _PATTERNS)
        yield Variant(when, after, GRADIENTS, expected=before())
    return None


def _guarded_forward(trial: Trial, pattern: int) -> Forward:
    inputs = [_guarded_copy(array, pattern) for array in trial.inputs]
    outputs = [GuardedArray(array.shape, array.dtype, pattern) for array in trial.poisoned_outputs()]
    aux = [_guarded_copy(array, pattern) for array in trial.aux]
    for output in outputs:
        output.array[...] = np.nan if output.array.dtype.kind == "f" else POISON
    arrays = [[guarded.array for guarded in group] for group in (inputs, outputs, aux)]
    result = trial.forward(arrays[0], outputs=arrays[1], aux=arrays[2])
    names = [*trial.arguments, *trial.outputs, *trial.states]
    _expect_intact("forward", names, [*inputs, *outputs, *aux])
    return result


def _guarded_backward(trial: Trial, pattern: int) -> list[Any]:
    req = trial.write_requests()
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


class _Passes(NamedTuple):
    """Outputs, then gradients or None for each; and the temp spaces."""

    arrays: list[Any]
    spaces: list[GuardedSpace]


_BOTH: Final = Values(
    "outputs and gradients", lambda t: [*t.outputs, *t.gradient_names], lambda t: [], lambda run: run.arrays
)


def _run(trial: Trial, fill: int, is_shared: bool) -> _Passes:
    """Run both passes of a new operator, its space overwritten in between."""
    operator = trial.new_operator()
    forward = _Spaces(trial, trial.prop.forward_resource(trial.in_shapes), fill, is_shared)
    result = trial.forward(operator=operator, resources=forward.all)
    for space in forward.spaces:
        space.overwrite()
    backward = _Spaces(trial, trial.prop.backward_resource(trial.in_shapes), fill, is_shared)
    gradients = trial.any_gradients(
        operator=operator, outputs=result.outputs, aux=result.aux, resources=backward.all
    )
    return _Passes([*result.outputs, *gradients], [*forward.spaces, *backward.spaces])


def _requests_space(trial: Trial) -> bool:
    requests = [*trial.prop.forward_resource(trial.in_shapes), *trial.prop.backward_resource(trial.in_shapes)]
    return ResourceRequest.TEMP_SPACE in requests


@variation("M406", ORDINARY, values=_BOTH)
def around_temp_spaces(trial: Trial) -> Runs:
    """Nothing outside a temp space is written, and several spaces of one request share memory.

    Temp space is handed from operator to operator. Asking a resource twice gives the same memory twice.

    Broken by:
        a = op_ctx.requested[0].get_space(shape, dtype)
        b = op_ctx.requested[0].get_space(shape, dtype)    # which is a
    Not run:
        What is done with the two decides.
    Fix:
        Ask once and split the space, or request TEMP_SPACE twice.
    How:
        Check that nothing outside temp spaces is written, and that calls on one request may share memory.
    """
    if not _requests_space(trial):
        return None
    apart = _run(trial, SPACE_FILL, is_shared=False)
    shared = _run(trial, SPACE_FILL, is_shared=True)
    for space in [*apart.spaces, *shared.spaces]:
        for guarded in space.arrays:
            damage = guarded.damage()
            if damage is not None:
                raise Violation(
                    f"the temp space of {guarded.array.size} bytes is overrun: {damage} is written"
                )
    when = "where all temp spaces of a request are one memory, as they are"
    compared = yield Variant(when, lambda: shared, expected=apart.arrays)
    return compared if any(space.calls for space in shared.spaces) else 0


@variation("M408", ORDINARY, values=_BOTH)
def old_contents_of_temp_space(trial: Trial) -> Runs:
    """Results do not depend on what temp space held before, nor on what it holds after the call.

    It is scratch: other operators use it between two calls.

    Broken by:
        scratch = op_ctx.requested[0].get_space(shape, dtype)
        scratch += data    # += to what?
    Within:
        spec = "data:(*S) -> output:(*S)"
        resource = ResourceRequest.TEMP_SPACE
        accepts = "floating"
        def forward(op_ctx, data):
            shape, dtype = data.shape, data.dtype
            HERE
            return scratch
    Fix:
        Write it before reading it; what backward needs from forward is an output, hidden if need be.
    How:
        Check that results depend on no contents of a temp space before a pass or after it.
    """
    if not _requests_space(trial):
        return None
    plain = _run(trial, SPACE_FILL, is_shared=True)
    compared = 0
    for fill in (0x00, 0x3C):
        run = partial(_run, trial, fill, is_shared=True)
        compared += yield Variant("with other contents of the temp space", run, expected=plain.arrays)
    return compared if any(space.calls for space in plain.spaces) else 0
