"""Group F: inference from partly known shapes.

The parts are made from shapes that are accepted as a whole: whole shapes or single axes are
forgotten. Where two accepted cases with the same parameters agree on some axes, what they agree on
is a part of both, so that nothing inferred from it may contradict either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, islice
from numbers import Integral
from typing import Any

import numpy as np

from operad.errors import OperadError, ShapeError
from operad.operator import PartialShape
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.shapes import has_own_inference_from_outputs, in_place_of
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation, shown_by
from operad_sdk.declare.shaped import ShapedProperty

Shapes = list[PartialShape]
_PARTS = 6
_PAIRS = 3


@check("F203", ORDINARY, pooled=True)
def never_guesses(trials: Sequence[Trial]) -> Evidence:
    """Inference from partly known shapes never guesses.

    What inference says of an incomplete graph is final: a guess that turns out wrong makes a correct
    network fail to bind.

    Broken by:
        def infer_shape(self, in_shapes):
            n = in_shapes[0][0] or 1    # unknown is not 1
    Not run:
        The rest of an inference decides.
    Fix:
        Leave None what does not follow; `is_known` and `unify_shapes` help.
    How:
        Check that inference from a part of a case, or the common part of two, holds for the whole.
    """
    groups: dict[tuple[str, tuple[int, ...]], list[Trial]] = {}
    compared = 0
    for trial in trials:
        if not trial.in_shapes:
            continue
        key = (repr(sorted(trial.case.params.items())), tuple(map(len, trial.in_shapes)))
        groups.setdefault(key, []).append(trial)
        compared += _expect_no_guess([trial], _parts(trial)) + _expect_no_alternative(trial)
    for group in groups.values():
        for one, other in islice(combinations(group, 2), _PAIRS * len(group)):
            if one.in_shapes != other.in_shapes:
                compared += _expect_no_guess([one, other], [_common(one, other)])
    return compared if groups else None


def _expect_no_guess(trials: Sequence[Trial], parts: Sequence[Shapes]) -> int:
    """Compare inference from each of `parts`, which are parts of each trial's shapes, with the whole."""
    compared = 0
    for part in parts:
        try:
            found = _inferred(trials[0], part)
        except OperatorRaised:  # F204 reports it
            continue
        for trial in trials:
            whole = _inferred(trial, list(trial.in_shapes))
            with shown_by(*[each.case for each in trials]):
                _expect_part(trial, found, whole, part)
            compared += 1
    return compared


def _expect_no_alternative(trial: Trial) -> int:
    """Raise Violation if another shape is accepted in place of one that follows from the other arguments."""
    if trial.subject.contract.assumes_shapes:
        return 0
    shapes: Shapes = list(trial.in_shapes)
    for place, name in enumerate(trial.arguments):
        part: Shapes = [None if i == place else shape for i, shape in enumerate(shapes)]
        try:
            guess = _inferred(trial, part)[0][place]
        except OperatorRaised:  # F204 reports it
            continue
        if guess is None or None in guess:
            continue
        for other in in_place_of(guess):
            whole = [other if i == place else shape for i, shape in enumerate(shapes)]
            if other != guess and _accepts(trial, whole):
                message = f"{name} is inferred as {guess} from {part}, and {other} is accepted as well"
                raise Violation(message, cases=[trial.case])
    return len(shapes)


def _accepts(trial: Trial, shapes: Shapes) -> bool:
    try:
        return _inferred(trial, shapes)[0] == shapes
    except OperatorRaised:
        return False


def _common(one: Trial, other: Trial) -> Shapes:
    pairs = zip(one.in_shapes, other.in_shapes, strict=True)
    return [tuple(a if a == b else None for a, b in zip(x, y, strict=True)) for x, y in pairs]


@check("F204", ORDINARY)
def accepts_parts(trial: Trial) -> Evidence:
    """Inference accepts every part of shapes that it accepts as a whole, and keeps what it was given.

    Graphs are inferred in several rounds, from parts. Raising, or forgetting a known axis, stops them.

    Broken by:
        def infer_shape(self, in_shapes):
            (n, d), w = in_shapes    # raises where data is unknown yet
    Not run:
        The rest of an inference decides.
    Fix:
        Handle None for a shape and for an axis, and return what was given with more filled in.
    How:
        Check that inference accepts and keeps parts of shapes, also where outputs are known.
    """
    if not trial.in_shapes:
        return None
    whole = _inferred(trial, list(trial.in_shapes))
    parts = _parts(trial)
    for part in parts:
        try:
            found = _inferred(trial, part)
            backward = _from_outputs(trial, part, whole[1])
        except OperatorRaised as error:
            known = f", {whole[1]}" if error.where == "infer_shape_backward" else ""
            raise Violation(f"{error.where}({part}{known}) raised {error.error!r}") from error
        for name, given, kept, again in zip(trial.arguments, part, found[0], backward, strict=True):
            if _is_less(kept, given) or _is_less(again, given):
                raise Violation(f"inference from {part} gives {kept} for {name}, and forgets what was given")
        if not trial.subject.contract.assumes_shapes:
            _expect_shapes(trial.arguments, backward, whole[0], f"from the outputs and {part}")
    return len(parts)


@check("F223", ORDINARY, pooled=True)
def learns(trials: Sequence[Trial]) -> Evidence:
    """Inference from outputs, where an operator has its own, completes some shape of an argument.

    A condition that is the wrong way round gives back what is known already. Nothing contradicts it, and
    a network stays without shapes.

    Broken by:
        def infer_shape_backward(self, in_shapes, out_shapes):
            return in_shapes if out_shapes[0] is not None else list(out_shapes)    # is, for is not
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
        def forward(data): return data * 1
    Fix:
        Return what follows from the outputs; without such a method, nothing is inferred from them.
    How:
        Check that an operator's own inference from outputs completes some shape of an argument.
    """
    count, is_more = 0, False
    if not has_own_inference_from_outputs(trials[0].subject.cls):
        return None
    for trial in trials:
        outputs = _inferred(trial, list(trial.in_shapes))[1]
        for part in [*_parts(trial), *_without_one_axis(trial)]:
            try:
                learned = _from_outputs(trial, part, outputs)
                found = _without_own_inference(trial, part, outputs)
            except OperatorRaised:  # F204 reports it
                continue
            is_more |= any(map(_is_less, found, learned))
            count += 1
    if count and not is_more:
        raise Violation(
            f"infer_shape_backward says no more than is known without it, "
            f"in {count} cases with known outputs",
            cases=[trials[0].case],
        )
    return count or None


def _without_own_inference(trial: Trial, part: Shapes, outputs: Shapes) -> Shapes:
    """Shapes that follow without the operator's own method: by its shape line, or by `infer_shape`."""
    if isinstance(trial.prop, ShapedProperty):
        with raising("infer_shape_backward"):
            return ShapedProperty.infer_shape_backward(trial.prop, list(part), list(outputs))
    return _inferred(trial, part)[0]


def _without_one_axis(trial: Trial) -> list[Shapes]:
    """The case's shapes, each time without one length."""
    shapes = trial.in_shapes
    return [
        [
            tuple(None if (i, k) == (place, axis) else length for k, length in enumerate(shape))
            for i, shape in enumerate(shapes)
        ]
        for place, one in enumerate(shapes)
        for axis in range(len(one))
    ]


@check("F205", ORDINARY)
def idempotent(trial: Trial) -> Evidence:
    """Inferring again from what was inferred gives the same.

    Inference runs until nothing changes; one that always changes something never ends.

    Broken by:
        def infer_shape(self, in_shapes):
            n = self.seen = self.seen + 1
    Not run:
        The rest of an inference decides.
    Fix:
        Compute the result from the arguments and parameters alone, and complete the arguments in one
        go.
    How:
        Check that inference from its own result gives the same result.
    """
    if not trial.in_shapes:
        return None
    parts: list[Shapes] = [*_parts(trial), list(trial.in_shapes)]
    for part in parts:
        once = _inferred(trial, part)
        twice = _inferred(trial, once[0])
        again = _inferred(trial, part)
        for result, how in ((twice, "infer_shape of its own result"), (again, "the same infer_shape again")):
            if result != once:
                raise Violation(f"{how} gives {result}, and before it gave {once}, from {part}")
    return len(parts)


@check("F206", ORDINARY)
def clashes(trial: Trial) -> Evidence:
    """Shapes that do not fit raise a ShapeError that names the argument and the axis.

    This message is all that the user of a large network has to find the mistake.

    Broken by:
        raise ValueError("bad shape")
    Within:
        spec = "data:(N, D) -> output:(N, D)"
        def forward(data): return data * 1
        def infer_shape(self, in_shapes):
            if in_shapes[0] is not None and len(in_shapes[0]) != 2:
                HERE
            return super().infer_shape(in_shapes)
    Fix:
        Raise ShapeError(f"{self.name}: weight has shape {shape}, expected {expected}: axis 1 ..."),
        or use a spec line, which does.
    How:
        Check that a longer axis, or one axis too many, is refused with an error that names it.
    """
    if not trial.in_shapes:
        return None
    count = 0
    for place, name in enumerate(trial.arguments):
        shape = trial.in_shapes[place]
        for axis in range(len(shape) + 1):
            wrong: Shapes = list(trial.in_shapes)
            longer = (
                (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]) if axis < len(shape) else (*shape, 2)
            )
            wrong[place] = longer
            count += _refused_well(trial, wrong, name)
    return count


def _refused_well(trial: Trial, shapes: Shapes, name: str) -> int:
    try:
        with np.errstate(all="ignore"):
            trial.prop.infer_shape(list(shapes))
    except ShapeError as error:
        text = str(error)
        if not _names_argument(trial, shapes, text) or not _names_axis(shapes, text):
            raise Violation(
                f"infer_shape({shapes}) says {text!r}, which names no argument and axis"
            ) from error
    except OperadError:
        return 1
    except Exception as error:
        raise Violation(
            f"infer_shape({shapes}) raised {error!r}, expected a ShapeError about {name}"
        ) from error
    return 1


def _names_argument(trial: Trial, shapes: Shapes, text: str) -> bool:
    is_evident = len(shapes) == 1 or all(str(shape) in text for shape in shapes)
    return is_evident or any(argument in text for argument in trial.arguments)


def _names_axis(shapes: Shapes, text: str) -> bool:
    """Return whether an error names an axis: by number, whole shape, or length (`channels of data is 3`)."""
    numbers = set(re.findall(r"\d+", text))
    lengths = {str(size) for shape in shapes for size in shape or ()}
    return "ax" in text or any(str(shape) in text for shape in shapes) or not numbers.isdisjoint(lengths)


def _inferred(trial: Trial, shapes: Shapes) -> tuple[Shapes, Shapes, Shapes]:
    with raising("infer_shape"):
        ins, outs, aux = trial.prop.infer_shape(list(shapes))
    return list(ins), list(outs), list(aux)


def _from_outputs(trial: Trial, part: Shapes, outputs: Shapes) -> Shapes:
    with raising("infer_shape_backward"):
        return list(trial.prop.infer_shape_backward(list(part), list(outputs)))


def _parts(trial: Trial) -> list[Shapes]:
    """Parts of the case's shapes: each argument forgotten, alone known, and random axes forgotten."""
    shapes = trial.in_shapes
    count = len(shapes)
    found: list[Shapes] = [[None] * count]
    found += [[None if i == j else s for j, s in enumerate(shapes)] for i in range(count)]
    found += [[s if i == j else None for j, s in enumerate(shapes)] for i in range(count)]
    rng = np.random.default_rng(trial.case.seed)
    for _ in range(_PARTS):
        found.append([tuple(None if rng.random() < 0.4 else size for size in shape) for shape in shapes])
    return [list(part) for part in dict.fromkeys(tuple(part) for part in found)]


def _expect_part(trial: Trial, found: Any, whole: Any, part: Shapes) -> None:
    names = (trial.arguments, trial.outputs, trial.states)
    first = 1 if trial.subject.contract.assumes_shapes else 0
    for place in range(first, 3):
        _expect_shapes(names[place], found[place], whole[place], f"from {part}")


def _expect_shapes(names: Sequence[str], found: Shapes, whole: Shapes, source: str) -> None:
    for name, shape, full in zip(names, found, whole, strict=True):
        if shape is None or full is None:
            continue
        if not all(length is None or isinstance(length, Integral) for length in shape):
            raise Violation(f"{name} is inferred as {shape} {source}, expected integers")
        clash = len(shape) != len(full) or any(
            a is not None and b is not None and a != b for a, b in zip(shape, full, strict=False)
        )
        if clash:
            raise Violation(
                f"{name} is inferred as {shape} {source}, and it is {full} in a case of that form"
            )


def _is_less(kept: PartialShape, given: PartialShape) -> bool:
    if given is None:
        return False
    if kept is None or len(kept) != len(given):
        return True
    return any(a is None and b is not None for a, b in zip(kept, given, strict=True))
