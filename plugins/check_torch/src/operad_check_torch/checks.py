"""Checks of what only PyTorch has: automatic casting, `out=`, memory formats, threads.

PyTorch is imported by the functions: `operad explain` reads their docstrings where it is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad_check.cases.kinds import BULK, LARGE, ORDINARY
from operad_check.comparison.closeness import at, first_place, magnitude
from operad_check.foreign.transforms import (
    arrays_of,
    expect_same_results,
    function_in,
    outputs_of,
    run_otherwise,
)
from operad_check.register import Evidence, library_check
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation

if TYPE_CHECKING:
    import torch

_THREADS: Final = 4


@library_check("L905", ORDINARY)
def automatic_casting(trial: Trial) -> Evidence:
    """Autocast keeps shapes, and gradients have the types of their arguments.

    A function that mixes types raises only when somebody turns it on.

    Broken by:
        torch.add(x @ w, b, out=b)    # the product is bfloat16, and b is not
    Fix:
        Cast what is mixed, or list the function among those that stay in float32.
    How:
        Run both passes under autocast; shapes stay, and gradients have the types of their arguments.
    """
    import torch  # noqa: PLC0415 - see above

    if any(array.dtype != np.float32 for array in trial.inputs if array.dtype.kind == "f"):
        return None
    if not any(array.dtype.kind == "f" for array in trial.inputs) or not trial.is_runnable:
        return None
    function, tensors = function_in(trial), arrays_of(trial)
    leaves = [t.requires_grad_() if t.is_floating_point() else t for t in tensors]

    def run() -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.enable_grad():
            return function.call(*leaves)

    when = "under autocast"
    found = run_otherwise(trial, run, when, may_refuse=False)
    scale = magnitude(trial.inputs, trial.result.outputs)
    for name, one, other in zip(trial.outputs, outputs_of(trial, found), trial.result.outputs, strict=True):
        if one.shape != other.shape:
            raise Violation(f"{name} has shape {one.shape} {when}, expected {other.shape}")
    several = found if isinstance(found, (tuple, list)) else (found,)
    pairs = [one for one in several if isinstance(one, torch.Tensor) and one.requires_grad]
    if not pairs or not np.isfinite(scale):
        return 1
    wanted = [t for t in leaves if t.requires_grad]
    pulled = run_otherwise(
        trial,
        lambda: torch.autograd.grad(pairs, wanted, [torch.ones_like(p) for p in pairs], allow_unused=True),
        f"for gradients {when}",
        may_refuse=False,
    )
    for gradient, leaf in zip(pulled, wanted, strict=True):
        if gradient is not None and gradient.dtype != leaf.dtype:
            raise Violation(f"a gradient is {gradient.dtype} {when}, expected {leaf.dtype}")
    return len(pairs) + len(wanted)


@library_check("L906", ORDINARY)
def into_out(trial: Trial) -> Evidence:
    """With out= the result is the same, and is in the array that was given.

    Code that keeps its memory calls functions so, and never sees the other result.

    Broken by:
        def scale(x, out=None): return x * 2    # and leaves out as it was
    Fix:
        Fill the array and return it; refuse one of another type.
    How:
        Compare the result with that of a call with `out=`, where the function takes it.
    """
    import torch  # noqa: PLC0415 - see above

    function = function_in(trial)
    if len(function.outputs) != 1 or not function.expression.endswith(")") or not trial.result:
        return None
    text = f"{function.expression[:-1].rstrip(', ')}, out=out)"
    try:
        call = eval(f"lambda out, {', '.join(function.arguments)}: {text}", dict(function.call.__globals__))  # noqa: S307 - the user's own expression
    except SyntaxError:
        return None
    tensors = arrays_of(trial)
    expected = trial.result.outputs[0]
    compared = 0
    for out in _targets(expected):
        with torch.no_grad():
            found = run_otherwise(trial, lambda: call(out, *tensors), "with out=")  # noqa: B023 - called at once
        if found is None:
            return None
        if not isinstance(found, torch.Tensor):
            return None
        when = "with out=" if out.is_contiguous() else "with out= a tensor of other strides"
        compared += expect_same_results(trial, out, when) + expect_same_results(trial, found, when)
    return compared


def _targets(like: Any) -> Iterator[torch.Tensor]:
    import torch  # noqa: PLC0415 - see above

    poison = np.nan if like.dtype.kind == "f" else 113
    yield torch.from_numpy(np.full(like.shape, poison, like.dtype))
    yield torch.from_numpy(np.full(like.shape[::-1], poison, like.dtype).T)


@library_check("L907", ORDINARY, LARGE)
def memory_formats(trial: Trial) -> Evidence:
    """Neither channels last nor gradients of the output that are expanded change anything.

    A mean hands its gradient on as one number, repeated; images lie in memory by channels or by pixels. A
    kernel that walks through memory by itself reads what is not there.

    Broken by:
        kernel(grad.data_ptr(), grad.numel())    # of a gradient that is one number
    Fix:
        Call contiguous() where a kernel wants a block, or pass strides to it.
    How:
        Compare gradients for an expanded head gradient, and both passes for tensors with channels last.
    """
    import torch  # noqa: PLC0415 - see above

    function = function_in(trial)
    if not trial.is_runnable:
        return None
    compared = 0
    if any(trial.differentiable()):
        compared += _expanded_heads(trial)
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    tensors = arrays_of(trial)
    last = [t.contiguous(memory_format=formats[t.ndim]) if t.ndim in formats else t for t in tensors]
    if any(not t.is_contiguous() for t in last):
        with torch.no_grad():
            found = run_otherwise(trial, lambda: function.call(*last), "with channels last")
        if found is not None:
            compared += expect_same_results(trial, found, "with channels last")
    return compared or None


def _expanded_heads(trial: Trial) -> int:
    heads = [None if h is None or h.dtype.kind != "f" or not h.size else h for h in trial.out_grads]
    if not any(head is not None for head in heads):
        return 0
    repeated = [h if h is None else np.broadcast_to(np.asarray(1.5, h.dtype), h.shape) for h in heads]
    whole = [h if h is None else np.array(h) for h in repeated]
    expected = trial.backward(whole)
    found = trial.backward(repeated, keep=lambda entry, array: array)
    scale = max(1.0, magnitude(expected))
    compared = 0
    for name, one, other in zip(trial.arguments, found, expected, strict=True):
        if one is None:
            continue
        limit = 64 * float(np.finfo(one.dtype).eps) * scale
        with np.errstate(all="ignore"):
            far = ~((np.abs(one - other) <= limit) | (one == other) | (np.isnan(one) & np.isnan(other)))
        if (place := first_place(far)) is not None:
            raise Violation(
                f"gradient of {at(name, place)} is {float(one[place])!r} for an expanded gradient "
                f"of the output, expected {float(other[place])!r}"
            )
        compared += one.size
    return compared


@library_check("L910", LARGE, BULK)
def threads(trial: Trial) -> Evidence:
    """One thread and several give the same, within a tolerance.

    Parts of an array are summed by several threads, and one of them may be left out.

    Broken by:
        parallel_for(0, n, grain)    # with a total that all of them add to
    Fix:
        Give each thread a total of its own.
    How:
        Compare results of several threads with those of one.
    """
    import torch  # noqa: PLC0415 - see above

    if not trial.is_runnable or not any(array.size for array in trial.inputs):
        return None
    function = function_in(trial)
    before = torch.get_num_threads()
    found = []
    try:
        for count in (1, _THREADS):
            torch.set_num_threads(count)
            with torch.no_grad():
                found.append(run_otherwise(trial, lambda: function.call(*arrays_of(trial)), "again"))
    finally:
        torch.set_num_threads(before)
    when = f"with {_THREADS} threads"
    return None if found[1] is None else expect_same_results(trial, found[1], when)


OWN: Final = (automatic_casting, into_out, memory_formats, threads)
