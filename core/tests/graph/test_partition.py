"""What nodes are taken to cost, and which of them run beside each other."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Dense, apply, gradient_nodes, var
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.graph import Graph, gradient, infer_shapes, infer_types
from operad.graph.partition import assign_partitions, node_costs
from operad.op import Cost

FORWARD = Cost(loops=7.0, flops=2.0 * 4 * 5 * 3)


class Counted(Dense):
    """`Dense`, which counts its product."""

    multiplies = ("x", "w")

    def cost(self, in_shapes, out_shapes):
        return Cost(loops=7.0, flops=2.0 * in_shapes[0][0] * in_shapes[0][1] * self.hidden)


@pytest.mark.parametrize(("wanted", "products"), [("x", 1), ("w", 1), ("xw", 2)])
def test_a_backward_costs_a_product_for_each_gradient_that_is_wanted(wanted, products):
    arguments = {"x": var("x"), "w": var("w")}
    out = apply(Counted, "fc", *arguments.values(), hidden=3)
    graph = Graph([out, *gradient([out], [var("head")], [arguments[name] for name in wanted])])
    shapes = infer_shapes(graph, {"x": (4, 5), "head": (4, 3)})
    costs = node_costs(graph, shapes, infer_types(graph, {}, DEFAULT_DTYPE))
    (backward,) = gradient_nodes(graph)
    assert costs[graph.node_ids[out.node]] == FORWARD
    assert costs[graph.node_ids[backward]] == Cost(14.0, products * FORWARD.flops)


def test_a_backward_of_unknown_factors_costs_two_products(monkeypatch):
    monkeypatch.setattr(Counted, "multiplies", ())
    x, w = var("x"), var("w")
    out = apply(Counted, "fc", x, w, hidden=3)
    graph = Graph([out, *gradient([out], [var("head")], [w])])
    shapes = infer_shapes(graph, {"x": (4, 5), "head": (4, 3)})
    costs = node_costs(graph, shapes, infer_types(graph, {}, DEFAULT_DTYPE))
    assert costs[-1] == Cost(14.0, 2 * FORWARD.flops)


@pytest.mark.parametrize(
    ("cost", "count"), [(Cost(loops=2e7), 2), (Cost(flops=2e7), 2), (Cost(flops=2e6), 1)]
)
def test_branches_are_dealt_to_two_threads_where_their_time_is_worth_it(cost, count):
    x = var("x")
    graph = Graph([apply(Counted, f"fc{i}", x, var(f"w{i}"), hidden=3) for i in range(2)])
    costs = [Cost() if not node.inputs else cost for node in graph.nodes]
    assert len(set(assign_partitions(graph, [cpu()] * len(graph.nodes), costs, num_workers=2))) == count
