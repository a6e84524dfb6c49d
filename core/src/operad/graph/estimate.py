"""A quick estimate of planned memory: the largest sum of live values, without the packing.

It is the lower bound of the memory plan where the nodes run one after another; plans are within a few percent
of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from operad.graph.demands import prepared_entries
from operad.graph.ir import Entry, Graph, Variable
from operad.graph.liveness import Liveness
from operad.graph.memory import lower_bound_bytes
from operad.graph.schedule import Schedule
from operad.op import OpReq

REQUESTS: Final = {"null": OpReq.NULL, "write": OpReq.WRITE, "add": OpReq.ADD}
"""Requests of a gradient that a caller may make, by name."""


def planned_bytes(graph: Graph, facts: Mapping[str, Any]) -> int:
    """Roughly what a memory plan of the graph will need, in bytes.

    Args:
        facts: `shapes`, `types` and `contexts` of this graph, and what is known of the request:
            `num_outputs`, `wanted`, `grad_req`.
    """
    return estimated_bytes(graph, facts, bound_entries(graph, facts))


def estimated_bytes(graph: Graph, facts: Mapping[str, Any], requests: Mapping[Entry, OpReq]) -> int:
    """The same, where the entries that have arrays of their own are given with their requests."""
    schedule = Schedule(graph, facts["contexts"])
    bound = {graph.entry_id(entry): request for entry, request in requests.items()}
    buffers = Liveness(schedule, facts["shapes"], facts["types"], bound).buffers
    return lower_bound_bytes(buffers)


def bound_entries(graph: Graph, facts: Mapping[str, Any]) -> dict[Entry, OpReq]:
    """The entries that have arrays of their own, with requests.

    They are the outputs, new values of arguments, gradients, and what is prepared.
    """
    others, gradients = apart(graph, facts)
    found = {entry: OpReq.WRITE for entry in others if not isinstance(entry.node, Variable)}
    found |= dict.fromkeys(prepared_entries(graph), OpReq.WRITE)
    return found | {entry: REQUESTS[facts["grad_req"][name]] for name, entry in gradients.items()}


def apart(graph: Graph, facts: Mapping[str, Any]) -> tuple[Sequence[Entry], dict[str, Entry]]:
    """The outputs of a graph but for the gradients, and these by name; there may be none yet.

    Gradients are the last outputs. Between those that the caller sees and these may stand new values of
    arguments; see `operad.graph.updates`.
    """
    wanted = facts["wanted"] if len(graph.outputs) > facts["num_outputs"] else ()
    end = len(graph.outputs) - len(wanted)
    return graph.outputs[:end], dict(zip(wanted, graph.outputs[end:], strict=True))
