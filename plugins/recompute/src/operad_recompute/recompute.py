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

from operad.graph import Graph, Pass
from operad_recompute.free import freely
from operad_recompute.memory import within
from operad_recompute.outcome import Facts
from operad_recompute.settings import RecomputeSettings
from operad_recompute.values import Values


def _run(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    settings = RecomputeSettings.from_environment()
    unchanged = graph, {"shapes": facts["shapes"], "types": facts["types"]}
    # The values of a tape are kept already, and without gradients nothing is.
    if settings.mode == "off" or graph.computed or not facts["wanted"]:
        return unchanged
    values = Values(graph, facts)
    is_free = settings.mode == "free"
    found = freely(values, facts) if is_free else within(values, facts, settings.budget_bytes)
    if found is None:
        return unchanged
    return found.graph, {"shapes": found.facts["shapes"], "types": found.facts["types"]}


recompute: Final = Pass(
    "recompute",
    _run,
    requires=("shapes", "types", "contexts", "costs", "num_outputs", "wanted", "grad_req"),
    provides=("shapes", "types"),
    reads_names=False,
)
