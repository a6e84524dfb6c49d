"""Write `docs/accuracy.md`: the largest error of every operator and gradient, in units in the last place.

    python -m tools.accuracy            # all operators: the page, and the figures of this instruction set
    python -m tools.accuracy exp norm   # these alone, on the terminal

Cases are those of the contract checks: ordinary ones, long axes, and values at the ends of a type, which
cancel, saturate or are alike. True values are, in this order: the contract's reference in numbers of 160
digits, and its differences for gradients; the reference in extended precision; and for single precision what
the operator gives in double. `tools.accuracy_of_sums` measures sums of long axes beside `math.fsum`.

An error is counted twice: in units of the true value, and in units of the largest one of its array. What no
number of the type can be is left out, as are subnormal numbers and places where a derivative has two values.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from time import process_time
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from operad import registry
from operad.operator import ScalarForm
from operad_check.cases.kinds import EXTREME, LARGE, ORDINARY
from operad_check.cases.retype import is_random, perturbed, retyped
from operad_check.comparison.closeness import magnitude
from operad_check.comparison.number_types import widened
from operad_check.comparison.rounding import overflows
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.reference import call_reference
from operad_check.trials.subject import Subject, subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation
from operad_sdk.domains import Real
from tests.benchmarks import environments
from tools.accuracy_of_sums import both
from tools.accuracy_page import BEGIN, Kept, Sums, tables
from tools.accuracy_peers import Job, Peer, packed
from tools.exact_numbers import Number, exact, is_exact, split
from tools.workspace import ROOT

PAGE: Final = ROOT / "docs" / "accuracy.md"
PAGE_OF: Final = "avx512"
"""The instruction set whose figures the page shows."""
FIGURES: Final = ROOT / "tests" / "conformance" / "recorded" / "accuracy"
TYPES: Final = ("float32", "float64")
_FEW: Final = Profile("few", examples=6, seconds=20.0)
_CASES: Final = (("ordinary", ORDINARY, 4), ("ordinary", LARGE, 2), ("tails", EXTREME, 5))
_MOST_EXACT: Final = 400
"""Elements of all arguments up to which numbers of 160 digits are computed with; for gradients, a tenth."""
_STEP: Final = Number("1e-40")
_PATIENCE_S: Final = 0.5
"""Processor time of an array's differences from which on a reference is too slow for them."""
_NOTHING: Final = 2.0**-48
"""Part of the largest argument or head gradient from which on what double precision gives is 0."""
_JUMP: Final = 2.0**-12
"""Part of the largest result by which a movement by roundings does not change what is smooth."""
_ROUNDINGS: Final = 4
"""Roundings of the arguments within which a point may be on either side of a kink."""
_ANOTHER: Final = 0.1
"""Part of the largest result from which on another library's result is that of another function."""

Truth = tuple[Any, Any]
"""True values as float64, and what is left of each."""


class Error(NamedTuple):
    """Largest errors in units of the true value, and of the largest one of its array."""

    own: float = 0.0
    of_largest: float = 0.0

    def worse(self, other: Error) -> Error:
        """The larger ones of both."""
        return Error(max(self.own, other.own), max(self.of_largest, other.of_largest))


Figures = dict[str, Error]
"""By part, type, cases and way: `forward float32 ordinary plain`."""
Peers = Mapping[str, Peer]


def error(found: Any, truth: Truth, scale: float = 0.0) -> Error:
    """Errors of an array.

    Args:
        scale: In place of the largest true value where all are 0.
    """
    high, low = truth
    dtype, limits = found.dtype, np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        size = np.abs(high)
        is_judged = np.isfinite(high) & (size <= float(limits.max)) & np.isfinite(low)
        is_judged &= (size >= float(limits.smallest_normal)) | (high == 0)
        if not is_judged.any():
            return Error()
        apart = np.abs((found.astype(np.float64) - high) - low)
        apart = np.where(np.isnan(apart), np.inf, apart)[is_judged]
        largest = max(float(size[is_judged].max()) or scale, float(limits.smallest_normal))
        of_largest = float(apart.max()) / float(np.spacing(dtype.type(largest)))
        own = np.spacing(np.maximum(size, float(limits.smallest_normal)).astype(dtype)).astype(np.float64)
        has_own = is_judged & (high != 0)
        shares = apart[(high != 0)[is_judged]] / own[has_own]
    return Error(float(shares.max(initial=0.0)), of_largest)


def figures(name: str, peers: Peers = MappingProxyType({})) -> Figures:
    """The largest errors of one operator."""
    with np.errstate(all="ignore"):  # what overflows on the way is left out, or a figure
        return _figures(name, peers)


def _figures(name: str, peers: Peers) -> Figures:
    found: Figures = {}
    for cases, trial in _trials(subject_of(name)):
        dtype, scale = _type(trial), magnitude(trial.inputs, trial.out_grads)
        for part, arrays, truth in _parts(trial, dtype, peers):
            for way, array in arrays.items():
                judge = _error_of_peer if way in peers else error
                own = judge(array, truth, scale)
                if own is not None:
                    key = f"{part} {dtype.name} {cases} {way}"
                    found[key] = found.get(key, Error()).worse(own)
    return found


def _error_of_peer(array: Any, truth: Truth, scale: float) -> Error | None:
    """Error of another library; None where it gives something else, and not the same less exactly."""
    if array is None or array.size != truth[0].size or array.dtype.kind != "f":
        return None
    found = error(array.reshape(truth[0].shape), truth, scale)
    return found if found.of_largest * float(np.finfo(array.dtype).eps) < _ANOTHER else None


def _type(trial: Trial) -> Any:
    return trial.in_types[0] if trial.in_types else trial.out_types[0]


def _trials(subject: Subject) -> Iterator[tuple[str, Trial]]:
    session = Session(subject, _FEW)
    for words, kind, count in _CASES:
        try:
            cases = session.pool(kind)
        except OperatorRaised:
            continue
        for case in cases[:: max(1, len(cases) // count)]:
            for dtype in TYPES:
                if (made := _typed(subject, case, dtype)) is not None:
                    yield words, made


def _typed(subject: Subject, case: Case, dtype: str) -> Trial | None:
    """A case with numbers of single precision, in a type; None where the operator does not take it."""
    try:
        made = retyped(Trial(subject, case), np.dtype("float32"))
        made = made if made is None or dtype == "float32" else retyped(made, np.dtype(dtype))
        if made is None or is_random(made) or not any(one == dtype for one in made.out_types):
            return None
    except (OperatorRaised, Violation):
        return None
    return made


def _parts(trial: Trial, dtype: Any, peers: Peers) -> Iterator[tuple[str, dict[str, Any], Truth]]:
    """Each result of the forward and the backward pass, in all ways, with its true values."""
    try:
        operators = {"plain": trial.operator, "compiled": trial.new_operator(as_in_programs=True)}
        outputs = {way: trial.forward(operator=one).outputs for way, one in operators.items()}
        # an output that leaves the range takes along the gradient that is made from it
        has_gradient = any(trial.differentiable()) and not overflows(trial.result.outputs, dtype)
        grads = {
            way: trial.backward(operator=one, outputs=outputs[way]) if has_gradient else []
            for way, one in operators.items()
        }
    except OperatorRaised:
        return
    for way, peer in peers.items():
        if (found := peer(_job(trial))) is not None:
            outputs[way], grads[way] = found
    results = [("forward", truth, position, outputs) for position, truth in enumerate(_of_forward(trial))]
    results = [one for one in results if one[2] < trial.visible and trial.out_types[one[2]] == dtype]
    if has_gradient:
        pairs = zip(trial.arguments, true_gradients(trial), strict=False)
        results += [(f"gradient of {name}", truth, i, grads) for i, (name, truth) in enumerate(pairs)]
    for part, truth, position, ways in results:
        if truth is not None:
            yield part, {way: own[position] for way, own in ways.items() if position < len(own)}, truth


def _job(trial: Trial) -> Job:
    return Job(
        trial.subject.name,
        dict(trial.case.params),
        {name: packed(array) for name, array in zip(trial.arguments, trial.inputs, strict=True)},
        {name: packed(array) for name, array in zip(trial.states, trial.aux, strict=True)},
        [packed(one) for one in trial.out_grads],
        trial.case.is_train,
    )


def _of_forward(trial: Trial) -> list[Truth | None]:
    size = sum(array.size for array in trial.inputs)
    if (function := trial.subject.contract.reference) is not None:
        if size <= _MOST_EXACT and (found := _exactly(trial, list(map(exact, trial.inputs)))) is not None:
            return [split(one) if is_exact(one) else None for one in found]
        for wide in (np.longdouble, np.float64):
            if wide is np.float64 and _type(trial) == wide:
                break
            try:
                given = [widened(array, np.dtype(wide)) for array in trial.inputs]
                results = call_reference(function, trial, given)
            except Violation:
                continue
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            arrays = [np.asarray(one) for one in results]
            if all(one.dtype == wide for one in arrays if one.dtype.kind == "f"):
                return [_halves(one) if one.dtype.kind == "f" else None for one in arrays]
    return _of_double(trial, lambda each: each.result.outputs)


def true_gradients(trial: Trial) -> list[Truth | None]:
    """True values of the gradients, by argument."""
    contract, size = trial.subject.contract, sum(array.size for array in trial.inputs)
    is_plain = not (contract.why_head_is_ignored(trial.prop) or contract.why_no_numeric_gradient(trial.prop))
    if is_plain and not contract.loss and contract.reference is not None and size <= _MOST_EXACT // 10:
        domains = map(contract.domain, trial.arguments)
        truths = [
            _differences(trial, position) if flows and (domain is None or isinstance(domain, Real)) else None
            for position, (flows, domain) in enumerate(zip(trial.differentiable(), domains, strict=True))
        ]
        if any(one is not None for one in truths):
            return _steady(trial, truths, Trial.backward)
    return _of_double(trial, Trial.backward)


def _of_double(trial: Trial, values: Callable[[Trial], Sequence[Any]]) -> list[Truth | None]:
    """Results of the operator in double; none of a trial that is in double itself."""
    if _type(trial) != np.float32:
        return []
    try:
        wide = retyped(trial, np.dtype(np.float64))
        found = None if wide is None else values(wide)
    except (OperatorRaised, Violation):
        return []
    if wide is None or found is None:
        return []
    nothing = _NOTHING * magnitude(wide.inputs, wide.out_grads)
    truths = [
        None if one is None or one.dtype != np.float64 else _halves(np.where(np.abs(one) < nothing, 0.0, one))
        for one in found
    ]
    return _steady(trial, truths, values)


def _steady(
    trial: Trial, truths: list[Truth | None], values: Callable[[Trial], Sequence[Any]]
) -> list[Truth | None]:
    """The true values, NaN where roundings of the arguments give others: beside a kink or a jump."""
    eps = _ROUNDINGS * float(np.finfo(_type(trial)).eps)
    try:
        wide = retyped(trial, np.dtype(np.float64)) or trial
        here, *moved = [values(each) for each in (wide, *_moved(wide, eps))]
    except (OperatorRaised, Violation):
        return truths
    found: list[Truth | None] = []
    for truth, one, *others in zip(truths, here, *moved, strict=False):
        if truth is not None and one is not None and one.shape == truth[0].shape:
            with np.errstate(all="ignore"):
                apart = np.max([np.abs(other - one) for other in others], axis=0)
                is_finite = np.isfinite(one)
                is_steady = apart <= _JUMP * np.max(np.abs(one), initial=0, where=is_finite)
            truth = np.where(is_steady | ~is_finite, truth[0], np.nan), truth[1]
        found.append(truth)
    return found


def _moved(trial: Trial, distance: float) -> list[Trial]:
    return [perturbed(trial, distance, relative=True, salt=salt) for salt in range(4)]


def _differences(trial: Trial, position: int) -> Truth | None:
    """Derivatives of the reference for each element of an argument; NaN where they are two."""
    inputs = list(map(exact, trial.inputs))
    array, heads = inputs[position], [None if one is None else exact(one) for one in trial.out_grads]
    found = np.empty(array.shape, object)
    begin = process_time()
    middle = _exactly(trial, inputs)
    is_slow = (process_time() - begin) * array.size > _PATIENCE_S
    if is_slow or middle is None or not all(map(is_exact, middle[: trial.visible])):
        return None

    def difference(places: Any, sign: int) -> list[Any] | None:
        """Of each output, where some elements of the argument are moved."""
        moved = array.copy()
        moved[places] = array[places] + steps[places] * sign
        other = _exactly(trial, [*inputs[:position], moved, *inputs[position + 1 :]])
        pairs = zip(other or (), middle, heads, strict=False)
        return other and [(one - two) * head for one, two, head in pairs if head is not None]

    one: Any = Number(1)
    steps: Any = np.asarray(np.maximum(np.abs(array), one) * _STEP, object)
    if _is_of_elements(trial):
        sides = [side for sign in (-1, 1) if (side := difference(..., sign)) is not None]
        if len(sides) == 2:
            before, after = (sum(side) for side in sides)
            return split(_slopes(before / -steps, after / steps))
    for place in np.ndindex(array.shape):
        sides = [side for sign in (-1, 1) if (side := difference(place, sign)) is not None]
        if len(sides) < 2:
            return None
        totals = [sum(np.sum(each) for each in side) for side in sides]
        found[place] = _slopes(totals[0] / -steps[place], totals[1] / steps[place])
    return split(found)


def _is_of_elements(trial: Trial) -> bool:
    """Return whether each element of the output depends on one element of each argument, in its place."""
    if len({*trial.in_shapes, *trial.out_shapes}) != 1:
        return False
    form = trial.prop.scalar_form("forward", trial.in_shapes, trial.in_types)
    return isinstance(form, ScalarForm) and all(
        step.axes is None and step.op not in ("sum", "max", "min", "position") for step in form.instructions
    )


@partial(np.frompyfunc, nin=2, nout=1)
def _slopes(before: Any, after: Any) -> Any:
    """The slope of two sides, NaN where they differ."""
    before, after = (one if isinstance(one, Number) else Number(one) for one in (before, after))
    is_one = abs(before - after) <= Number("1e-9") * (abs(before) + abs(after))
    return (before + after) / 2 if is_one else Number("nan")


def _exactly(trial: Trial, inputs: Sequence[Any]) -> list[Any] | None:
    """Results of the reference in numbers of 160 digits; None where it cannot."""
    function, casts = trial.subject.contract.reference, Number.casts
    try:
        found = call_reference(function, trial, inputs) if function is not None else None
    except Violation:
        return None
    if Number.casts != casts:
        return None
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    arrays = [np.asarray(one) for one in results]
    if any(one.dtype.kind == "f" for one in arrays) or not any(map(is_exact, arrays)):
        return None
    return arrays


def _halves(array: Any) -> Truth:
    high = np.asarray(array).astype(np.float64)
    with np.errstate(all="ignore"):
        low = np.where(np.isfinite(high), array - high, 0)
    return high, np.asarray(low).astype(np.float64)


def instruction_set() -> str:
    """The instructions of this machine, of those by which figures differ."""
    features: Any = import_module("numpy._core._multiarray_umath").__cpu_features__

    known = {"AVX512_SKX": "avx512", "AVX2": "avx2", "ASIMD": "asimd"}
    return next((name for word, name in known.items() if features.get(word)), "other")


def read(of: str) -> dict[str, Figures]:
    """The figures of operators that are kept for an instruction set; of none, empty."""
    path = FIGURES / f"{of}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    return {name: {key: Error(*pair) for key, pair in one.items()} for name, one in found.items()}


def read_sums(of: str) -> dict[str, dict[str, float]]:
    """Those of sums."""
    found: dict[str, dict[str, float]] = json.loads((FIGURES / f"{of}-sums.json").read_text())
    return found


def kept() -> dict[str, Figures]:
    """The figures of this instruction set."""
    return read(instruction_set())


def worsened(before: Figures, now: Figures) -> list[str]:
    """The figures that are twice as large as they were, and above 2 units."""
    return [
        f"{key}: {was:.3g}, now {new:.3g}"
        for key, found in now.items()
        for was, new in zip(before.get(key, found), found, strict=True)
        if new > 2 and new > 2 * was
    ]


def write(found: Kept, sums: Sums) -> None:
    """Write the figures of this instruction set; and the page, if it is of this one."""
    FIGURES.mkdir(exist_ok=True)
    rounded = {
        name: {key: [float(f"{part:.3g}") for part in one] for key, one in sorted(own.items())}
        for name, own in sorted(found.items())
        if own
    }
    of = instruction_set()
    (FIGURES / f"{of}.json").write_text(_lines(rounded))
    (FIGURES / f"{of}-sums.json").write_text(_lines(sums))
    if of == PAGE_OF:
        head = PAGE.read_text().partition(BEGIN)[0]
        PAGE.write_text(head + tables(read(of), read_sums(of), of) + "\n")


def _lines(found: Mapping[str, Any]) -> str:
    return "{\n" + ",\n".join(f'"{name}": {json.dumps(own)}' for name, own in found.items()) + "\n}\n"


def main() -> int:
    """Measure, and write the page and the figures; or print those of some operators."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", help="operators; left out: all, and the page is written")
    parser.add_argument("--peers", action="store_true", help="beside MXNet and PyTorch, made by make bench")
    arguments = parser.parse_args()
    names = arguments.names
    peers: dict[str, Peer] = {}
    if arguments.peers:
        pythons, missing = environments.peers()
        print(*missing.values(), sep="\n", file=sys.stderr)
        peers = {name: Peer(pythons[name], name) for name in ("mxnet", "torch") if name in pythons}
    found: dict[str, Figures] = {}
    for name in names or registry.list_operators(aliases=False):
        found[name] = figures(name, peers)
        for key, one in sorted(found[name].items()):
            print(f"{name} {key}: {one.own:.3g} {one.of_largest:.3g}", flush=True)
    if not names:
        write(found, both())
    return 0


if __name__ == "__main__":
    sys.exit(main())
