"""Facts about graphs that a pass has made."""

from __future__ import annotations

from core.tests.graph.networks import chain_of
from core.tests.graph.operators import Tanh, apply
from operad.context import cpu
from operad.graph import Graph
from operad_passes import carried


def test_facts_are_carried_to_a_graph_that_was_made_of_another():
    network, _ = chain_of(Tanh, 2)
    old = network.graph
    (end,) = old.outputs
    copy = apply(Tanh, "copy", end)
    found = carried(
        Graph([copy]),
        {copy.node: end.node},
        {"shapes": network.shapes, "types": network.types, "contexts": [cpu()] * len(old.nodes)},
    )
    assert found["shapes"].of(copy) == network.shapes.of(end)
    assert found["types"].of(copy) == network.types.of(end)
    assert found["contexts"] == [cpu()] * 4
