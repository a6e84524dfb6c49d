"""Which values need memory, and which of them may overwrite an input."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.tests.graph import networks
from core.tests.graph.networks import chain_of
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
from core.tests.graph.planned import planned
from operad.dtypes import DEFAULT_DTYPE
from operad.errors import ShapeError
from operad.graph import (
    Entry,
    Graph,
    infer_shapes,
    infer_types,
)
from operad.graph.memory import plan_memory
from operad.op import OpReq


def test_a_chain_of_in_place_operators_lives_in_one_buffer():
    network, (_, *entries, _) = chain_of(AddConst, 6)
    plan = planned(network)
    assert plan.planned_bytes == 128
    assert plan.inplace == dict(pairwise(reversed(entries)))
    assert [plan.request(entry) for entry in entries] == [OpReq.WRITE] + [OpReq.INPLACE] * 4


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
    assert request_of(apart, [apply(Tanh, "out", apart)], {"x": (3,)}) is OpReq.INPLACE
    both = apply(HalfDeclared, "both", first, first)
    assert request_of(both, [apply(Tanh, "out", both)], {"x": (3,)}) is OpReq.WRITE


def test_one_input_is_overwritten_by_one_output_only():
    class Greedy(Split):
        def forward_inplace_option(self, in_data, out_data):
            return [(in_data[0], out) for out in out_data]

    out = apply(Greedy, "out", apply(AddConst, "first", var("x")))
    tops = [apply(Tanh, f"top{i}", Entry(out.node, i)) for i in (0, 1)]
    network = networks.Network(tops, [None, None], [], {"x": (3,)})
    assert [planned(network).request(Entry(out.node, i)) for i in range(3)] == [
        OpReq.INPLACE,
        OpReq.WRITE,
        OpReq.NULL,
    ]


def test_a_value_nobody_reads_is_not_computed_and_has_no_place():
    out = apply(Split, "out", var("x"))
    plan = planned(networks.Network([apply(Tanh, "top", out)], [None], [], {"x": (3,)}))
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


def test_an_unknown_shape_is_an_error_that_names_the_value():
    graph = Graph([apply(Tanh, "out", apply(Tanh, "t", var("x")))])
    with pytest.raises(ShapeError, match="'t_output' has shape None"):
        plan_memory(graph, infer_shapes(graph, {}), infer_types(graph, {"x": DEFAULT_DTYPE}))
