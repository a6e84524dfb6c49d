"""Updates of several weights as one operation of the engine.

What the engine asks of an operation takes as long as the update of a small weight. So weights of one CPU move
in one operation, as many as have `_MOST` elements together. Each moves by the function of its own operator,
and so by the bits of a call of its own. Arrays of weights, gradients and states stay the same from step to
step, and often numbers do: what depends on them is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import attrgetter, is_not
from struct import error, pack
from typing import Any, Final, NamedTuple, final

import operad
from operad import NDArray
from operad.imperative import Invoker, Plan, execute, local
from operad_optimizer.base import UpdateCall
from operad_optimizer.known_call import KnownCall

_MOST: Final = 1 << 16
"""Elements of weights that one operation moves; a larger weight has an operation of its own."""

_data_of: Final = attrgetter("_data")
_Calls = Sequence[tuple[Callable[..., object], tuple[Any, ...]]]
"""Functions of plain arrays and numbers, and their arguments."""


@final
class Together:
    """Updates of weights that are given together again and again."""

    def __init__(self) -> None:
        self._known: list[KnownCall] = []
        self._given: Sequence[object] = ()
        self._packed: bytes | None = None
        self._invokers: Sequence[Invoker] = ()
        self._values: Sequence[tuple[Any, ...]] = ()
        self._made_of: Sequence[object] = ()
        self._parts: Sequence[_Part] = ()

    def __reduce__(self) -> tuple[type[Together], tuple[()]]:
        return Together, ()  # all of it is made again, for the arrays of a copy

    def __call__(
        self, weights: Sequence[NDArray], grads: Sequence[NDArray], calls: Sequence[UpdateCall]
    ) -> None:
        """Move weights that are on CPUs, outside of what is recorded."""
        given = [(name, params) for name, _, params in calls]
        packed = _packed(given)
        is_new = packed is None or packed != self._packed or given != self._given
        if is_new:
            self._known += [KnownCall() for _ in range(len(calls) - len(self._known))]
            found = [known.of(*each) for known, each in zip(self._known, given, strict=False)]
            self._invokers, self._values = [one for one, _ in found], [values for _, values in found]
            self._given, self._packed = given, packed
        operators = map(operad.registry.get, dict.fromkeys(name for name, _ in given))
        states = chain.from_iterable(own for _, own, _ in calls)
        made_of = [local.state.mode, *operators, *self._invokers, *weights, *grads, *states]
        if len(made_of) != len(self._made_of) or any(map(is_not, made_of, self._made_of)):
            self._made_of, is_new = (), True
            self._parts = self._divided(weights, grads, [own for _, own, _ in calls])
            self._made_of = made_of
        for part in self._parts:
            if is_new:
                part.take([self._values[number] for number in part.numbers])
            part.push()

    def _divided(
        self, weights: Sequence[NDArray], grads: Sequence[NDArray], states: Sequence[Sequence[NDArray]]
    ) -> list[_Part]:
        """The operations, in the order of the weights."""
        groups: list[list[int]] = []
        size = 0
        for number, weight in enumerate(weights):
            size += weight.size
            if not groups or size > _MOST or weight.context != weights[groups[-1][0]].context:
                groups.append([])
                size = weight.size
            groups[-1].append(number)
        inputs = [[*pair, *own] for *pair, own in zip(weights, grads, states, strict=True)]
        moves = [
            _Move(invoker, invoker.plan(arrays, None, values), arrays)
            for invoker, values, arrays in zip(self._invokers, self._values, inputs, strict=True)
        ]
        return [_Part(numbers, [moves[number] for number in numbers]) for numbers in groups]


@final
class _Move(NamedTuple):
    """Update of a weight: the operator, its plan, and the weight, its gradient and its states."""

    invoker: Invoker
    plan: Plan
    inputs: Sequence[NDArray]

    @property
    def is_function(self) -> bool:
        """True if the plan has a function of arrays and numbers that writes the weight in its place."""
        plan, run = self.plan, self.plan.run
        keeps_nothing = run.state_var is None and not run.resource_vars
        is_usual = [*plan.out_specs] == [self.inputs[0]._spec] and plan.signature.order is None
        is_usual = is_usual and keeps_nothing and plan.direct is not None and plan.run_time is not None
        return is_usual and plan.may_overwrite(self.inputs, self.inputs[:1])


@final
class _Part:
    """Updates that are one operation; calls of their operators, where functions of arrays cannot make them.

    Attributes:
        numbers: Which of all weights are moved.
    """

    def __init__(self, numbers: Sequence[int], moves: Sequence[_Move]) -> None:
        self.numbers, self._moves = numbers, moves
        plans = [plan for _, plan, _ in moves]
        read = [grad._chunk.var for _, _, (_, grad, *_) in moves]
        written = [x._chunk.var for _, _, (weight, _, *states) in moves for x in (weight, *states)]
        self._is_one = all(move.is_function for move in moves) and not {*read} & {*written}
        self._is_one = self._is_one and len({*written}) == len(written)
        ctx, distinct_read = moves[0].inputs[0].context, [*dict.fromkeys(read)]
        inline, is_parallel = all(p.run.inline for p in plans), any(p.run.is_parallel for p in plans)
        size_bytes = sum(plan.run.out_bytes for plan in plans)
        self._execute: Callable[[_Calls], None] = lambda calls: execute(
            _move, (calls,), ctx, distinct_read, written, plans[0].name, inline, reads_mutable=True,
            is_parallel=is_parallel, size_bytes=size_bytes,
        )  # fmt: skip
        self._values: Sequence[tuple[Any, ...]] = ()
        self._calls: _Calls = ()

    def take(self, values: Sequence[tuple[Any, ...]]) -> None:
        """Use these values of run-time parameters from now on, where they are new."""
        self._values, calls = values, []
        for (_, plan, inputs), own in zip(self._moves if self._is_one else (), values, strict=False):
            assert plan.run_time is not None
            assert plan.direct is not None
            weight, grad, *states = map(_data_of, inputs)
            numbers = plan.run_time.converted(own, plan.operator)
            calls.append((plan.direct, (weight, grad, weight, *states, *numbers)))
        self._calls = calls

    def push(self) -> None:
        """Move the weights."""
        if self._is_one:
            self._execute(self._calls)
            return
        for (invoker, _, inputs), values in zip(self._moves, self._values, strict=True):
            invoker(inputs, out=inputs[0], values=values)


def _move(calls: _Calls) -> None:
    for function, args in calls:
        function(*args)


def _packed(given: Sequence[tuple[str, Mapping[str, Any]]]) -> bytes | None:
    """Numbers of calls to the bit: those that are equal may be zeros of two signs. None for other values."""
    values = [*chain.from_iterable(params.values() for _, params in given)]
    try:
        return pack(f"{len(values)}d", *values)
    except (error, TypeError):
        return None
