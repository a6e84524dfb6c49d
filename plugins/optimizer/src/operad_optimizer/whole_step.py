"""A step of training as one program, bound to an executor's arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, final

from operad import NDArray
from operad.executor import BoundProgram, Executor, compiled
from operad.graph import estimated, head_names, pass_list
from operad.imperative import Access, Invoker, RunTime, overlap_check
from operad.operator import ArgumentSlot, CallTemplate, ForwardArrays, OpContext, Operator, Requests
from operad.program import Program, Segment
from operad_optimizer.update_pass import Update, updates_pass

UpdateCall = tuple[str, Sequence[NDArray], Mapping[str, Any]]
"""The call that moves a weight in place: the name of an operator, which takes the weight, its gradient and
the states that follow here, and the parameters of this step."""


class ApartError(Exception):
    """Says why a step cannot be one program."""


@final
class _WithValues(Operator):
    """An operator whose run-time parameters are those of the step.

    Attributes:
        values: What `direct_with_values` takes behind the arrays.
    """

    def __init__(self, operator: Operator) -> None:
        assert operator.direct_with_values is not None
        self._function: Callable[..., object] = operator.direct_with_values
        self.values: tuple[Any, ...] = ()

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Move the weight."""
        self._compute(*arrays.in_data, *arrays.out_data, *arrays.aux_states)

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The call."""
        count = num_inputs + len(req) + num_states
        return [CallTemplate(self._compute, tuple(map(ArgumentSlot, range(count))))]

    def _compute(self, *arrays: Any) -> None:
        self._function(*arrays, *self.values)


@final
class _Moved(NamedTuple):
    """An update in a program.

    Attributes:
        node_id: Its node.
        run_time: Checks and converts the parameters of a step.
        operator: What is told them.
        plain: The operator itself.
    """

    node_id: int
    run_time: RunTime
    operator: _WithValues
    plain: Operator


@final
class WholeStep:
    """One program, bound to an executor's arrays and to the states of updates.

    Args:
        names: Arguments that are moved.
        calls: Their updates.
        invokers: The operators of these.

    Attributes:
        program: What is bound.

    Raises:
        ApartError: One program would not do the same.
    """

    def __init__(
        self,
        executor: Executor,
        names: Sequence[str],
        calls: Sequence[UpdateCall],
        invokers: Sequence[Invoker],
    ) -> None:
        self._executor = executor
        arrays = {**executor.arg_dict, **executor.aux_dict}
        updates: dict[str, Update] = {}
        states: dict[str, NDArray] = {}
        numbers = dict(zip(names, count(), strict=False))
        # Roughly as gradients are made: what is read last has its gradient first.
        ordered = [name for name in reversed(executor.arg_dict) if name in numbers]
        for name in ordered:
            own_states, invoker = calls[numbers[name]][1], invokers[numbers[name]]
            _check_update(invoker, len(own_states))
            own = _named(f"{name}_state", own_states, {*arrays, *head_names(executor.graph)})
            updates[name] = Update(invoker.prop, {key: (one.shape, one.dtype) for key, one in own.items()})
            states.update(own)
        if problem := overlap(executor, names, states):
            raise ApartError(problem)
        if any(state.context is not executor.ctx for state in states.values()):
            raise ApartError("states of its updater are on another context")
        kept = [name for name in ordered if executor.grad_dict[name] is not None]
        others = [n for n, grad in executor.grad_dict.items() if grad is not None and n not in updates]
        program = self.program = compiled(
            executor.graph,
            executor.ctx,
            dict.fromkeys([*ordered, *others], "write"),
            {name: array.shape for name, array in arrays.items()},
            {name: array.dtype for name, array in arrays.items()},
            {},
            pass_list(updates_pass(updates, kept)),
        )
        self._check(program)
        everything = {**arrays, **states}
        bound = {entry: everything[name] for name, entry in program.variables.items()}
        bound.update(zip(program.updates, [executor.arg_dict[name] for name in kept], strict=True))
        for name, entry in program.gradients.items():
            grad = executor.grad_dict[name]
            bound[entry] = executor.arg_dict[name] if grad is None else grad
        for entry, output in zip(program.outputs, executor.outputs, strict=True):
            bound.setdefault(entry, output)
        operators = program.operators([*program.forward, *program.backward])
        homes = {**program.gradients, **dict(zip(kept, program.updates, strict=True))}
        self._moved = [
            _moved(program.graph.node_ids[program.graph.entries[homes[name]].node], invoker, operators)
            for name, invoker in zip(names, invokers, strict=True)
        ]
        operators |= {one.node_id: one.operator for one in self._moved}
        self._bound = BoundProgram(program, bound, executor.pool, operators)
        for segment in self._bound.backward:
            segment.code.is_light = len(self._bound.backward) == 1 and self._is_light(segment)

    def _is_light(self, segment: Segment) -> bool:
        """Return whether the calling thread may run it, as it would gradients and then updates."""
        moved = {one.node_id for one in self._moved}
        groups = [[n for n in segment.node_ids if (n in moved) is is_moved] for is_moved in (False, True)]
        return not segment.ctx.is_gpu and all(
            estimated([self.program.costs[node_id] for node_id in group]).is_light for group in groups
        )

    def _check(self, program: Program) -> None:
        executor = self._executor
        for name, head in zip(executor.graph.list_outputs(), head_names(executor.graph), strict=True):
            if head in program.variables:
                raise ApartError(f"output {name!r} is no loss, so its gradient must be given")
        for node in program.graph.op_nodes:
            if node.op.is_stateful:
                raise ApartError(f"{node.name!r} ({node.op.name}) keeps a state of its own")

    def run(self, values: Sequence[tuple[Any, ...]]) -> None:
        """Push a step, with the run-time parameters of each update."""
        given = {
            one.node_id: (one.operator, one.run_time.converted(value, one.plain))
            for one, value in zip(self._moved, values, strict=True)
        }

        def before(node_ids: Sequence[int]) -> Callable[[], object]:
            return partial(_tell, [given[node_id] for node_id in node_ids if node_id in given])

        self._executor.run_extended(self._bound, before)


def _tell(given: Sequence[tuple[_WithValues, tuple[Any, ...]]]) -> None:
    for operator, values in given:
        operator.values = values


def _moved(node_id: int, invoker: Invoker, operators: Mapping[int, Operator]) -> _Moved:
    plain = operators[node_id]
    if plain.direct_with_values is None:
        raise ApartError(f"{invoker.prop.name} depends on its parameters before it runs")
    return _Moved(node_id, RunTime(invoker.prop), _WithValues(plain), plain)


def _check_update(invoker: Invoker, num_states: int) -> None:
    prop = invoker.prop
    counts = len(prop.list_arguments()), len(prop.list_outputs()), len(prop.list_auxiliary_states())
    is_usual = prop.input_positions() is None and not prop.is_stateful
    in_place = [*prop.forward_inplace_option([0, 1], [0])] if counts[:2] == (2, 1) else []
    if not is_usual or counts != (2, 1, num_states) or (0, 0) not in in_place:
        raise ApartError(f"{prop.name} is not a weight and its gradient, and the new weight in its place")


def overlap(executor: Executor, names: Collection[str], states: Mapping[str, NDArray]) -> str:
    """Arrays that share memory with one that is written, in words; "" if none do.

    An update in the program would come before others read what it overwrites.
    """
    everything = {**executor.arg_dict, **executor.aux_dict}
    uses = [Access(repr(name), array, "read") for name, array in everything.items() if name not in names]
    uses += [Access(repr(name), executor.arg_dict[name], "move") for name in names]
    uses += [Access(repr(name), state, "write") for name, state in states.items()]
    gradients = executor.grad_dict.items()
    uses += [
        Access(f"the gradient of {name!r}", grad, "write") for name, grad in gradients if grad is not None
    ]
    found = overlap_check(uses)
    return f"{found[0]} shares memory with {found[1]}" if found else ""


def _named(word: str, states: Sequence[NDArray], taken: Collection[str]) -> dict[str, NDArray]:
    """States by names that no variable has."""
    while any(f"{word}{number}" in taken for number in range(len(states))):
        word += "_"
    return {f"{word}{number}": state for number, state in enumerate(states)}
