"""Plans compute what separate arrays compute, in little more memory than is alive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.tests.graph import networks
from core.tests.graph.operators import (
    Add,
    AddConst,
    Dense,
    Mul,
    Split,
    Tanh,
    apply,
    gradient_nodes,
    var,
)
from core.tests.graph.planned import assert_plan_computes, planned, scheduled
from operad.device import cpu
from operad.errors import GraphError, ShapeError
from operad.graph import (
    Entry,
    Graph,
    Placement,
    Schedule,
    Variable,
    check_plan,
    infer_shapes,
    infer_types,
    plan_memory,
)
from operad.op import OpReq

FLOAT32 = np.dtype(np.float32)


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
    network = networks.Network([apply(Tanh, "t", var("x"))], [None], [], {"x": (2, 3)})
    plan = planned(network)
    ((entry, place),) = plan.placement.items()
    plan.placement[entry] = place._replace(offset_bytes=64)
    with pytest.raises(GraphError, match="beyond"):
        check_plan(plan)


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


def chain_of(kind, count, **params):
    entries = [var("x")]
    for i in range(count):
        entries.append(apply(kind, f"n{i}", entries[-1], **params))
    return networks.Network([entries[-1]], [None], [], {"x": (4, 8)}), entries


def test_a_chain_of_in_place_operators_lives_in_one_buffer():
    network, entries = chain_of(AddConst, 5)
    plan = planned(network)
    assert plan.planned_bytes == 128
    assert plan.inplace == dict(zip(entries[2:], entries[1:-1], strict=True))
    assert [plan.request(entry) for entry in entries[1:]] == [OpReq.WRITE] + [OpReq.INPLACE] * 4


def request_of(entry, outputs, known, **kwargs):
    network = networks.Network(outputs, [None] * len(outputs), [], known)
    return planned(network, **kwargs).request(entry)


def test_an_input_that_is_read_later_is_not_overwritten():
    middle = apply(AddConst, "middle", var("x"))
    early = apply(AddConst, "early", middle)
    late = apply(Add, "late", early, middle)
    assert request_of(early, [late], {"x": (3,)}) is OpReq.WRITE


def test_a_variable_is_not_overwritten():
    out = apply(AddConst, "out", var("x"))
    assert request_of(out, [out], {"x": (3,)}) is OpReq.WRITE


def test_a_pinned_value_is_not_overwritten():
    first = apply(AddConst, "first", var("x"))
    second = apply(AddConst, "second", first)
    assert request_of(second, [first, second], {"x": (3,)}) is OpReq.WRITE


def test_a_bound_value_is_neither_overwritten_nor_placed():
    first = apply(AddConst, "first", var("x"))
    second = apply(AddConst, "second", first)
    network = networks.Network([second], [None], [], {"x": (3,)})
    plan = planned(network, requests={first: OpReq.WRITE})
    assert plan.request(second) is OpReq.WRITE
    assert first not in plan.placement


def test_an_input_read_in_an_undeclared_role_too_is_not_overwritten():
    class HalfDeclared(Mul):
        def forward_inplace_option(self, in_data, out_data):
            return [(in_data[0], out_data[0])]

    first = apply(AddConst, "first", var("x"))
    apart = apply(HalfDeclared, "apart", first, var("y"))
    assert request_of(apart, [apart], {"x": (3,)}) is OpReq.INPLACE
    both = apply(HalfDeclared, "both", first, first)
    assert request_of(both, [both], {"x": (3,)}) is OpReq.WRITE


def test_one_input_is_overwritten_by_one_output_only():
    class Greedy(Split):
        def forward_inplace_option(self, in_data, out_data):
            return [(in_data[0], out) for out in out_data]

    out = apply(Greedy, "out", apply(AddConst, "first", var("x")))
    network = networks.Network([out, Entry(out.node, 1)], [None, None], [], {"x": (3,)})
    assert [planned(network).request(Entry(out.node, i)) for i in range(3)] == [
        OpReq.INPLACE,
        OpReq.WRITE,
        OpReq.NULL,
    ]


def test_a_value_nobody_reads_is_not_computed_and_has_no_place():
    out = apply(Split, "out", var("x"))
    plan = planned(networks.Network([out], [None], [], {"x": (3,)}))
    assert plan.request(Entry(out.node, 2)) is OpReq.NULL
    assert set(plan.placement) == {out}


def test_gradients_that_are_not_wanted_are_not_computed():
    w = var("w")
    out = apply(Dense, "fc", var("x"), w, hidden=2)
    network = networks.Network([out], [var("head")], [w], {"x": (3, 4)})
    (node,) = gradient_nodes(network.graph)
    assert [entry.name for entry in network.graph.entries if entry.node is node] == ["fc_backward_w_grad"]
    assert planned(network).request(Entry(node)) is OpReq.WRITE


def test_zeros_of_a_values_shape_do_not_keep_the_value_alive():
    x = var("x")
    split = apply(Split, "split", x)
    network = networks.Network([split], [var("head")], [x], {"x": (4,)})
    plan = planned(network)
    cosine = Entry(split.node, 1)
    zeros = next(n for n in network.graph.op_nodes if n.op.name == "_zeros_like_entry")
    assert zeros.inputs == [cosine]
    assert plan.lifetime(cosine)[1] == max(
        step for step, node in enumerate(network.graph.nodes) if cosine in node.inputs and node is not zeros
    )


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
    # Two for all that cross, and the output, which stays in its own partition.
    assert [block.size_bytes for block in plan.blocks] == [128] * 3


def test_places_are_aligned_and_empty_values_take_nothing():
    empty, full = apply(Tanh, "empty", var("x")), apply(Tanh, "full", var("y"))
    network = networks.Network([empty, full], [None, None], [], {"x": (0, 3), "y": (5,)})
    plan = planned(network)
    check_plan(plan)
    assert plan.placement[empty].size_bytes == 0
    assert plan.planned_bytes == 64
    assert all(place.offset_bytes % 64 == 0 for place in plan.placement.values())


def test_an_unknown_shape_is_an_error_that_names_the_value():
    graph = Graph([apply(Tanh, "t", var("x"))])
    with pytest.raises(ShapeError, match="'t_output' has shape None"):
        plan_memory(graph, infer_shapes(graph, {}), infer_types(graph, {"x": FLOAT32}), pinned=graph.outputs)


def test_without_partitions_the_steps_are_one_line():
    network, _ = chain_of(AddConst, 3)
    schedule = Schedule(network.graph)
    assert schedule.partitions == [-1, 0, 0, 0]
    assert [schedule.all_precede([0, 1], later) for later in (1, 2)] == [False, True]
