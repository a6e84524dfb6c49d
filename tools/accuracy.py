"""Write `docs/accuracy.md`: the largest error of every operator and gradient, in units in the last place.

    python -m tools.accuracy            # all operators: the page, and the figures of this instruction set
    python -m tools.accuracy exp norm   # these alone, on the terminal
    python -m tools.accuracy --write exp norm   # and beside the figures of the others

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
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from operad import registry
from operad_check.cases.kinds import EXTREME, LARGE, ORDINARY
from operad_check.cases.retype import is_random, retyped
from operad_check.comparison.closeness import magnitude
from operad_check.comparison.rounding import overflows
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject, subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation
from tests.benchmarks import environments
from tools.accuracy_of_sums import both
from tools.accuracy_page import BEGIN, Kept, Sums, tables
from tools.accuracy_peers import Job, Peer, packed
from tools.accuracy_truth import Truth, true_gradients, true_outputs, type_of
from tools.workspace import ROOT

PAGE: Final = ROOT / "docs" / "accuracy.md"
PAGE_OF: Final = "avx512"
"""The instruction set whose figures the page shows."""
FIGURES: Final = ROOT / "tests" / "conformance" / "recorded" / "accuracy"
TYPES: Final = ("float32", "float64")
_FEW: Final = Profile("few", examples=6, seconds=20.0)
_CASES: Final = (("ordinary", ORDINARY, 4), ("ordinary", LARGE, 2), ("tails", EXTREME, 5))
_ANOTHER: Final = 0.1
"""Part of the largest result from which on another library's result is that of another function."""


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
        dtype, scale = type_of(trial), magnitude(trial.inputs, trial.out_grads)
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
        is_real = dtype.kind == "f"  # a count has integers
        has_gradient = is_real and any(trial.differentiable()) and not overflows(trial.result.outputs, dtype)
        grads = {
            way: trial.backward(operator=one, outputs=outputs[way]) if has_gradient else []
            for way, one in operators.items()
        }
    except OperatorRaised:
        return
    for way, peer in peers.items():
        if (found := peer(_job(trial))) is not None:
            outputs[way], grads[way] = found
    results = [("forward", truth, position, outputs) for position, truth in enumerate(true_outputs(trial))]
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
    """Measure, and write the page and the figures; or print those of some operators, and write these."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", help="operators; left out: all, and the page is written")
    parser.add_argument("--write", action="store_true", help="write those of the named ones, and the page")
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
    if arguments.write and names:
        write(kept() | found, read_sums(instruction_set()))
    elif not names:
        write(found, both())
    return 0


if __name__ == "__main__":
    sys.exit(main())
