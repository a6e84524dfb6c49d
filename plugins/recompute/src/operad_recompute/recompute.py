"""The pass: backward computes values again that would have to be kept for it since forward.

Three modes. `free` runs nodes once more that together take a small share of a step, and only where the plan
gets smaller. `memory` runs any node once more that can be, the fewest that bring the plan down to a budget,
or without one those with which it is smallest. `off` does nothing. In the other two the attribute
`force_mirroring` of a node decides for it, as in MXNet.

Source: the mirror function of MXNet's gradient pass (src/nnvm/gradient.cc, `MXNET_BACKWARD_DO_MIRROR`).
Differs: what is kept is a minimum cut and no choice by operator, plans are compared, and it is on by default.
"""

from __future__ import annotations

from typing import Final

from operad.graph import Graph, Pass, ShapeTable, node_costs
from operad.interrupts import raise_of_handler
from operad_passes import tables
from operad_recompute import free
from operad_recompute.memory import within
from operad_recompute.outcome import Facts, Outcome
from operad_recompute.settings import RecomputeSettings
from operad_recompute.values import Values
from operad_sdk.declare.size_classes import largest_of_class


def _run(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    settings = RecomputeSettings.from_environment()
    unchanged = graph, {"shapes": facts["shapes"], "types": facts["types"]}
    # The values of a tape are kept already, and without gradients nothing is.
    if settings.mode == "off" or graph.computed or not facts["wanted"]:
        return unchanged
    if settings.mode == "free":
        found = _of_class(graph, facts)
    else:
        facts = {**facts, "costs": node_costs(graph, facts["shapes"], facts["types"])}
        found = within(Values(graph, facts), facts, settings.budget_bytes)
    return unchanged if found is None else (found.graph, tables(found.graph, found.entries, facts))


def _of_class(graph: Graph, facts: Facts) -> Outcome | None:
    """Outcome of mode `free`, found once for all sizes of a class; no bit depends on it."""
    shapes, types = facts["shapes"].values, facts["types"]
    stands = {shape: tuple(map(largest_of_class, shape)) for shape in set(shapes)}
    of_class = [stands[shape] for shape in shapes]
    request = (facts["num_outputs"], *facts["wanted"], *facts["grad_req"].items())
    key = (*of_class, *types.values, *facts["contexts"], *request)
    known = graph.memo.setdefault("recompute", {})
    if key not in known:
        try:
            known[key] = _freely(graph, {**facts, "shapes": ShapeTable(graph, of_class, True)})
        except Exception as error:  # noqa: BLE001 - an author's rule, to which such shapes may not fit
            raise_of_handler(error)
            return _freely(graph, facts)
    found: Outcome | None = known[key]
    return found


def _freely(graph: Graph, facts: Facts) -> Outcome | None:
    facts = {**facts}
    values = Values(graph, facts)
    if values.kept_bytes < free.WORTH_BYTES and not values.forced:
        return None
    facts["costs"] = node_costs(graph, facts["shapes"], facts["types"])  # which values read from here on
    return free.freely(values, facts)


recompute: Final = Pass(
    "recompute",
    _run,
    requires=("shapes", "types", "contexts", "num_outputs", "wanted", "grad_req"),
    provides=("shapes", "types"),
    reads_names=False,
)
