"""Text of an executor: its nodes with their places in memory, and the bytes that are planned for all of them.

Source: GraphExecutor::Print, src/executor/graph_executor.cc. Differs: each output is named with its place.
"""

from __future__ import annotations

from operad import Executor
from operad.graph import Variable
from operad.operator import ResourceRequest
from operad.program import Program


def debug_str(self: Executor) -> str:
    """The nodes in running order with their placements in memory, and what is planned for all of them."""
    program, lines, spaces = self.program, list[str](), 0
    for node_id in (*program.forward, *program.backward):
        node = program.graph.nodes[node_id]
        if not isinstance(node, Variable):
            places = [_place(program, entry) for entry in program.call(node_id).outs if entry is not None]
            lines.append(f"{node!r}: {', '.join(places)}")
            spaces += program.resources(node_id).count(ResourceRequest.TEMP_SPACE)
    size_bytes = program.plan.planned_bytes + program.plan.prepared_bytes
    size_bytes += sum(array.size * array.dtype.itemsize for array in self.outputs)
    lines += [f"Total {size_bytes >> 20} MB allocated", f"Total {spaces} TempSpace resource requested"]
    return "\n".join(lines)


def _place(program: Program, entry: int) -> str:
    request, placement = program.plan.requests[entry], program.plan.placements[entry]
    assert request is not None
    where = "array" if placement is None else f"block {placement.block} at {placement.offset_bytes}"
    return f"{program.graph.entries[entry].name} ({request.name.lower()}, {where})"
