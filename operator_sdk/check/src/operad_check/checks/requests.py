"""Groups F and B: every mixture of requests, and every way to call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, Final

import numpy as np

from operad.operator import OpReq
from operad_check.cases.kinds import LARGE, ORDINARY, WIDE
from operad_check.cases.retype import retyped
from operad_check.comparison.bitwise import expect_same
from operad_check.comparison.closeness import expect_close, scale_of, tolerance
from operad_check.comparison.trusted import beside_each_other
from operad_check.running.register import Evidence, check
from operad_check.trials.trial import Array, CallStyle, Trial, poisoned
from operad_check.trials.violation import OperatorRaised, Violation

_MOST: Final = 12
"""Mixtures that are tried in one case."""

REQUESTS: Final = (OpReq.WRITE, OpReq.ADD, OpReq.NULL)


def mixtures(trial: Trial, open_places: Sequence[bool]) -> Iterator[tuple[OpReq, ...]]:
    """Mixtures of requests, one request per place: NULL where a place is not open; `_MOST` at most."""
    options = [REQUESTS if is_open else (OpReq.NULL,) for is_open in open_places]
    is_everything = len(REQUESTS) ** sum(open_places) <= _MOST
    rng = np.random.default_rng(trial.case.seed)
    uniform = [tuple(r if o else OpReq.NULL for o in open_places) for r in (OpReq.WRITE, OpReq.ADD)]
    drawn = (tuple(each[rng.integers(len(each))] for each in options) for _ in range(_MOST - len(uniform)))
    every = product(*options) if is_everything else chain(uniform, drawn)
    yield from dict.fromkeys(req for req in every if any(r is not OpReq.NULL for r in req))


@check("F214", ORDINARY, LARGE)
def forward_requests(trial: Trial) -> Evidence:
    """Check that each mixture of requests gives what writing every output gives."""
    trial.expect_repeatable()
    count = len(trial.outputs)
    compared = _forward_requests(trial, mixtures(trial, [True] * count))
    half = _in_half(trial)
    return compared + (_forward_requests(half, [(OpReq.ADD,) * count]) if half is not None else 0)


def _in_half(trial: Trial) -> Trial | None:
    """The trial in half precision, in which operators add by code of its own; None where it does not run."""
    if all(dtype.kind != "f" or dtype.itemsize == 2 for dtype in trial.in_types):
        return None
    made = retyped(trial, np.dtype(np.float16))
    if made is None or not made.is_runnable:
        return None
    return made if all(np.isfinite(array).all() for array in made.result.outputs) else None


def _forward_requests(trial: Trial, requests: Iterable[tuple[OpReq, ...]]) -> int:
    expected = trial.result.outputs
    compared = 0
    for req in requests:
        bases = [_base(trial, array, salt) for salt, array in enumerate(expected)]
        poison = trial.poisoned_outputs()
        for absent in (None, True) if OpReq.NULL in req else (True,):
            outputs = [_target(r, b.copy(), p, absent) for r, b, p in zip(req, bases, poison, strict=True)]
            found = trial.forward(outputs=outputs, req=req).outputs
            promised = [
                None if want is None and one is not None else base
                for want, one, base in zip(trial.written(found), found, bases, strict=True)
            ]
            compared += _expect_requested(trial, trial.outputs, req, found, promised, expected)
    return compared


@check("B305", WIDE, LARGE)
def backward_requests(trial: Trial) -> Evidence:
    """Check that each mixture of requests gives what writing every gradient gives."""
    flows = trial.differentiable()
    if not any(flows):
        return None
    compared = _backward_requests(trial, mixtures(trial, flows))
    half = _in_half(trial)
    if half is not None and any(half.differentiable()):
        added = tuple(OpReq.ADD if flow else OpReq.NULL for flow in half.differentiable())
        compared["add"] += _backward_requests(half, [added])["add"]
    return compared


def _backward_requests(trial: Trial, requests: Iterable[tuple[OpReq, ...]]) -> dict[str, int]:
    expected = trial.backward()
    names = [f"gradient of {name}" for name in trial.arguments]
    bases = [None if e is None else _base(trial, e, salt) for salt, e in enumerate(expected)]
    compared = dict.fromkeys(("write", "add"), 0)
    for req in requests:
        for prepared in (False, True):
            targets = [
                None if base is None or r is OpReq.NULL else _target(r, base.copy(), _nan(base), True)
                for r, base in zip(req, bases, strict=True)
            ]
            _backward(trial, req, targets, prepared)
            count = _expect_requested(trial, names, req, targets, bases, expected)
        for word, request in (("write", OpReq.WRITE), ("add", OpReq.ADD)):
            compared[word] += count if request in req else 0
    return compared


def _backward(trial: Trial, req: Sequence[OpReq], targets: Sequence[Any], prepared: bool) -> None:
    """Run backward; raise Violation if it raises for these requests, as it did not for others."""
    try:
        trial.backward(req=req, in_grads=targets, prepared=prepared)
    except OperatorRaised as error:
        words = ", ".join(r.name.lower() for r in req)
        raise Violation(f"for requests ({words}), {error}") from error


def _expect_requested(
    trial: Trial, names: Sequence[str], req: Sequence[OpReq], found: Sequence[Any], bases: Any, expected: Any
) -> int:
    compared = 0
    words = ", ".join(r.name.lower() for r in req)
    for name, r, one, base, want in zip(names, req, found, bases, expected, strict=True):
        if base is None and want is not None:
            continue  # nothing is promised of it
        if r is OpReq.NULL or one is None:
            _expect_untouched(name, one, words)
            continue
        added = want + base if r is OpReq.ADD else want
        if want.dtype.kind != "f":
            compared += expect_same([name], [one], [added.astype(want.dtype)], f"for requests ({words})")
            continue
        bounds = tolerance(trial.subject.contract, want.dtype)
        scale = scale_of(trial, [want, base], trial.inputs)
        compared += expect_close([name], [one], [added], f"for requests ({words})", bounds, scale)
    return compared


def _expect_untouched(name: str, array: Array | None, words: str) -> None:
    if array is not None and not np.array_equal(array, _nan(array), equal_nan=array.dtype.kind == "f"):
        raise Violation(f"{name} is written, and nothing is wanted of it (requests {words})")


def _target(req: OpReq, base: Array, poison: Array, absent: Any) -> Any:
    if req is OpReq.ADD:
        return base
    return None if req is OpReq.NULL and absent else poison


def _base(trial: Trial, like: Array, salt: int) -> Array:
    if like.dtype.kind == "b":  # what is not overwritten shows where it is true
        return np.asarray(trial.lattice(like.shape, np.float64, 100 + salt) > 0)
    return np.asarray(np.abs(trial.lattice(like.shape, np.float64, 100 + salt) * 8), like.dtype)


def _nan(like: Array) -> Array:
    return poisoned(like.shape, like.dtype)


@check("F215", ORDINARY, LARGE)
def ways_to_call(trial: Trial) -> Evidence:
    """Compare the call by templates, and the direct call, with the plain one."""
    trial.expect_repeatable()
    compared = 0
    exact = not trial.subject.contract.nondeterministic
    found = {
        "by forward_templates": trial.forward(call=CallStyle.PREPARED).outputs,
    }
    if trial.operator.direct is not None:
        found["by direct"] = trial.forward(call=CallStyle.DIRECT).outputs
    for when, outputs in found.items():
        compared += expect_same(trial.outputs, outputs, trial.result.outputs, when, is_exact=exact)
    return compared


@check("F216", ORDINARY)
def states(trial: Trial) -> Evidence:
    """Check that only training changes auxiliary states, and that it changes each one in some case.

    A state that the reference gives may stay as it is, for F213 compares it. Where states move always, both
    modes have to move them alike.
    """
    if not trial.states:
        return None
    found, trained = trial.forward(is_train=False).aux, trial.forward(is_train=True).aux
    if trial.subject.contract.states_move == "always":
        compared = expect_same(trial.states, found, trained, "after forward in prediction beside training")
    else:
        compared = expect_same(trial.states, found, trial.aux, "after forward in prediction")
    known = _compared_by_reference(trial)
    changes = {
        f"a change of {name} in training": int(name in known or not np.array_equal(before, after))
        for name, before, after in zip(trial.states, trial.aux, trained, strict=True)
    }
    if any(trial.differentiable()):
        aux = [array.copy() for array in trial.result.aux]
        trial.backward(aux=aux)
        compared += expect_same(trial.states, aux, trial.result.aux, "after backward")
    return {"compared": compared, **changes}


def _compared_by_reference(trial: Trial) -> list[str]:
    """Outputs and states that the reference gives."""
    function = trial.subject.contract.reference
    try:
        return [] if function is None else beside_each_other(trial, function)[0]
    except Violation:
        return []  # F213 reports it
