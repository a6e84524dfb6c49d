"""Group M: declared pairs forced to share memory, as a memory plan may have them do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from operad.operator import BackwardEntry, OpReq
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.checks.memory import all_entries, array_of, entry_name, request_vectors
from operad_check.comparison.bitwise import expect_same
from operad_check.comparison.closeness import stem
from operad_check.running.register import Evidence, check
from operad_check.trials.trial import Array, CallStyle, Trial
from operad_check.trials.violation import OperatorRaised, Violation

Pairs = dict[int, int]
"""Place of the input by place of the output that overwrites it."""

_MOST = 12
"""Choices of pairs that are tried in one case."""

_WAYS = (
    (CallStyle.PLAIN, OpReq.INPLACE),
    (CallStyle.PREPARED, OpReq.INPLACE),
    (CallStyle.PLAIN, OpReq.WRITE),
)
"""Uses of a pair: by an executor in two ways, and by `out=` of an imperative call."""


@check("M403", ORDINARY, LARGE)
def forward_in_place(trial: Trial) -> Evidence:
    """Compare forward in place with forward apart.

    Every choice of pairs is tried, and one array as two arguments, all of them declared.
    """
    places = range(len(trial.outputs))
    declared = trial.prop.forward_inplace_option(list(range(len(trial.arguments))), list(places))
    if not declared:
        return None
    usable = [(i, o) for i, o in declared if _fits(trial.inputs[i], trial.out_shapes[o], trial.out_types[o])]
    names = {(i, o): f"{trial.outputs[o]} overwrites {trial.arguments[i]}" for i, o in declared}
    compared = Counter({_stem(name): 0 for name in names.values()})
    for pairs in choices(usable):
        each = [names[i, o] for o, i in pairs.items()]
        count = _forward_over(trial, list(trial.inputs), pairs, ", ".join(each))
        compared.update({_stem(name): count for name in each})
    for (first, output), (second, other) in combinations(usable, 2):
        one, two = trial.inputs[first], trial.inputs[second]
        if output == other and (one.shape, one.dtype) == (two.shape, two.dtype):
            inputs = [one if i == second else array for i, array in enumerate(trial.inputs)]
            both = f"{trial.arguments[first]} and {trial.arguments[second]}"
            what = f"{trial.outputs[output]} overwrites one array that is both {both}"
            _forward_over(trial, inputs, {output: first}, what, shared=second)
    return compared


def _stem(name: str) -> str:
    """Name of a pair, without the numbers of its arguments."""
    return " ".join(map(stem, name.split()))


def _forward_over(
    trial: Trial, inputs: list[Array], pairs: Pairs, what: str, shared: int | None = None
) -> int:
    """Compare a run in place with one that is not; `shared` is a second argument that is the same array."""
    expected = _forward(trial, inputs)
    compared = 0
    for call, request in _WAYS:
        if request is OpReq.WRITE and not _are_alike(trial, pairs):
            continue
        given = [array.copy(order="C") for array in inputs]
        outputs = trial.poisoned_outputs()
        for output, source in pairs.items():
            if shared is not None:
                given[shared] = given[source]
            outputs[output] = given[source].reshape(trial.out_shapes[output])
        req = [request if o in pairs else OpReq.WRITE for o in range(len(outputs))]
        try:
            states = trial.forward(given, req=req, outputs=outputs, call=call).aux
        except OperatorRaised as error:
            raise Violation(f"where {what}, {error}") from error
        names = [*trial.outputs, *trial.states]
        compared += expect_same(names, [*outputs, *states], expected, f"where {what}")
    return compared


def _are_alike(trial: Trial, pairs: Pairs) -> bool:
    """Return whether the arrays of each pair have one shape, so that one object can be both (`out=`)."""
    return all(trial.in_shapes[source] == tuple(trial.out_shapes[o]) for o, source in pairs.items())


def _forward(trial: Trial, inputs: Sequence[Array]) -> list[Any]:
    """Outputs, and then states."""
    result = trial.forward([array.copy() for array in inputs])
    return [*result.outputs, *result.aux]


@check("M404", ORDINARY, LARGE)
def backward_in_place(trial: Trial) -> Evidence:
    """Compare backward in place with backward apart, for all gradients and for each alone."""
    compared: Counter[str] = Counter()
    for req in request_vectors(trial):
        reads, wanted = _backward_pairs(trial, req)
        if not wanted:
            continue
        compared.update({_stem(_pair(trial, reads[i], g)): 0 for i, g in wanted})
        keep = {entry: array_of(trial, entry) for entry in reads}
        expected = _backward(trial, req, keep, {})
        fitting = [(i, g) for i, g in wanted if _fits(keep[reads[i]], trial.in_shapes[g], trial.in_types[g])]
        for chosen in choices(fitting):
            pairs = {g: reads[i] for g, i in chosen.items()}
            count = _backward_over(trial, req, keep, pairs, expected)
            compared.update({_stem(_pair(trial, entry, g)): count for g, entry in pairs.items()})
    return compared or None


def _backward_pairs(trial: Trial, req: Sequence[OpReq]) -> tuple[list[BackwardEntry], list[tuple[int, int]]]:
    """Entries that backward reads, and declared pairs of what is read and wanted.

    A pair is the index of an entry and the index of a gradient.
    """
    entries = all_entries(trial)
    groups = {kind: [e for e in entries if e.kind == kind] for kind in ("out_grad", "in_data", "out_data")}
    grads = list(range(len(trial.arguments)))
    declared = trial.prop.backward_inplace_option(
        groups["out_grad"], groups["in_data"], groups["out_data"], grads
    )
    reads = list(trial.prop.backward_dependency([r is not OpReq.NULL for r in req]))
    return reads, [(reads.index(e), g) for e, g in declared if e in reads and req[g] is not OpReq.NULL]


def _pair(trial: Trial, entry: BackwardEntry, place: int) -> str:
    return f"the gradient of {trial.arguments[place]} overwrites {entry_name(trial, entry)}"


def _backward_over(
    trial: Trial,
    req: Sequence[OpReq],
    keep: dict[BackwardEntry, Array],
    pairs: dict[int, BackwardEntry],
    expected: Sequence[Any],
) -> int:
    names = [f"gradient of {name}" for name in trial.arguments]
    what = ", ".join(_pair(trial, entry, place) for place, entry in pairs.items())
    try:
        found = _backward(trial, req, keep, pairs)
    except OperatorRaised as error:
        raise Violation(f"where {what}, {error}") from error
    return expect_same(names, found, expected, f"where {what}")


def _backward(
    trial: Trial, req: Sequence[OpReq], keep: dict[BackwardEntry, Array], pairs: dict[int, BackwardEntry]
) -> list[Any]:
    held = {entry: array.copy(order="C") for entry, array in keep.items()}
    grads = trial.poisoned_gradients(req)
    for place, entry in pairs.items():
        grads[place] = held[entry].reshape(trial.in_shapes[place])
    requests = [OpReq.INPLACE if place in pairs else r for place, r in enumerate(req)]
    return trial.backward(req=requests, in_grads=grads, keep=lambda entry, _: held.get(entry))


def choices(usable: Sequence[tuple[int, int]]) -> Iterator[Pairs]:
    """Sets of pairs in which no array occurs twice, as a planner may choose them; largest sets first."""
    found = 0
    for count in range(len(usable), 0, -1):
        for chosen in combinations(usable, count):
            pairs = {output: source for source, output in chosen}
            if len(pairs) == len(chosen) == len(set(pairs.values())):
                yield pairs
                found += 1
                if found == _MOST:
                    return


def _fits(array: Array, shape: Any, dtype: Any) -> bool:
    """Return whether the planner may let two arrays share memory: as many bytes, one type."""
    size = 1
    for axis in shape:
        size *= axis
    return array.dtype == dtype and array.size == size
