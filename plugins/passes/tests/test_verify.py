"""The check of a memory plan finds what the planner must not do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.graph import networks
from core.tests.graph.networks import many_uses
from core.tests.graph.operators import (
    Add,
    Dense,
    Tanh,
    apply,
    var,
)
from core.tests.graph.planned import planned, scheduled
from operad.device import cpu
from operad.errors import GraphError
from operad.graph.memory import Placement
from operad.op import OpReq
from operad_passes import check_plan


@given(networks.networks(), st.data())
def test_the_check_finds_a_value_moved_onto_a_live_one(network, data):
    plan = planned(network)
    lives = [entry for entry in plan.placement if plan.lifetime(entry)[1] > plan.lifetime(entry)[0]]
    pairs = [
        (victim, intruder)
        for victim in lives
        for intruder in plan.placement
        if plan.lifetime(victim)[0] < plan.lifetime(intruder)[0] < plan.lifetime(victim)[1]
    ]
    if not pairs:
        return
    victim, intruder = data.draw(st.sampled_from(pairs))
    target, size = plan.placement[victim], plan.placement[intruder].size_bytes
    offset = min(target.offset_bytes, plan.blocks[target.block].size_bytes - size)
    plan.placement[intruder] = Placement(target.block, offset, size)
    with pytest.raises(GraphError, match="memory plan"):
        check_plan(plan)


def test_the_check_finds_an_undeclared_in_place_write():
    x = var("x")
    first = apply(Dense, "first", x, var("w1"), hidden=4)
    second = apply(Dense, "second", first, var("w2"), hidden=4)
    network = networks.Network([second], [None], [], {"x": (2, 4)})
    plan = planned(network)
    plan.placement[second] = plan.placement[first]
    with pytest.raises(GraphError, match="does not declare as an in-place pair"):
        check_plan(plan)


def test_the_check_finds_parallel_nodes_that_conflict_on_a_block():
    x = var("x")
    left, right = apply(Tanh, "left", x), apply(Tanh, "right", x)
    out = apply(Dense, "out", apply(Add, "add", left, right), var("w"), hidden=2)
    network = networks.Network([out], [None], [], {"x": (2, 3)})
    plan = planned(network, schedule=scheduled(network, {left.node: 1, right.node: 2}))
    check_plan(plan)
    block, _, size = plan.placement[left]
    plan.blocks[block] = plan.blocks[block]._replace(size_bytes=1024)
    plan.placement[right] = Placement(block, 512, size)
    with pytest.raises(GraphError, match="may run in parallel"):
        check_plan(plan)


def test_the_check_finds_a_place_outside_its_block():
    network, _ = networks.chain_of(Tanh, 2)
    plan = planned(network)
    ((entry, place),) = plan.placement.items()
    plan.placement[entry] = place._replace(offset_bytes=64)
    with pytest.raises(GraphError, match="beyond"):
        check_plan(plan)


def test_the_check_finds_a_gradient_that_is_not_added_to_its_sum():
    network = many_uses(3)
    (grad,) = network.gradients
    plan = planned(network)
    plan.requests[network.graph.entry_id(grad)] = OpReq.WRITE
    with pytest.raises(GraphError, match="is to be added to"):
        check_plan(plan)


def test_a_value_that_is_read_and_never_computed_is_found():
    network, _ = networks.chain_of(Tanh, 2)
    plan = planned(network)
    plan.requests[network.graph.entry_id(network.graph.outputs[0].node.inputs[0])] = OpReq.NULL
    with pytest.raises(GraphError, match="which is never computed"):
        check_plan(plan)


def test_a_value_in_memory_of_another_context_is_found():
    network, _ = networks.chain_of(Tanh, 2)
    plan = planned(network)
    plan.blocks[0] = plan.blocks[0]._replace(ctx=cpu(1))
    with pytest.raises(GraphError, match="on another context"):
        check_plan(plan)
