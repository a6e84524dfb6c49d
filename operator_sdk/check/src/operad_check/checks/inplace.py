"""Group M: declared pairs forced to share memory, as a memory plan may have them do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from operad.operator import BackwardEntry, Choice, Operator, OperatorProperty, OpReq
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.checks.memory import array_of, entry_groups, entry_name, request_vectors
from operad_check.comparison.closeness import stem
from operad_check.running.variation import (
    GRADIENTS,
    RESULTS,
    Runs,
    Variant,
    Variation,
    bit_for_bit,
    variation,
    walk,
)
from operad_check.trials.kernel_arrays import WholeOperator
from operad_check.trials.trial import Array, CallStyle, Trial

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


@variation("M403", ORDINARY, LARGE, values=RESULTS)
def forward_in_place(trial: Trial) -> Runs:
    """Forward gives the same where declared pairs share memory.

    A pair that is declared is used wherever the input is not needed any more: the result then overwrites
    what is still to be read.

    Broken by:
        @operator("Centre")
        class Centre:
            inplace = "data -> output"
            def forward(data, output):
                output[...] = data.mean()
                output[...] = data - output    # of the mean
    Not run:
        A class without its spec line.
    Fix:
        Read everything before the first write, or do not declare the pair.
    How:
        Compare forward in place with forward apart.

        Every choice of pairs is tried, and one array as two arguments, all of them declared.
    """
    return (yield from _forward_runs(trial, trial.prop))


def _forward_runs(trial: Trial, prop: OperatorProperty, operator: Operator | None = None) -> Runs:
    """Runs over pairs that a property declares, by an operator; None: the trial's own."""
    places = range(len(trial.outputs))
    declared = prop.forward_inplace_option(list(range(len(trial.arguments))), list(places))
    if not declared:
        return None
    usable = [(i, o) for i, o in declared if _fits(trial.inputs[i], trial.out_shapes[o], trial.out_types[o])]
    names = {(i, o): f"{trial.outputs[o]} overwrites {trial.arguments[i]}" for i, o in declared}
    compared = Counter({_stem(name): 0 for name in names.values()})
    for pairs in choices(usable):
        each = [names[i, o] for o, i in pairs.items()]
        count = yield from _forward_over(trial, list(trial.inputs), pairs, ", ".join(each), operator)
        compared.update({_stem(name): count for name in each})
    for (first, output), (second, other) in combinations(usable, 2):
        one, two = trial.inputs[first], trial.inputs[second]
        if output == other and (one.shape, one.dtype) == (two.shape, two.dtype):
            inputs = [one if i == second else array for i, array in enumerate(trial.inputs)]
            both = f"{trial.arguments[first]} and {trial.arguments[second]}"
            what = f"{trial.outputs[output]} overwrites one array that is both {both}"
            yield from _forward_over(trial, inputs, {output: first}, what, operator, shared=second)
    return compared


def _stem(name: str) -> str:
    """Name of a pair, without the numbers of its arguments."""
    return " ".join(map(stem, name.split()))


def _forward_over(
    trial: Trial,
    inputs: list[Array],
    pairs: Pairs,
    what: str,
    operator: Operator | None,
    shared: int | None = None,
) -> Generator[Variant, int, int]:
    """Runs in place; `shared` is a second argument that is the same array."""
    result = trial.forward([array.copy() for array in inputs], operator=operator)
    expected = [*result.outputs, *result.aux]
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
        run = partial(trial.forward, given, req=req, outputs=outputs, call=call, operator=operator)
        compared += yield Variant(f"where {what}", run, expected=expected)
    return compared


def _are_alike(trial: Trial, pairs: Pairs) -> bool:
    """Return whether the arrays of each pair have one shape, so that one object can be both (`out=`)."""
    return all(trial.in_shapes[source] == tuple(trial.out_shapes[o]) for o, source in pairs.items())


@variation("M404", ORDINARY, LARGE, values=GRADIENTS)
def backward_in_place(trial: Trial) -> Runs:
    """Backward gives the same where declared pairs share memory.

    The memory plan uses a pair wherever it can. With several gradients, the first one written overwrites
    what the next one reads.

    Broken by:
        @gradient(inplace="output_grad -> lhs_grad")
        def backward(output_grad, lhs, rhs, lhs_grad, rhs_grad):
            lhs_grad[...] = output_grad * rhs
            rhs_grad[...] = output_grad * lhs
    Within:
        spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(lhs, rhs): return lhs * rhs
        HERE
    Fix:
        Return all gradients, or compute all before the first is written; or do not declare the pair.
    How:
        Compare backward in place with backward apart, for all gradients and for each alone.
    """
    return (yield from _backward_runs(trial, trial.prop))


def _backward_runs(trial: Trial, prop: OperatorProperty, operator: Operator | None = None) -> Runs:
    """The same going back."""
    compared: Counter[str] = Counter()
    for req in request_vectors(trial):
        reads, wanted = _backward_pairs(trial, prop, req)
        if not wanted:
            continue
        compared.update({_stem(_pair(trial, reads[i], g)): 0 for i, g in wanted})
        keep = {entry: array_of(trial, entry) for entry in reads}
        expected = _backward(trial, req, keep, {}, operator)
        fitting = [(i, g) for i, g in wanted if _fits(keep[reads[i]], trial.in_shapes[g], trial.in_types[g])]
        for chosen in choices(fitting):
            pairs = {g: reads[i] for g, i in chosen.items()}
            each = [_pair(trial, entry, place) for place, entry in pairs.items()]
            run = partial(_backward, trial, req, keep, pairs, operator)
            count = yield Variant(f"where {', '.join(each)}", run, expected=expected)
            compared.update({_stem(name): count for name in each})
    return compared or None


def _backward_pairs(
    trial: Trial, prop: OperatorProperty, req: Sequence[OpReq]
) -> tuple[list[BackwardEntry], list[tuple[int, int]]]:
    """Entries that backward reads, and declared pairs of what is read and wanted.

    A pair is the index of an entry and the index of a gradient.
    """
    heads, ins, outs = entry_groups(trial)
    declared = prop.backward_inplace_option(heads, ins, outs, list(range(len(trial.arguments))))
    reads = list(trial.prop.backward_dependency([r is not OpReq.NULL for r in req]))
    return reads, [(reads.index(e), g) for e, g in declared if e in reads and req[g] is not OpReq.NULL]


def _pair(trial: Trial, entry: BackwardEntry, place: int) -> str:
    return f"the gradient of {trial.arguments[place]} overwrites {entry_name(trial, entry)}"


def _backward(
    trial: Trial,
    req: Sequence[OpReq],
    keep: dict[BackwardEntry, Array],
    pairs: dict[int, BackwardEntry],
    operator: Operator | None,
) -> list[Any]:
    held = {entry: array.copy(order="C") for entry, array in keep.items()}
    grads = trial.poisoned_gradients(req)
    for place, entry in pairs.items():
        grads[place] = held[entry].reshape(trial.in_shapes[place])
    requests = [OpReq.INPLACE if place in pairs else r for place, r in enumerate(req)]
    return trial.backward(
        req=requests, in_grads=grads, keep=lambda entry, _: held.get(entry), operator=operator
    )


def expect_in_place(trial: Trial, choice: Choice) -> int:
    """Compare passes of a choice of kernels in which the arrays of its pairs share memory with others.

    Pairs are those of the kernels, or the operator's where a kernel has none of its own.

    Raises:
        Violation: They differ.
    """
    whole = WholeOperator(choice, trial.case.seed)
    trial.forward(operator=whole)
    lines = [
        Variation("D606", partial(runs, prop=whole.op, operator=whole), values, bit_for_bit)
        for runs, values in ((_forward_runs, RESULTS), (_backward_runs, GRADIENTS))
    ]
    found = [walk(line, trial) or {} for line in lines]
    return sum(each if isinstance(each, int) else sum(each.values()) for each in found)


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
