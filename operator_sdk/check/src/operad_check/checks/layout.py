"""Group F: strides that are not those of a block of memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from operad.operator import BackwardEntry
from operad_check.cases.kinds import LARGE, ORDINARY, PARTS
from operad_check.running.variation import GRADIENTS, RESULTS, Runs, Variant, variation, within_rounding
from operad_check.trials.trial import Array, Trial

View = Callable[[Array], Array]


@variation("F211", ORDINARY, LARGE, PARTS, values=RESULTS, compare=within_rounding)
def layouts(trial: Trial) -> Runs:
    """The memory layout of inputs and outputs does not matter.

    Slices and transposes are views: their elements are not side by side, or run backwards.

    Broken by:
        def forward(data, output): native.kernel(data.ctypes.data, output.ctypes.data, data.size)
    Not run:
        Native code.
    Fix:
        Use strides, or make a contiguous copy first: np.ascontiguousarray.
    How:
        Check that arrays with other strides, read or written by either pass, give the same.
    """
    trial.expect_repeatable()
    assert trial.result  # what fails on plain arrays is another check's
    is_varied = False
    for word, view in (("transposed", _transposed), ("reversed", _reversed), ("strided", _strided)):
        inputs, outputs, aux = (
            list(map(view, a)) for a in (trial.inputs, trial.poisoned_outputs(), trial.aux)
        )
        if all(array.flags.c_contiguous for array in [*inputs, *outputs, *aux]):
            continue
        is_varied = True
        yield Variant(f"with {word} arrays", partial(trial.forward, inputs, aux=aux))
        yield Variant(f"written into {word} arrays", partial(trial.forward, outputs=outputs))
        if trial.is_runnable and any(trial.differentiable()):
            plain = trial.poisoned_gradients(trial.write_requests())
            into = [None if array is None else view(array) for array in plain]
            viewed = partial(trial.backward, keep=partial(_viewed, view))
            yield Variant(f"from {word} arrays", viewed, GRADIENTS)
            yield Variant(f"written into {word} arrays", partial(trial.backward, in_grads=into), GRADIENTS)
    has_axes = any(array.ndim for array in [*trial.inputs, *trial.result.outputs, *trial.aux])
    return 0 if has_axes and not is_varied else None


def _viewed(view: View, entry: BackwardEntry, array: Array) -> Array:
    return view(array)


def _transposed(array: Array) -> Array:
    view: Array = np.empty(array.shape[::-1], array.dtype).T
    view[...] = array
    return view


def _reversed(array: Array) -> Array:
    # with the ellipsis, no axes give an array without axes and not a number
    backwards: tuple[Any, ...] = (..., *(slice(None, None, -1),) * array.ndim)
    return np.asarray(array[backwards].copy()[backwards])


def _strided(array: Array) -> Array:
    if not array.ndim:
        return array.copy()
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1] + 1), 7, array.dtype)
    view: Array = wide[..., 1::2]
    view[...] = array
    return view
