"""Layout of a program whose run is one operation: what lives where, and the calls over it.

A value lies in one of four places. Arguments, states, outputs and gradients are arrays of a call. What forward
computes and backward reads lies in the *arena*, an array that forward returns as a hidden output, so it lives
as long as a tape wants it, and several runs may be live at once. Everything else lies in scratch memory of the
device, which the next operation may use. Backward writes nothing in the arena, so it may run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from operad import resource
from operad.device import Context
from operad.dtypes import DType
from operad.engine.thread import local
from operad.executor.compiling import compiled
from operad.graph import MEMORY, Facts, Graph, OpNode, bound_entries, estimated, pass_list
from operad.graph import head_names as names_of_heads
from operad.graph import planned, values_read
from operad.op import BLAS_FLOPS, Cost, Operator, OpReq, Shape
from operad.program import Program, SegmentCode, codes, node_profiling, run_calls
from operad.resource import Resource, ResourceRequest

_ALIGNMENT: Final = 64
_MOST_BASES: Final = 4
"""Tables of views that a piece keeps: one for each place of arena and scratch memory that it saw last."""

Place = tuple[bool, int, int]
"""Whether a value lies in the arena, its first byte, and its number of bytes."""


@final
class Layout:
    """A program for one signature, and the places of its values.

    Attributes:
        program: The program.
        ctx: Where it runs.
        heads: By output, the entry of its head gradient; None where nothing reads it.
        places: By entry, its place in arena or scratch memory.
        arena_bytes: Size of the arena; 0 where backward reads nothing that is no array of the call.
        kinds: By direction, the resources that its nodes request.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        req: Mapping[str, str],
        shapes: Mapping[str, Shape],
        types: Mapping[str, DType],
    ) -> None:
        passes = [each._replace(run=_memory) if each is MEMORY else each for each in pass_list()]
        program = self.program = compiled(graph, ctx, req, shapes, types, {}, passes=passes)
        self.heads = [program.variables.get(name) for name in names_of_heads(graph)]
        self.ctx = ctx
        self.parts = {"forward": program.forward, "backward": program.backward}
        self.reads = {
            entry
            for node_id in program.backward
            for entry in program.graph.nodes[node_id].of_read(program.graph.input_ids[node_id])
        }
        self.places: dict[int, Place] = {}
        self.arena_bytes = self._place()
        self.kinds = {name: self._requests(name) for name in self.parts}
        self._codes: dict[Any, list[SegmentCode]] = {}

    def _place(self) -> int:
        """Give every entry without an array a place; returns the bytes of the arena."""
        program, plan = self.program, self.program.plan
        ends = {True: 0, False: 0}

        def take(size_bytes: int, is_kept: bool) -> int:
            start = ends[is_kept]
            ends[is_kept] += -(-size_bytes // _ALIGNMENT) * _ALIGNMENT
            return start

        starts = [take(block.size_bytes, False) for block in plan.blocks]
        for entry, placed in enumerate(plan.placements):
            if placed is not None:
                self.places[entry] = (False, starts[placed.block] + placed.offset_bytes, placed.size_bytes)
        given = {*program.outputs, *program.gradients.values(), *program.variables.values()}
        first = program.graph.first_entries[len(program.forward)]
        for entry, home in plan.bound.items():
            if entry == home and entry not in given:
                is_kept = entry < first and entry in self.reads
                size_bytes = program.spec(entry).nbytes
                self.places[entry] = (is_kept, take(size_bytes, is_kept), size_bytes)
        self.scratch_bytes = ends[False]
        return ends[True]

    def _requests(self, name: str) -> list[ResourceRequest]:
        """As many of each kind as one node wants at most, and the scratch memory at the end."""
        most: dict[ResourceRequest, int] = {}
        for node_id in self._op_ids(name):
            kinds = self.program.resources(node_id)
            most.update({kind: max(most.get(kind, 0), kinds.count(kind)) for kind in kinds})
        found = [kind for kind, number in most.items() for _ in range(number)]
        return [*found, ResourceRequest.TEMP_SPACE] if self.scratch_bytes else found

    def _op_ids(self, name: str) -> list[int]:
        nodes = self.program.graph.nodes
        return [node_id for node_id in self.parts[name] if isinstance(nodes[node_id], OpNode)]

    def operators(self) -> dict[int, Operator]:
        """New operators for all nodes."""
        return self.program.operators([*self.program.forward, *self.program.backward])

    def cost(self, name: str) -> Cost:
        """Estimate of a run."""
        costs = [self.program.costs[node_id] for node_id in self._op_ids(name)]
        has_product = any(cost.has_product for cost in costs)
        return estimated(costs)._replace(flops=BLAS_FLOPS * has_product)

    def codes(self, name: str, requested: Sequence[Resource]) -> list[SegmentCode]:
        """The calls of one direction, whose resources are those of `requested`."""
        key = (name, *requested)
        found = self._codes.get(key)
        if found is None:
            with resource.Given([*zip(self.kinds[name], requested, strict=True)]):
                found = self._codes[key] = codes(self.program, self.parts[name])
        return found


def _memory(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    """Plan the memory of what neither the caller nor the arena holds."""
    requests = bound_entries(graph, facts)
    ids = graph.node_ids
    end = max([ids[entry.node] for entry in graph.outputs[: facts["num_outputs"]]], default=-1)
    for node in graph.nodes[end + 1 :]:
        for entry in values_read(node):
            if isinstance(entry.node, OpNode) and ids[entry.node] <= end:
                requests.setdefault(entry, OpReq.WRITE)
    return graph, {"plan": planned(graph, facts, requests)}


@final
class Runner:
    """Runs one direction of a layout over the arrays of a call, as one function of these.

    Args:
        slots: By entry, the position of its array among the arguments.
        copies: Pairs of positions: what is copied from the first to the second behind the run.
        sums: Pairs of positions: what is added to the second.
        temporary: Entries whose arrays are made for the run; their positions are those behind all arguments.
        arena: The position of the arena; None where there is none.
    """

    def __init__(
        self, layout: Layout, name: str, op_ctx: Any, operators: Mapping[int, Operator], slots: Mapping[int, int],
        copies: Sequence[tuple[int, int]], sums: Sequence[tuple[int, int]], temporary: Sequence[int], arena: int | None,
    ) -> None:
        self._xp = op_ctx.xp
        self._is_train = op_ctx.is_train
        self._arena = arena
        self._space = op_ctx.requested[-1] if layout.scratch_bytes else None
        self._layout = layout
        self._copies, self._sums = copies, sums
        self._temporary = [layout.program.spec(entry) for entry in temporary]
        homes = {entry: slots[home] for entry, home in layout.program.aliased_entries if home in slots}
        pieces = layout.codes(name, op_ctx.requested)
        self._pieces = [_Piece(layout, code, operators, {**slots, **homes}) for code in pieces]

    def __call__(self, *arrays: Any) -> None:
        given: Sequence[Any] = arrays
        if self._temporary:
            given = [*arrays, *[self._xp.empty(spec.shape, spec.dtype) for spec in self._temporary]]
        memory = [None, None]
        if self._space is not None:
            memory[0] = self._space.get_space((self._layout.scratch_bytes,), "uint8")
        if self._arena is not None:
            memory[1] = arrays[self._arena]
        key = tuple([None if one is None else _address(one) for one in memory])
        for piece in self._pieces:
            piece.run(_Bound(piece, given, memory, key), self._is_train)
        for source, target in self._copies:
            given[target][...] = given[source]
        for source, target in self._sums:
            given[target][...] += given[source]


def _address(array: Any) -> int:
    interface = getattr(array, "__array_interface__", None) or array.__cuda_array_interface__
    address: int = interface["data"][0]
    return address


@final
class _Piece:
    """Code of a segment, and where its arrays come from."""

    def __init__(
        self, layout: Layout, code: SegmentCode, operators: Mapping[int, Operator], slots: Mapping[int, int]
    ) -> None:
        self.operators = operators
        self.fills: list[tuple[int, int]] | None = None  # positions in the table, and among the arrays
        self._layout = layout
        self._code = code
        self._slots = slots
        self._bases: dict[Any, list[Any]] = {}

    def run(self, bound: _Bound, is_train: bool) -> None:
        code = self._code
        if (run_ctx := local.state.run_ctx) is not None:
            run_ctx.is_worth = code.is_parallel  # as for a segment that is pushed
        calls, node_ids = code.calls(bound, is_train)
        timeline = None if node_profiling.observer is None else code.timeline(is_train)
        run_calls(code, calls, node_ids, timeline)

    def base(self, entries: Sequence[int], memory: Sequence[Any], key: Any) -> list[Any]:
        """The table of what lies in the memory; None for what lies in arrays of the call."""
        found = self._bases.get(key)
        if found is None:
            found = [self._view(entry, memory) for entry in entries]
            self.fills = [(i, self._slots[e]) for i, e in enumerate(entries) if e in self._slots]
            if len(self._bases) >= _MOST_BASES:
                self._bases.clear()
            self._bases[key] = found
        return found

    def _view(self, entry: int, memory: Sequence[Any]) -> Any:
        if entry in self._slots:
            return None
        is_kept, start, size_bytes = self._layout.places[entry]
        spec = self._layout.program.spec(entry)
        return memory[is_kept][start : start + size_bytes].view(spec.dtype).reshape(spec.shape)


@final
class _Bound:
    """What code asks of a binding: the arrays of entries, and the operators of nodes."""

    __slots__ = ("_arrays", "_key", "_memory", "_piece", "operators")

    def __init__(self, piece: _Piece, arrays: Sequence[Any], memory: Sequence[Any], key: Any) -> None:
        self._piece, self._arrays, self._memory, self._key = piece, arrays, memory, key
        self.operators = piece.operators

    def data_of(self, entries: Sequence[int]) -> list[Any]:
        """The plain arrays of entries."""
        piece, arrays = self._piece, self._arrays
        table = piece.base(entries, self._memory, self._key).copy()
        assert piece.fills is not None
        for position, slot in piece.fills:
            table[position] = arrays[slot]
        return table
