"""Updates in a graph with gradients."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.graph.operators import Add, Mul, Stop, apply, var
from operad.device import cpu
from operad.graph import Graph, OpNode
from operad.graph.gradient import gradient
from operad.graph.infer import infer_shapes, infer_types
from operad.graph.ir import Entry, Variable
from operad.graph.kernels import choose_kernels
from operad_optimizer.update_pass import Update, updates_pass
from plugins.optimizer.tests.descent import descent


def facts_of(graph, shapes, **given):
    found = {"shapes": infer_shapes(graph, shapes), "types": infer_types(graph, {}, given.pop("dtype"))}
    return {**found, "num_outputs": 1, **given}


@pytest.fixture
def training():
    """`stop(w) * v + w`, with the gradients of both; that of `w` needs nothing."""
    v, w, head = var("v"), var("w"), Entry(Variable("head"))
    output = apply(Add, "sum", apply(Mul, "product", v, apply(Stop, "stopped", w)), w)
    found = gradient([output], [head], [v, w], Graph([output]).nodes)
    graph = Graph([output, *found])
    shapes = dict.fromkeys(("v", "w", "head"), (3, 4))
    found = facts_of(graph, shapes, wanted=["v", "w"], dtype=np.dtype("float32"), ctx=cpu())
    found["contexts"] = [cpu()] * len(graph.nodes)
    return graph, {**found, "kernels": choose_kernels(graph, found)}


def appended(training, kept):
    graph, facts = training
    assert facts["wanted"] == ["v", "w"]
    update = Update(descent(rate=0.5), {"w_last": ((3, 4), np.dtype("float32"))})
    made, found = updates_pass({"w": update}, kept).run(graph, facts)
    (node,) = [node for node in made.op_nodes if node.name == "w_update"]
    assert found["shapes"].of(Entry(node)) == (3, 4)
    return facts, found, made, node


def test_the_new_value_takes_the_place_of_a_gradient_that_nobody_keeps(training):
    graph = training[0]
    _, found, made, node = appended(training, kept=())
    assert found["wanted"] == ["w", "v"]
    assert made.outputs == (graph.outputs[0], Entry(node), graph.outputs[1])
    assert made.list_auxiliary_states() == ["w_last"]


def test_the_new_value_stands_before_gradients_that_are_kept(training):
    graph = training[0]
    _, _, made, node = appended(training, kept=["w"])
    output, of_v, of_w = graph.outputs
    assert made.outputs == (output, Entry(node), of_w, of_v)


def test_nodes_that_were_there_are_left_with_their_kernels(training):
    graph, (facts, found, made, _) = training[0], appended(training, kept=())
    before = dict(zip(graph.nodes, facts["kernels"], strict=True))
    after = dict(zip(made.nodes, found["kernels"], strict=True))
    assert all(after[node] is kernels for node, kernels in before.items())


def test_an_update_waits_for_all_that_read_the_old_value(training):
    graph = training[0]
    _, _, made, node = appended(training, kept=())
    readers = {
        each for each in graph.nodes if isinstance(each, OpNode) and any(x.name == "w" for x in each.inputs)
    }
    assert {*node.control_deps} == readers
    assert readers
    order = made.nodes
    assert all(order.index(reader) < order.index(node) for reader in readers)
