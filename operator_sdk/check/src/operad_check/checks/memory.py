"""Group M: arrays that a pass reads, and the old contents of arrays that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np

from operad.operator import BackwardEntry, OpReq
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.bitwise import first_difference
from operad_check.register import Evidence, check
from operad_check.running.variation import GRADIENTS, OUTPUTS, Runs, Variant, variation
from operad_check.trials.trial import POISON, Array, Keep, Trial, poisoned
from operad_check.trials.violation import OperatorRaised, Violation

FILLS = ("garbage", "other garbage", "zeros")
"""Contents that recycled memory may have."""


@variation("M401", ORDINARY, values=GRADIENTS)
def undeclared_arrays(trial: Trial) -> Runs:
    """Backward reads only what it declares.

    Arrays that are not declared are recycled before the backward pass: they are gone, or hold something
    else.

    Broken by:
        def declare_backward_dependency(self, out_grad, in_data, out_data):
            return [out_grad[0]]    # and backward uses in_data[0]
    Within:
        class Example(LongForm):
            made = Made
            HERE
    Fix:
        Declare the array, or compute without it. Gradients that name what they read declare it.
    How:
        Check backward with undeclared arrays absent, as in an executor, or recycled.
    """
    for req in request_vectors(trial):
        declared = set(trial.prop.backward_dependency([r is not OpReq.NULL for r in req]))
        hidden = [entry for entry in chain(*entry_groups(trial)) if entry not in declared]
        if not hidden:
            continue
        expected = trial.backward(req=req)
        names = ", ".join(entry_name(trial, entry) for entry in hidden)
        absent = partial(trial.backward, req=req, keep=_recycling(declared, None))
        yield Variant(f"without what it does not declare ({names})", absent, expected=expected)
        for fill in FILLS:
            recycled = partial(trial.backward, req=req, keep=_recycling(declared, fill))
            yield Variant(f"where undeclared arrays ({names}) hold {fill}", recycled, expected=expected)
    return None


def _recycling(declared: set[BackwardEntry], fill: str | None) -> Keep:
    def keep(entry: BackwardEntry, array: Array) -> Array | None:
        if entry in declared:
            return array.copy()
        return None if fill is None else filled(array, fill)

    return keep


@check("M402", ORDINARY, pooled=True)
def unread_arrays(trials: Sequence[Trial]) -> Evidence:
    """Backward reads all that it declares to read.

    A declared array is kept from the forward to the backward pass, for nothing: in a deep network that is
    most of the memory.

    Broken by:
        @tanh.gradient
        def _(output_grad, data, output): return output_grad * (1 - output**2)
    Within:
        @unary("checked_example", accepts="floating")
        def tanh(data): return np.tanh(data)
        HERE
        Example = tanh
    Fix:
        Leave it out of the declaration, or out of the gradient's parameters; a shape is also that of
        the gradient itself.
    How:
        Check that other values of each declared array change some gradient for some parameters.
    """
    seen: dict[tuple[str, BackwardEntry], list[Trial]] = {}
    read: set[tuple[str, BackwardEntry]] = set()
    for trial in trials:
        if not any(trial.differentiable()) or not trial.is_runnable:
            continue
        req = trial.write_requests()
        if not any(g is not None and g.size for g in trial.poisoned_gradients(req)):
            continue
        for entry in trial.prop.backward_dependency([r is not OpReq.NULL for r in req]):
            key = (_variant(trial), entry)
            if key in read or not array_of(trial, entry).size:
                continue
            seen.setdefault(key, []).append(trial)
            if _is_read(trial, entry, req):
                read.add(key)
    everywhere = {entry for _, entry in read}
    for (variant, entry), group in seen.items():
        if (variant, entry) in read or (entry in everywhere and not _is_conclusive(group, entry)):
            continue
        witness = max(group, key=lambda trial: array_of(trial, entry).size)
        name, size_bytes = entry_name(witness, entry), array_of(witness, entry).nbytes
        where = f" with {witness.prop!r}" if entry in everywhere else ""
        raise Violation(
            f"backward declares to read {name} and never does{where}: {size_bytes} bytes kept for nothing",
            cases=[witness.case],
        )
    return len(read) if seen else None


@variation("M407", ORDINARY, LARGE, values=OUTPUTS)
def old_contents_of_results(trial: Trial) -> Runs:
    """Results do not depend on what outputs and gradients held before.

    Their memory is recycled: it holds anything, and something else the next time.

    Broken by:
        def forward(data, output): np.maximum(output, data, out=output)    # output is not zero
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Write before reading: np.maximum(0, data, out=output).
    How:
        Check that results do not depend on what outputs and gradients held before.
    """
    for fill in FILLS:
        outputs = [filled(array, fill) for array in trial.poisoned_outputs()]
        yield Variant(f"where outputs held {fill}", partial(trial.forward, outputs=outputs))
    for fill in FILLS if any(trial.differentiable()) else ():
        held = [
            None if g is None else filled(g, fill) for g in trial.poisoned_gradients(trial.write_requests())
        ]
        yield Variant(f"where gradients held {fill}", partial(trial.backward, in_grads=held), GRADIENTS)
    return None


def request_vectors(trial: Trial) -> Iterator[list[OpReq]]:
    """Requests for all gradients, then for each alone."""
    full = trial.write_requests()
    wanted = [place for place, r in enumerate(full) if r is not OpReq.NULL]
    if wanted:
        yield full
    if len(wanted) > 1:
        for place in wanted:
            yield [r if i == place else OpReq.NULL for i, r in enumerate(full)]


def entry_groups(trial: Trial) -> list[list[BackwardEntry]]:
    """Entries that a backward pass could read: head gradients, arguments, outputs."""
    counts = {"out_grad": trial.visible, "in_data": len(trial.arguments), "out_data": len(trial.outputs)}
    return [[BackwardEntry(kind, i) for i in range(count)] for kind, count in counts.items()]


def array_of(trial: Trial, entry: BackwardEntry) -> Array:
    """The array that an entry stands for."""
    groups = {"out_grad": trial.out_grads, "in_data": trial.inputs, "out_data": trial.result.outputs}
    array: Array = groups[entry.kind][entry.index]
    return array


def entry_name(trial: Trial, entry: BackwardEntry) -> str:
    """The entry in words."""
    if entry.kind == "in_data":
        return f"argument {trial.arguments[entry.index]}"
    output = trial.outputs[entry.index]
    return f"output {output}" if entry.kind == "out_data" else f"gradient of output {output}"


def filled(array: Array, fill: str) -> Array:
    """Another array like `array`, with the contents that `fill` names."""
    if fill == "zeros":
        return np.zeros_like(array)
    if fill == "garbage":
        return poisoned(array.shape, array.dtype)
    values = np.random.default_rng(array.size + POISON).integers(1, 9, array.shape)
    return np.asarray(values * 0.75 if array.dtype.kind == "f" else values, array.dtype)


def _variant(trial: Trial) -> str:
    """Values of the parameters that choose between computations; numbers, such as an exponent, do not."""
    declared = type(trial.prop).params
    chosen = {
        name: getattr(trial.prop, name)
        for name, param in declared.items()
        if param.choices is not None or param.type is bool
    }
    return repr(chosen)


def _is_read(trial: Trial, entry: BackwardEntry, req: Sequence[OpReq]) -> bool:
    expected = trial.backward(req=req)
    original = array_of(trial, entry)
    replacements = [filled(original, fill) for fill in FILLS]
    if original.dtype.kind in "fi":
        backwards = original.reshape(-1)[::-1].reshape(original.shape)
        replacements += [np.asarray(-replacements[1]), backwards]
    for replacement in replacements:
        try:
            found = trial.backward(req=req, keep=_replacing(entry, replacement))
        except OperatorRaised:
            return True  # it looked at the values, and did not like them
        pairs = zip(found, expected, strict=True)
        if any(one is not None and first_difference(one, other) is not None for one, other in pairs):
            return True
    return False


def _replacing(entry: BackwardEntry, replacement: Array) -> Keep:
    return lambda other, array: (replacement if other == entry else array).copy()


def _is_conclusive(group: Sequence[Trial], entry: BackwardEntry) -> bool:
    """Return whether the trials are enough to say that backward does not read an entry.

    Arrays with an axis of 1 do not count: a single step, say, hands nothing to a next step.
    """
    arrays = [array for array in (array_of(trial, entry) for trial in group) if 1 not in array.shape]
    return len(arrays) >= 4 and sum(array.size for array in arrays) >= 32
