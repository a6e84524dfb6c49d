"""Groups F and B: every mixture of requests, and every way to call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, Final, NamedTuple

import numpy as np

from operad.operator import OpReq
from operad_check.cases.kinds import LARGE, ORDINARY, WIDE
from operad_check.cases.retype import retyped
from operad_check.comparison.bitwise import expect_same
from operad_check.comparison.closeness import expect_close, scale_of, tolerance
from operad_check.comparison.trusted import beside_each_other
from operad_check.running.variation import GRADIENTS, OUTPUTS, STATES, Comparison, Runs, Variant, variation
from operad_check.trials.trial import Array, CallStyle, Trial, poisoned
from operad_check.trials.violation import Violation

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


class _Wanted(NamedTuple):
    """A request; contents that are added to, None where nothing is promised; and what is written else."""

    request: OpReq
    base: Any
    plain: Any


def _words(req: Sequence[OpReq]) -> str:
    return f"for requests ({', '.join(r.name.lower() for r in req)})"


def _as_requested(run: Comparison) -> int:
    """Compare with what the requests make of the plain results; sums within a tolerance."""
    compared = 0
    for name, one, wanted in zip(*run.arrays[:3], strict=True):
        req, base, plain = wanted
        if base is None and plain is not None:
            continue
        if req is OpReq.NULL or one is None:
            _expect_untouched(name, one, run.when)
            continue
        added = plain + base if req is OpReq.ADD else plain
        if plain.dtype.kind != "f":
            compared += expect_same([name], [one], [added.astype(plain.dtype)], run.when)
            continue
        bounds = tolerance(run.trial.subject.contract, plain.dtype)
        scale = scale_of(run.trial, [plain, base], run.trial.inputs)
        compared += expect_close([name], [one], [added], run.when, bounds, scale)
    return compared


@variation("F214", ORDINARY, LARGE, values=OUTPUTS, compare=_as_requested)
def forward_requests(trial: Trial) -> Runs:
    """Each output is written, added to or skipped, as requested.

    Executors ask for `add` where gradients meet and for `null` where nothing reads an output.

    Broken by:
        def forward(self, op_ctx, arrays):
            arrays.out_data[0][...] = np.exp(arrays.in_data[0])
    Within:
        class Late(Made):
            HERE
        class Example(LongForm):
            made = Late
    Fix:
        Leave requests to the toolkit: return the output, or fill it. In a long form, write through
        operad.operator.assign.
    How:
        Check that each mixture of requests gives what writing every output gives.
    """
    trial.expect_repeatable()
    count = len(trial.outputs)
    yield from _forward_requests(trial, mixtures(trial, [True] * count))
    half = _in_half(trial)
    if half is not None:
        yield from _forward_requests(half, [(OpReq.ADD,) * count])
    return None


def _in_half(trial: Trial) -> Trial | None:
    """The trial in half precision, in which operators add by code of its own; None where it does not run."""
    if all(dtype.kind != "f" or dtype.itemsize == 2 for dtype in trial.in_types):
        return None
    made = retyped(trial, np.dtype(np.float16))
    if made is None or not made.is_runnable:
        return None
    return made if all(np.isfinite(array).all() for array in made.result.outputs) else None


def _forward_requests(trial: Trial, requests: Iterable[tuple[OpReq, ...]]) -> Runs:
    plain = trial.result.outputs
    bases = [_base(trial, array, salt) for salt, array in enumerate(plain)]
    promised = [None if one is None else base for one, base in zip(trial.written(plain), bases, strict=True)]
    for req in requests:
        poison = trial.poisoned_outputs()
        for absent in (None, True) if OpReq.NULL in req else (True,):
            outputs = [_target(r, b.copy(), p, absent) for r, b, p in zip(req, bases, poison, strict=True)]
            run = partial(trial.forward, outputs=outputs, req=req)
            yield Variant(_words(req), run, expected=list(map(_Wanted, req, promised, plain)), trial=trial)
    return None


@variation("B305", WIDE, LARGE, values=GRADIENTS, compare=_as_requested)
def backward_requests(trial: Trial) -> Runs:
    """Every mixture of write, add and null requests gives the same gradients.

    `grad_req='add'` accumulates over batches; where several paths meet, gradients are added in place.

    Broken by:
        arrays.in_grad[0][...] = value    # whatever arrays.req[0]
    Within:
        class Late(Made):
            def backward(self, op_ctx, arrays):
                value = 2 * arrays.out_grad[0] * arrays.in_data[0]
                HERE
        class Example(LongForm):
            made = Late
    Fix:
        Leave requests to the toolkit: return the gradient or fill it, without accumulate=True. In a
        long form, write through operad.operator.assign.
    How:
        Check that each mixture of requests gives what writing every gradient gives.
    """
    flows = trial.differentiable()
    if not any(flows):
        return None
    compared = dict.fromkeys(("write", "add"), 0)
    yield from _backward_requests(trial, mixtures(trial, flows), compared)
    half = _in_half(trial)
    if half is not None and any(half.differentiable()):
        added = tuple(OpReq.ADD if flow else OpReq.NULL for flow in half.differentiable())
        yield from _backward_requests(half, [added], compared)
    return compared


def _backward_requests(trial: Trial, requests: Iterable[tuple[OpReq, ...]], compared: dict[str, int]) -> Runs:
    plain = trial.backward()
    bases = [None if e is None else _base(trial, e, salt) for salt, e in enumerate(plain)]
    for req, prepared in product(requests, (False, True)):
        targets = [
            None if base is None or r is OpReq.NULL else _target(r, base.copy(), _nan(base), True)
            for r, base in zip(req, bases, strict=True)
        ]
        run = partial(trial.backward, req=req, in_grads=targets, prepared=prepared)
        expected = list(map(_Wanted, req, bases, plain))
        count = yield Variant(_words(req), run, expected=expected, trial=trial)
        compared["write"] += count if OpReq.WRITE in req else 0
        compared["add"] += count if OpReq.ADD in req else 0
    return None


def _expect_untouched(name: str, array: Array | None, when: str) -> None:
    if array is not None and not np.array_equal(array, _nan(array), equal_nan=array.dtype.kind == "f"):
        raise Violation(f"{name} is written, and nothing is wanted of it {when}")


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


@variation("F215", ORDINARY, LARGE, values=OUTPUTS)
def ways_to_call(trial: Trial) -> Runs:
    """All ways to call the operator give the same: forward, forward_templates, direct.

    An executor takes the fastest one there is.

    Broken by:
        class Fast(Operator):
            direct = staticmethod(np.tanh)    # and forward is an approximation
    Within:
        HERE
            def forward(self, op_ctx, arrays):
                assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] - arrays.in_data[0]**3 / 3)
        class Example(LongForm):
            made = Fast
    Fix:
        Have all of them end in one function.
    How:
        Compare the call by templates, and the direct call, with the plain one.
    """
    trial.expect_repeatable()
    yield Variant("by forward_templates", partial(trial.forward, call=CallStyle.PREPARED))
    if trial.operator.direct is not None:
        yield Variant("by direct", partial(trial.forward, call=CallStyle.DIRECT))
    return None


@variation("F216", ORDINARY, values=STATES)
def states(trial: Trial) -> Runs:
    """Auxiliary states change in training runs only, or alike in all runs where that is declared.

    A prediction that changes the model cannot be repeated.

    Broken by:
        moving_mean += (1 - momentum) * (mean - moving_mean)    # whatever is_train
    Within:
        spec = "data:(N + 1, C); aux moving_mean:(C) -> output:(N + 1, C)"
        accepts = "floating"
        def forward(data, moving_mean, output):
            mean, momentum = data.mean(0), 0.75
            output[...] = data - mean
            HERE
    Fix:
        Update states where is_train holds; of an update of weights declare
        Contract(states_move='always').
    How:
        Check that only training changes auxiliary states, and that it changes each one in some case.

        A state that the reference gives may stay as it is, for F213 compares it. Where states move always, both
        modes have to move them alike.
    """  # noqa: E501
    if not trial.states:
        return None
    trained = trial.forward(is_train=True).aux
    moves = trial.subject.contract.states_move == "always"
    when = "after forward in prediction" + " beside training" * moves
    expected = trained if moves else trial.aux
    compared = yield Variant(when, partial(trial.forward, is_train=False), expected=expected)
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
