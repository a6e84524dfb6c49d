"""Layout of a program whose run is one operation: what lives where, and the calls over it.

A value lies in one of three places. Arguments, states, outputs and gradients are arrays of a call. What
forward computes and backward reads lies in the *arena*, an array that forward returns as a hidden output, so
it lives as long as a tape wants it, and several runs may be live at once. Everything else lies in scratch
memory of the device, which the next operation may use. Backward writes nothing in the arena, so it may run
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import is_not
from typing import Any, Final, final

from operad import graph as graphs
from operad.device import Context
from operad.engine.thread import local
from operad.executor.compiling import compiled
from operad.imperative import ArraySpec, insert_bounded
from operad.op import BLAS_FLOPS, Cost, OpContext, Operator, OpReq
from operad.program import KeptCalls, SegmentCode, codes, run_kept
from operad.resource import Resource, ResourceRequest

_ALIGNMENT: Final = 64
_MOST_KEPT: Final = 4
"""Sets of calls that a runner keeps: one for each place of arena and scratch memory that it saw last."""


@final
class Layout:
    """A program for one signature, and the places of its values.

    Args:
        specs: Specifications of the graph's variables, by name.
        requests: `write` or `add` for each argument whose gradient is computed.
        lasting: Variables that are the same array in every call.

    Attributes:
        program: The program.
        preparations: The nodes that prepare arrays of lasting variables, which a run does not compute.
        entries: By name, the entry of every variable and of what these nodes prepare.
        heads: By output, the entry of its head gradient; None where nothing reads it.
        reads: Entries that backward reads.
        places: By entry, whether it lies in the arena, its first byte, and its number of bytes.
        scratch_bytes: Size of the scratch memory; `arena_bytes` that of the arena.
        kinds: By direction, the resources that it requests; the last one is the scratch memory.
    """

    def __init__(
        self,
        graph: graphs.Graph,
        ctx: Context,
        specs: Mapping[str, ArraySpec],
        requests: Mapping[str, str],
        lasting: Collection[str],
    ) -> None:
        passes = [
            each._replace(run=_memory) if each is graphs.MEMORY else each for each in graphs.pass_list()
        ]
        shapes = {name: spec.shape for name, spec in specs.items()}
        types = {name: spec.dtype for name, spec in specs.items()}
        self.program = program = compiled(graph, ctx, requests, shapes, types, {}, passes=passes)
        self.heads = [program.variables.get(name) for name in graphs.head_names(graph)]
        nodes, inputs = program.graph.nodes, program.graph.input_ids
        given = {entry for name, entry in program.variables.items() if name in lasting}
        self.preparations = [i for i in program.preparations if given.issuperset(inputs[i])]
        prepared = {nodes[i].name: program.entry_range(i).start for i in self.preparations}
        self.entries = {**program.variables, **prepared}
        self._parts = {
            name: [i for i in part if isinstance(nodes[i], graphs.OpNode) and i not in self.preparations]
            for name, part in (("forward", program.forward), ("backward", program.backward))
        }
        self.reads = {entry for i in program.backward for entry in nodes[i].of_read(inputs[i])}
        self.places: dict[int, tuple[bool, int, int]] = {}
        self.scratch_bytes, self.arena_bytes = self._place()
        self.kinds = {name: self._requests(name) for name in self._parts}

    def _place(self) -> list[int]:
        """Give every entry without an array a place; returns the bytes of scratch memory and arena."""
        program, plan, ends = self.program, self.program.plan, [0, 0]

        def take(size_bytes: int, is_kept: bool) -> int:
            start = ends[is_kept]
            ends[is_kept] += -(-size_bytes // _ALIGNMENT) * _ALIGNMENT
            return start

        starts = [take(block.size_bytes, False) for block in plan.blocks]
        for entry, placed in enumerate(plan.placements):
            if placed is not None:
                self.places[entry] = (False, starts[placed.block] + placed.offset_bytes, placed.size_bytes)
        given = {*program.outputs, *program.gradients.values(), *self.entries.values()}
        first = program.graph.first_entries[len(program.forward)]
        for entry, home in plan.bound.items():
            if entry == home and entry not in given:
                is_kept, size_bytes = entry < first and entry in self.reads, program.spec(entry).nbytes
                self.places[entry] = (is_kept, take(size_bytes, is_kept), size_bytes)
        return ends

    def _requests(self, name: str) -> list[ResourceRequest]:
        """As many of each kind as one node wants at most, and the scratch memory."""
        most: Counter[ResourceRequest] = Counter()
        for node_id in self._parts[name]:
            most |= Counter(self.program.resources(node_id))
        return [*most.elements(), ResourceRequest.TEMP_SPACE]

    def cost(self, name: str) -> Cost:
        """Estimate of a run."""
        costs = [self.program.costs[node_id] for node_id in self._parts[name]]
        uses_blas = any(code.uses_blas for code in codes(self.program, self._parts[name]))
        return graphs.estimated(costs)._replace(flops=BLAS_FLOPS * uses_blas)

    def codes(self, name: str, requested: Sequence[Resource]) -> list[SegmentCode]:
        """The calls of one direction, whose resources are those of `requested`."""
        given = [*zip(self.kinds[name], requested, strict=True)]
        found = codes(self.program, self._parts[name])
        for code in found:
            code.resources = {i: _of_kinds(self.program.resources(i), given) for i in code.resources}
        return found


def _of_kinds(
    kinds: Sequence[ResourceRequest], given: Sequence[tuple[ResourceRequest, Resource]]
) -> tuple[Resource, ...]:
    """Resources of one node. Others may have the same ones, as nodes of one operation run one by one."""
    turns = {kind: iter([one for each, one in given if each is kind]) for kind in kinds}
    return tuple(next(turns[kind]) for kind in kinds)


def _memory(graph: graphs.Graph, facts: graphs.Facts) -> tuple[graphs.Graph, graphs.Facts]:
    """Plan the memory of what neither a caller nor the arena holds."""
    requests, ids = graphs.bound_entries(graph, facts), graph.node_ids
    end = 1 + max([ids[entry.node] for entry in graph.outputs[: facts["num_outputs"]]], default=-1)
    for node in graph.nodes[end:]:
        for entry in graphs.values_read(node):
            if isinstance(entry.node, graphs.OpNode) and ids[entry.node] < end:
                requests.setdefault(entry, OpReq.WRITE)
    return graph, {"plan": graphs.planned(graph, facts, requests)}


@final
class Runner:
    """Runs one direction of a layout over the arrays of a call, as one function of these."""

    def __init__(
        self,
        layout: Layout,
        name: str,
        op_ctx: OpContext,
        operators: Mapping[int, Operator],
        slots: Mapping[int, int],
        arena: int,
    ) -> None:
        homes = dict(layout.program.aliased_entries)
        self._slots = {**slots, **{entry: slots[home] for entry, home in homes.items() if home in slots}}
        self._layout, self._op_ctx, self._operators, self._arena = layout, op_ctx, operators, arena
        self._codes = layout.codes(name, op_ctx.requested)
        taken = [[(i, self._slots.get(e)) for i, e in enumerate(code.entries)] for code in self._codes]
        self._fills = [[(i, slot) for i, slot in pairs if slot is not None] for pairs in taken]
        # By addresses of scratch memory and arena.
        # invariant: runs name the scratch memory, so no two of them are here at once.
        self._kept: dict[Any, list[KeptCalls]] = {}
        self._memory: tuple[Any, Any] = (None, None)  # of the last run
        self._calls: list[KeptCalls] = []

    def __call__(self, *arrays: Any) -> None:
        """Run it."""
        op_ctx = self._op_ctx
        scratch = op_ctx.requested[-1].get_space((self._layout.scratch_bytes,), "uint8")
        memory = (scratch, arrays[self._arena])
        if any(map(is_not, memory, self._memory)):
            # A view keeps its memory, so no other array is ever at an address that is a key.
            key = (*map(_address, memory),)
            found = self._kept.get(key) or [self._over(memory, arrays, code) for code in self._codes]
            insert_bounded(self._kept, key, found, _MOST_KEPT)
            self._memory, self._calls = memory, found
        for code, calls, fills in zip(self._codes, self._calls, self._fills, strict=True):
            if (run_ctx := local.state.run_ctx) is not None:
                run_ctx.is_worth = code.is_parallel  # as for a segment that is pushed
            calls.exchange(fills, arrays)
            run_kept(code, calls, op_ctx.is_train)

    def _over(self, memory: Sequence[Any], arrays: Sequence[Any], code: SegmentCode) -> KeptCalls:
        """Calls over some memory, and the arrays of a run."""

        def view(entry: int) -> Any:
            is_kept, start, size = self._layout.places[entry]
            spec = self._layout.program.spec(entry)
            return memory[is_kept][start : start + size].view(spec.dtype).reshape(spec.shape)

        table = [arrays[self._slots[e]] if e in self._slots else view(e) for e in code.entries]
        return KeptCalls(code, self._operators, self._op_ctx.is_train, table)


def _address(array: Any) -> int:
    interface = getattr(array, "__array_interface__", None) or array.__cuda_array_interface__
    return int(interface["data"][0])
