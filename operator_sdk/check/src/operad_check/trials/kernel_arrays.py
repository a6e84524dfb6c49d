"""Runs of a choice of kernels with all arrays it asks for, as in graphs and tapes, and checks of these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, final

import numpy as np

from operad.operator import (
    BackwardArrays,
    BackwardEntry,
    Choice,
    Chosen,
    ForwardArrays,
    Kernel,
    KernelCall,
    OpContext,
    Operator,
    OpReq,
    choose_among,
)
from operad_check.trials.resources import SPACE_FILL, resources_for
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation

_PATTERNS: Final = (0x7F, 0x80)
"""Bytes that memory is filled with: no value that a kernel writes has both."""


def asks(kernel: Kernel) -> bool:
    """Return whether a kernel asks for more than its operator declares."""
    return bool(kernel.prepares or kernel.has_demands)


def whole_choice(call: KernelCall, kernel: Kernel, own: Kernel) -> Choice:
    """Choice of one kernel; parts that it lacks go to the operator's own functions."""
    choice = choose_among(call, [kernel, own])
    return choice.with_prepared(choice.preparations(tuple(choice.kernels)))


@final
class WholeOperator(Operator):
    """An operator with all arrays and resources that a choice of kernels asks for.

    Attributes:
        op: What stands for the operator in graphs.
        written: Which arrays were written that may only be read, in words.
    """

    def __init__(self, choice: Choice, seed: int, pattern: int = _PATTERNS[0]) -> None:
        self.op = Chosen(choice)
        self._choice = choice
        self._seed = seed
        self._pattern = pattern
        self._inner = choice.operator()
        self.written: list[str] = []

    def prepared(self, in_data: Sequence[Any]) -> list[Any]:
        """The prepared arrays for these arguments."""
        choice, names = self._choice, self._choice.call.prop.list_arguments()
        found = [self._filled(*array) for array in choice.prepared_arrays()]
        for (kernel, name), array in zip(choice.prepared, found, strict=True):
            rule = kernel.prepares[name]
            rule.maker(choice.call)(*[in_data[names.index(each)] for each in rule.arguments], array)
        return found

    def _filled(self, shape: Any, dtype: Any) -> Any:
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8)[...] = self._pattern
        return array

    def _context(self, op_ctx: OpContext, requests: Any) -> OpContext:
        return op_ctx._replace(requested=resources_for(requests, self._seed, SPACE_FILL))

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs."""
        prepared = self.prepared(arrays.in_data)
        before = [array.tobytes() for array in prepared]
        self._inner.forward(
            self._context(op_ctx, self.op.forward_resource([])),
            arrays._replace(in_data=[*arrays.in_data, *prepared]),
        )
        self._expect_unchanged("the outputs", before, prepared)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients."""
        prepared = self.prepared(arrays.in_data)
        before = [array.tobytes() for array in prepared]
        self._inner.backward(
            self._context(op_ctx, self.op.backward_resource([])),
            arrays._replace(
                in_data=[*arrays.in_data, *prepared],
                req=[*arrays.req, *[OpReq.NULL] * len(prepared)],
                in_grad=[*arrays.in_grad, *[None] * len(prepared)],
            ),
        )
        self._expect_unchanged("the gradients", before, prepared)

    def _expect_unchanged(self, what: str, before: Sequence[bytes], arrays: Sequence[Any]) -> None:
        names = [name for _, name in self._choice.prepared]
        for name, old, array in zip(names, before, arrays, strict=False):
            if array.tobytes() != old:
                self.written.append(f"{what} writes to {name!r}, which others read")


def expect_untouched(trial: Trial, operator: WholeOperator) -> None:
    """Raise Violation if forward or a gradient writes a prepared array."""
    trial.forward(operator=operator)
    if any(trial.differentiable()):
        trial.backward(operator=operator)
    if operator.written:
        raise Violation(f"a kernel of {operator.written[0]}")


def expect_filled(trial: Trial, choice: Choice) -> None:
    """Raise Violation if some byte of a prepared array is what the memory held before."""
    some, others = [WholeOperator(choice, trial.case.seed, pattern) for pattern in _PATTERNS]
    made = []
    for operator in (some, others):
        trial.forward(operator=operator)
        made.append(operator.prepared(trial.inputs))
    names = [name for _, name in choice.prepared]
    for name, one, other in zip(names, *made, strict=True):
        if one.tobytes() != other.tobytes():
            raise Violation(
                f"a kernel prepares {name!r}, and leaves some of it as memory was, or as chance is"
            )


def expect_in_place(trial: Trial, choice: Choice) -> int:
    """Compare passes in which the arrays of pairs share memory with passes without sharing.

    Pairs are those of the kernels, or the operator's where a kernel has none of its own: each is tried alone,
    and several together.
    """
    operator = WholeOperator(choice, trial.case.seed)
    count = len(trial.inputs)
    ins, outs = list(range(count)), list(range(len(trial.outputs)))
    want = trial.forward(operator=operator).outputs
    compared = 0
    for pairs in _sets(operator.op.forward_inplace_option(ins, outs)):
        given = [array.copy() for array in trial.inputs]
        outputs = trial.poisoned_outputs()
        if all(_are_alike(given[source], outputs[target]) for source, target in pairs):
            for source, target in pairs:
                outputs[target] = given[source]
            req = _requests([OpReq.WRITE] * len(outputs), [target for _, target in pairs])
            trial.forward(given, req=req, outputs=outputs, operator=operator)
            words = ", ".join(f"{trial.arguments[i]} -> {trial.outputs[o]}" for i, o in pairs)
            compared += _expect_same(words, outputs, want)
    return compared + (_gradients_in_place(trial, operator) if any(trial.differentiable()) else 0)


def _gradients_in_place(trial: Trial, operator: WholeOperator) -> int:
    ins, outs = range(len(trial.inputs)), range(len(trial.outputs))
    roles: Any = [
        [BackwardEntry("out_grad", i) for i in range(trial.visible)],
        [BackwardEntry("in_data", i) for i in ins],
        [BackwardEntry("out_data", i) for i in outs],
        [BackwardEntry("in_grad", i) for i in ins],
    ]
    source = {"out_grad": trial.out_grads, "in_data": trial.inputs, "out_data": trial.result.outputs}
    declared = operator.op.backward_inplace_option(*roles)
    wanted = trial.write_requests()
    trial.forward(operator=operator)
    want = trial.backward(operator=operator)
    compared = 0
    for pairs in _sets([(read, grad.index) for read, grad in declared]):
        grads = trial.poisoned_gradients(wanted)
        shared: dict[BackwardEntry, Any] = {read: grads[target] for read, target in pairs}
        if any(a is None or not _are_alike(source[e.kind][e.index], a) for e, a in shared.items()):
            continue
        for entry, array in shared.items():
            array[...] = source[entry.kind][entry.index]

        def keep(entry: BackwardEntry, given: Any, shared: Any = shared) -> Any:
            return shared[entry] if entry in shared else given.copy()

        req = _requests(wanted, [target for _, target in pairs])
        trial.backward(operator=operator, req=req, in_grads=grads, keep=keep)
        words = ", ".join(f"{e.kind} {e.index} -> {trial.arguments[target]}_grad" for e, target in pairs)
        compared += _expect_same(words, grads, want)
    return compared


def _sets(pairs: Sequence[tuple[Any, int]]) -> Iterator[list[tuple[Any, int]]]:
    """Each pair alone, and a set of pairs in which no array occurs twice."""
    yield from ([pair] for pair in pairs)
    together: dict[Any, int] = {}
    for read, target in pairs:
        if read not in together and target not in together.values():
            together[read] = target
    if len(together) > 1:
        yield list(together.items())


def _requests(requests: Sequence[OpReq], targets: Collection[int]) -> list[OpReq]:
    return [OpReq.INPLACE if place in targets else wanted for place, wanted in enumerate(requests)]


def _are_alike(one: Any, other: Any) -> bool:
    return bool(one.shape == other.shape and one.dtype == other.dtype)


def _expect_same(pair: str, found: Sequence[Any], want: Sequence[Any]) -> int:
    compared = 0
    for one, other in zip(found, want, strict=True):
        if one is None or other is None:
            continue
        compared += one.size
        if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
            raise Violation(f"a kernel may compute {pair} in one memory, and gives something else there")
    return compared
