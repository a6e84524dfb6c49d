"""Code of a segment: its calls, without their arrays.

The backward pass of a tape runs the same calls in every iteration of training, on other arrays. So what
depends on the program alone is worked out once: the functions, where each takes its arrays from, and which
entries the engine must know of. A `Binding` turns that into calls: the arrays of all entries make one table,
and every call gathers its own out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import call as call_with
from operator import itemgetter
from typing import Any, NamedTuple, final

from operad import resource
from operad.engine.thread import local
from operad.graph import OpNode, estimated
from operad.op import MULTIPLIED_SIZE, ArgumentSlot, CallTemplate, Gradient, OpContext, Operator, OpReq
from operad.program.profile import Timeline
from operad.program.program import Call, Program


class _Compiled(NamedTuple):
    """The calls for some operators in one mode.

    Attributes:
        operators: Those that were asked for the calls.
        gathers: For each call, what takes its function and arguments out of the table.
        constants: What stands in the table behind the arrays and the operators.
        node_ids: The node of each call.
        users: For each array in the table, the numbers of the calls that take it.
    """

    operators: Sequence[Operator]
    gathers: Sequence[Callable[[Any], Any]]
    constants: Sequence[Any]
    node_ids: Sequence[int]
    users: Sequence[Sequence[int]]


@final
class SegmentCode:
    """The calls of some nodes of a program, all on one context.

    Attributes:
        program: The program.
        node_ids: What is run, in order.
        ctx: Where.
        is_light: Whether the calling thread may run it.
        is_parallel: Whether its first node is worth several threads.
        uses_blas: Whether it may compute a product that BLAS would divide.
        reads: Entries read that no node of these wrote before; one for each block.
        writes: Entries written, each with whether it is added to; likewise.
        states: Entries of auxiliary states that are written, by mode.
        label: What errors call it.
        entries: Entries of the arrays of its calls, one for each place.
        operator_ids: For each node, the one whose operator runs it.
        kept: Nodes of the operators whose own state is used, each with whether that is written again.
        resources: For each node that asked for some, what it got.
    """

    def __init__(self, program: Program, node_ids: Sequence[int]) -> None:
        self.program = program
        self.node_ids = node_ids
        self.ctx = program.contexts[node_ids[0]]
        manager = resource.current()
        self.resources: dict[int, tuple[Any, ...]] = {
            node_id: manager.request_all(self.ctx, kinds)
            for node_id in node_ids
            if (kinds := program.resources(node_id))
        }
        costs = [program.costs[node_id] for node_id in node_ids]
        self.is_light = not self.ctx.is_gpu and estimated(costs).is_light
        self.is_parallel = costs[0].is_parallel
        first, last = [program.named(program.numbered.nodes[node_ids[i]].name) for i in (0, -1)]
        self.label = first if len(node_ids) == 1 else f"{first}..{last}"
        self._calls = [program.call(node_id) for node_id in node_ids]
        self.operator_ids = [call.operator for call in self._calls]
        self.uses_blas = any(cost.has_product for cost in costs) or any(map(self._may_multiply, self._calls))
        self._compiled: dict[bool, _Compiled] = {}
        self._timelines: dict[bool, Timeline] = {}
        self.entries: list[int] = []
        self._numbers: dict[Hashable, int] = {}  # where entries stand in the table, by where they lie
        self._note_entries()

    def _may_multiply(self, call: Call) -> bool:
        """Return whether a node has arrays enough for a product that BLAS would divide, stated or not."""
        sizes = self.program.sizes
        return sum([sizes[e] for e in {*call.reads, *call.outs} if e is not None]) >= MULTIPLIED_SIZE

    def _note_entries(self) -> None:
        reads: dict[int, int] = {}
        writes: dict[tuple[int, bool], tuple[int, bool]] = {}
        states: dict[bool, dict[int, None]] = {True: {}, False: {}}
        kept: dict[int, bool] = {}
        own: set[int | None] = set()
        blocks, places, numbers = self.program.blocks, self.program.places, self._numbers
        for node_id, call in zip(self.node_ids, self._calls, strict=True):
            node = self.program.numbered.nodes[node_id]
            assert isinstance(node, OpNode)
            for mode, moving in states.items():
                moving.update(dict.fromkeys(call.aux if node.op.moves_states(mode) else ()))
            for entry in (*call.reads, *call.aux):
                if entry not in own:
                    reads.setdefault(blocks[entry], entry)
            for target, request in zip(call.outs, call.req, strict=True):
                adds = request is OpReq.ADD
                if target is not None:
                    writes.setdefault((blocks[target], adds), (target, adds))
            own.update(call.outs)
            kept[call.operator] = kept.get(call.operator, True) and node_id == call.operator
            for slot in call.slots:
                if slot is not None and places[slot] not in numbers:
                    numbers[places[slot]] = len(self.entries)
                    self.entries.append(slot)
        self.reads, self.writes = list(reads.values()), list(writes.values())
        self.states, self.kept = {mode: [*moving] for mode, moving in states.items()}, kept

    def compiled(self, operators: Sequence[Operator], is_train: bool) -> _Compiled:
        """The calls for these operators, but for their arrays."""
        found = self._compiled.get(is_train)
        if found is None or not _are_alike(found.operators, operators):
            # One tuple, replaced whole, so that threads that share a program agree on what they see.
            found = self._compiled[is_train] = self._compile(operators, is_train)
        return found

    def timeline(self, is_train: bool) -> Timeline:
        """The nodes behind the calls, for a profiler; `calls` comes first."""
        found = self._timelines.get(is_train)
        if found is None:
            found = self._timelines[is_train] = Timeline(self.program, self._compiled[is_train].node_ids)
        return found

    def _compile(self, operators: Sequence[Operator], is_train: bool) -> _Compiled:
        """Ask the operators for their calls; between light and heavy ones say what threads are worth."""
        first = len(self.entries) + len(operators)
        constants: list[Any] = [None]
        numbers: dict[int, int] = {id(None): first}
        gathers: list[Callable[[Any], Any]] = []
        node_ids: list[int] = []
        users: list[list[int]] = [[] for _ in self.entries]

        def number(value: Any) -> int:
            found = numbers.get(id(value))
            if found is None:
                found = numbers[id(value)] = first + len(constants)
                constants.append(value)  # which keeps it, and so its id
            return found

        def add(position: int, template: CallTemplate, slots: Sequence[int | None] = ()) -> None:
            found = [number(template.function)]
            for arg in template.args:
                entry = slots[arg] if arg.__class__ is ArgumentSlot else None
                if entry is not None:
                    found.append(self._numbers[self.program.places[entry]])
                elif arg is operators[position]:  # of which the next run may have another
                    found.append(len(self.entries) + position)
                else:
                    found.append(number(None if arg.__class__ is ArgumentSlot else arg))
            for place in {*found}.intersection(range(len(users))):
                users[place].append(len(gathers))
            # Of one number, `itemgetter` would give the value and no sequence.
            gathers.append(
                itemgetter(*found) if len(found) > 1 else itemgetter(slice(found[0], found[0] + 1))
            )
            node_ids.append(self.node_ids[position])

        was_parallel = self.is_parallel
        for position, (node_id, call) in enumerate(zip(self.node_ids, self._calls, strict=True)):
            cost = self.program.costs[node_id]
            is_parallel = cost.is_parallel
            # What is no product and takes little asks for no threads worth a call.
            if is_parallel != was_parallel and (is_parallel or cost.has_product):
                was_parallel = is_parallel
                add(position, CallTemplate(_use_threads, (is_parallel,)))
            op_ctx = OpContext(self.ctx, is_train, self.resources.get(node_id, ()))
            for template in self._templates(node_id, operators[position], op_ctx):
                add(position, template, call.slots)
        return _Compiled(operators, gathers, constants, node_ids, users)

    def _templates(self, node_id: int, operator: Operator, op_ctx: OpContext) -> list[CallTemplate]:
        node, found = self.program.numbered.nodes[node_id], self.program.call(node_id)
        assert isinstance(node, OpNode)
        if found.operator != node_id:
            assert isinstance(node.op, Gradient)
            operator = node.op.sharing(operator)
        return operator.forward_templates(op_ctx, found.req, node.num_read, len(found.aux))


@final
class KeptCalls:
    """The calls of a segment over some arrays, of which the next run exchanges those that are others.

    Attributes:
        calls: The calls, each a function and its arguments.
        node_ids: The node of each.
    """

    def __init__(
        self, code: SegmentCode, operators: Mapping[int, Operator], is_train: bool, arrays: Sequence[Any]
    ) -> None:
        own = [operators[node_id] for node_id in code.operator_ids]
        compiled = code.compiled(own, is_train)
        self._gathers, self._users, self.node_ids = compiled.gathers, compiled.users, compiled.node_ids
        self._table = [*arrays, *own, *compiled.constants]
        self.calls = [*map(call_with, self._gathers, repeat(self._table))]

    def exchange(self, slots: Iterable[tuple[int, int]], arrays: Sequence[Any]) -> None:
        """Put the arrays of a run in the places of those of the last one.

        Args:
            slots: Position among the code's entries, and number among `arrays`, of each that may be another.
        """
        table, gathers = self._table, self._gathers
        for position, slot in slots:
            if table[position] is not (array := arrays[slot]):
                table[position] = array
                for number in self._users[position]:
                    self.calls[number] = gathers[number](table)


def _are_alike(some: Sequence[Operator], others: Sequence[Operator]) -> bool:
    """Return whether the calls of some operators are those of others, which stand in the table themselves."""
    return some == others or all(a is b or a.is_alike(b) for a, b in zip(some, others, strict=True))


def _use_threads(is_worth: bool) -> None:
    if run_ctx := local.state.run_ctx:
        run_ctx.is_worth = is_worth
