"""Estimates of planned memory, for passes that compare graphs."""

from __future__ import annotations

from hypothesis import given

from core.tests.graph.networks import Network, chain_of, networks
from core.tests.graph.operators import Mul, Square, Tanh, apply, var
from operad.device import cpu
from operad.graph.estimate import bound_entries, planned_bytes
from operad.graph.gradient import gradient
from operad.graph.ir import Graph
from operad.graph.memory import plan_memory
from operad.op.req import OpReq

FLOAT32_BYTES = 4


def facts_of(network, **given):
    """The facts that an estimate asks for, of a network with one output and no gradient wanted."""
    contexts = [cpu()] * len(network.graph.nodes)
    known = {"shapes": network.shapes, "types": network.types, "contexts": contexts}
    return {**known, "num_outputs": 1, "wanted": [], "grad_req": {}, **given}


def test_values_that_live_together_are_added_up_and_those_in_one_place_count_once():
    x = var("x")
    both = apply(Mul, "both", apply(Square, "left", x), apply(Tanh, "right", x))
    network = Network([both], [None], [], {"x": (4, 8)})
    assert planned_bytes(network.graph, facts_of(network)) == 2 * 4 * 8 * FLOAT32_BYTES
    chain, _ = chain_of(Square, 5)
    assert planned_bytes(chain.graph, facts_of(chain)) == 4 * 8 * FLOAT32_BYTES


@given(networks())
def test_a_plan_needs_no_less_than_the_estimate(network):
    facts = facts_of(network, num_outputs=len(network.graph.outputs))
    plan = plan_memory(
        network.graph, network.shapes, network.types, requests=bound_entries(network.graph, facts)
    )
    assert planned_bytes(network.graph, facts) <= plan.planned_bytes


def test_outputs_and_wanted_gradients_have_arrays_of_their_own():
    x, w = var("x"), var("w")
    out = apply(Mul, "out", x, w)
    graph = Graph([out, *gradient([out], [var("head")], [x, w])])
    facts = {"num_outputs": 1, "wanted": ["x", "w"], "grad_req": {"x": "add", "w": "null"}}
    requests = bound_entries(graph, facts)
    assert list(requests.values()) == [OpReq.WRITE, OpReq.ADD, OpReq.NULL]
    assert next(iter(requests)) == out
