"""Plans compute what separate arrays compute, in little more memory than is alive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.tests.graph import networks
from core.tests.graph.operators import (
    Add,
    Dense,
    Tanh,
    apply,
    var,
)
from core.tests.graph.planned import assert_plan_computes, planned, scheduled
from operad.device import cpu
from operad.graph import (
    Entry,
    Variable,
)
from operad.graph.memory import plan_memory
from operad.op import OpReq

FLOAT32 = np.dtype(np.float32)

check_plan = pytest.importorskip("operad_passes", reason="it checks memory plans").check_plan


@given(networks.networks())
def test_a_planned_run_equals_an_unplanned_one_bitwise(network):
    plan = planned(network)
    check_plan(plan)
    assert_plan_computes(network, plan)
    assert plan.lower_bound_bytes <= plan.planned_bytes <= plan.baseline_bytes


@given(networks.networks(), st.data())
def test_a_plan_with_partitions_is_right_in_every_order_it_allows(network, data):
    nodes = [node for node in network.graph.nodes if not isinstance(node, Variable)]
    partitions = {node: data.draw(st.integers(0, 3)) for node in nodes}
    plan = planned(network, schedule=scheduled(network, partitions))
    check_plan(plan)
    assert_plan_computes(network, plan, order=any_order(plan.schedule, data))


def any_order(schedule, data):
    """An order that keeps that of each partition and what nodes need, chosen by Hypothesis."""
    left = {step for step, partition in enumerate(schedule.partitions) if partition >= 0}
    order = []
    while left:
        ready = [
            step
            for step in sorted(left)
            if not schedule.direct_predecessors(step) & left
            and not any(
                schedule.partitions[other] == schedule.partitions[step] for other in left if other < step
            )
        ]
        step = data.draw(st.sampled_from(ready))
        left.discard(step)
        order.append(schedule.graph.nodes[step])
    return order


@given(networks.networks(), st.data())
def test_nodes_of_different_contexts_never_share_a_block(network, data):
    nodes = [node for node in network.graph.nodes if not isinstance(node, Variable)]
    contexts = {}
    for node in nodes:
        of_sums = {contexts[entry.node] for _, entry in node.sums}
        assume(len(of_sums) < 2)  # placement brings the sums that a node adds to to its context
        contexts[node] = of_sums.pop() if of_sums else cpu(data.draw(st.integers(0, 1)))
    plan = planned(network, schedule=scheduled(network, contexts=contexts))
    check_plan(plan)
    for entry, place in plan.placement.items():
        assert plan.blocks[place.block].ctx is contexts[entry.node]
    assert_plan_computes(network, plan)


@pytest.mark.parametrize(
    "network",
    [networks.perceptron, networks.lenet_like, networks.residual, networks.recurrent, networks.chain],
)
def test_training_graphs_need_at_most_three_percent_more_than_is_alive(network):
    network = network()
    bound = dict.fromkeys(network.graph.outputs, OpReq.WRITE)
    plan = plan_memory(network.graph, network.shapes, network.types, requests=bound)
    check_plan(plan)
    assert plan.planned_bytes <= 1.03 * plan.lower_bound_bytes
    assert plan.planned_bytes < 0.6 * plan.baseline_bytes


def test_the_lower_bound_is_the_largest_sum_of_live_buffers():
    network = networks.perceptron((30, 20, 10), batch=16, features=5)
    plan = planned(network)
    overwritten = {step: set() for step in range(len(plan.schedule))}
    for target, source in plan.inplace.items():
        overwritten[plan.lifetime(target)[0]].add(source)
    sums = [
        sum(
            64 * -(-plan.placement[e].size_bytes // 64)
            for e in plan.placement
            if plan.lifetime(e)[0] <= step <= plan.lifetime(e)[1] and e not in overwritten[step]
        )
        for step in range(len(plan.schedule))
    ]
    assert plan.lower_bound_bytes == max(sums)


def test_parallel_branches_share_no_memory_and_what_follows_them_does():
    x = var("x")
    branches = []
    for side in range(2):
        tip = x
        for i in range(3):
            tip = apply(Dense, f"b{side}_{i}", tip, var(f"w{side}_{i}"), hidden=8)
        branches.append(tip)
    network = networks.Network([apply(Add, "join", *branches)], [None], [], {"x": (4, 8)})
    branch = {n: int(n.name[1]) for n in network.graph.op_nodes if n.name[0] == "b"}
    plan = planned(network, schedule=scheduled(network, branch))
    check_plan(plan)
    blocks = [
        {plan.placement[Entry(n)].block for n in network.graph.op_nodes if n.name.startswith(f"b{side}")}
        for side in range(2)
    ]
    assert not blocks[0] & blocks[1]
    assert planned(network).planned_bytes < plan.planned_bytes


def test_values_that_cross_partitions_use_a_block_one_after_another():
    tip = var("x")
    partitions = {}
    for i in range(10):
        tip = apply(Dense, f"n{i}", tip, var(f"w{i}"), hidden=8)
        partitions[tip.node] = i % 2
    network = networks.Network([tip], [None], [], {"x": (4, 8)})
    plan = planned(network, schedule=scheduled(network, partitions))
    check_plan(plan)
    assert [block.size_bytes for block in plan.blocks] == [128] * 2


def test_places_are_aligned_and_empty_values_take_nothing():
    empty, full = apply(Tanh, "empty", var("x")), apply(Tanh, "full", var("y"))
    tops = [apply(Tanh, f"top{i}", value) for i, value in enumerate((empty, full))]
    network = networks.Network(tops, [None, None], [], {"x": (0, 3), "y": (5,)})
    plan = planned(network)
    check_plan(plan)
    assert plan.placement[empty].size_bytes == 0
    assert plan.planned_bytes == 64
    assert all(place.offset_bytes % 64 == 0 for place in plan.placement.values())
