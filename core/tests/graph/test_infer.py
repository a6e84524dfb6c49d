"""Inference in both directions, what stays unknown, and what a clash says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from core.tests.graph import networks
from core.tests.graph.operators import (
    Add,
    Centre,
    Dense,
    Mul,
    Split,
    SquareLoss,
    Tanh,
    apply,
    var,
)
from operad.errors import DTypeError, GraphError, ShapeError
from operad.graph import Entry, Graph, gradient, infer_shapes, infer_types
from operad.op import OperatorProperty, param

F32, F64, I32 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)


def mlp():
    x = var("x")
    hidden = apply(Tanh, "act", apply(Dense, "fc1", x, var("w1"), hidden=8))
    return apply(SquareLoss, "loss", apply(Dense, "fc2", hidden, var("w2"), hidden=3), var("label"))


def test_the_data_shape_gives_every_shape():
    table = infer_shapes(Graph([mlp()]), {"x": (16, 5)})
    assert table.arguments == [(16, 5), (8, 5), (3, 8), (16, 3)]
    assert table.outputs == [(16, 3)]
    assert table.auxiliary == []
    assert table.is_complete


def test_knowledge_flows_from_outputs_to_inputs():
    table = infer_shapes(Graph([mlp()]), {"label": (16, None), "w1": (None, 5)})
    assert table.arguments == [(16, 5), (8, 5), (3, 8), (16, 3)]
    assert table.is_complete


def test_knowledge_flows_around_a_diamond():
    a, b, c = var("a"), var("b"), var("c")
    left, right = apply(Add, "left", a, b), apply(Mul, "right", b, c)
    table = infer_shapes(Graph([left, right]), {"c": (2, 3)})
    assert table.arguments == [(2, 3)] * 3


def test_what_does_not_follow_stays_unknown():
    table = infer_shapes(Graph([mlp()]), {"w1": (None, 5)})
    assert table.arguments == [(None, 5), (8, 5), (3, 8), (None, 3)]
    assert not table.is_complete


def test_nothing_known_gives_what_parameters_alone_say():
    assert infer_shapes(Graph([apply(Tanh, "t", var("x"))]), {}).arguments == [None]


def test_unused_hidden_outputs_count_towards_completeness():
    split = apply(Split, "split", var("x"))
    assert not infer_shapes(Graph([split]), {}).is_complete
    assert infer_shapes(Graph([split]), {"x": (2,)}).of(Entry(split.node, 2)) == (2,)


def test_auxiliary_states_are_inferred():
    graph = Graph([apply(Centre, "centre", var("x"), var("mean"))])
    table = infer_shapes(graph, {"x": (4, 3)})
    assert (table.arguments, table.auxiliary) == ([(4, 3)], [(3,)])


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            {"x": (16, 5), "w1": (8, 6)},
            r"dense 'fc1': w has shape \(8, 6\), expected \(8, 5\): axis 1 is 6, expected 5",
        ),
        (
            {"x": (16, 5), "label": (16, 4)},
            r"square_loss 'loss': label has shape \(16, 4\), expected \(16, 3\)",
        ),
        ({"x": (16,)}, r"^dense 'fc1': x has 1 axes, expected 2$"),
    ],
)
def test_a_clash_names_operator_node_and_argument(known, message):
    with pytest.raises(ShapeError, match=message):
        infer_shapes(Graph([mlp()]), known)


def test_a_clash_at_an_auxiliary_state_is_found():
    graph = Graph([apply(Centre, "centre", var("x"), var("mean"))])
    with pytest.raises(ShapeError, match=r"centre 'centre': mean has shape \(2,\), expected \(3,\)"):
        infer_shapes(graph, {"x": (4, 3), "mean": (2,)})


def test_a_clash_in_a_branch_no_complete_output_needs_is_found():
    ok = apply(Tanh, "ok", var("x"))
    bad = apply(Add, "bad", var("a"), var("b"))
    with pytest.raises(ShapeError, match="add 'bad'"):
        infer_shapes(Graph([ok, bad]), {"x": (2,), "a": (2,), "b": (3,)})


def test_gradients_have_the_shapes_of_arguments():
    out = mlp()
    wrt = [Entry(node) for node in Graph([out]).arguments[:3]]
    grads = gradient([out], [None], wrt)
    table = infer_shapes(Graph([out, *grads]), {"x": (16, 5)})
    assert table.outputs[1:] == [(16, 5), (8, 5), (3, 8)]
    assert table.is_complete


def test_gradients_alone_are_enough_to_infer_from():
    x = var("x")
    grads = gradient([apply(Tanh, "t", apply(Add, "add", x, var("y")))], [var("head")], [x])
    table = infer_shapes(Graph(grads), {"x": (2, 3)})
    assert table.of(Entry(Graph(grads).nodes[-1])) == (2, 3)
    assert table.outputs == [(2, 3)]


def test_a_head_gradient_has_the_shape_of_its_output_and_back():
    x, head = var("x"), var("head")
    graph = Graph(gradient([apply(Tanh, "t", x)], [head], [x]))
    assert infer_shapes(graph, {"x": (2, 3)}).of(head) == (2, 3)
    assert infer_shapes(graph, {"head": (2, 3)}).of(x) == (2, 3)


def test_a_head_gradient_of_another_shape_clashes():
    x = var("x")
    grads = gradient([apply(Tanh, "t", x)], [var("head")], [x])
    with pytest.raises(ShapeError, match="_backward_tanh 't_backward': output_grad has shape"):
        infer_shapes(Graph(grads), {"x": (2, 3), "head": (3, 2)})


def test_two_arguments_that_are_one_entry_are_inferred_from_either_gradient():
    x, head = var("x"), var("head")
    graph = Graph(gradient([apply(Mul, "m", x, x)], [head], [x]))
    assert infer_shapes(graph, {"head": (4,)}).outputs == [(4,)]


@pytest.mark.parametrize("text", ["(0, 5)", "[0, 5]", "(-1, 5)"])
def test_a_variables_own_shape_attribute_counts(text):
    x = var("x", __shape__=text)
    assert infer_shapes(Graph([apply(Tanh, "t", x)]), {}).outputs == [(None, 5)]
    assert infer_shapes(Graph([apply(Tanh, "t", x)]), {"x": (2, 5)}).outputs == [(2, 5)]


@pytest.mark.parametrize("text", ["wide", "(1e999,)", "(" * 500, "[" * 100_000, "9" * 5000, "{}[0]", "None"])
def test_a_malformed_shape_attribute_names_the_variable(text):
    with pytest.raises(GraphError, match=r"variable 'x': __shape__ is"):
        infer_shapes(Graph([apply(Tanh, "t", var("x", __shape__=text))]), {})


@pytest.mark.parametrize("text", ["wide", "99", "9" * 5000, "\u00b2", "object", "i4,i4", ""])
def test_a_malformed_type_attribute_names_the_variable(text):
    with pytest.raises(DTypeError, match="variable 'x': __dtype__"):
        infer_types(Graph([apply(Tanh, "t", var("x", __dtype__=text))]), {})


@pytest.mark.parametrize("dtype", [F32, F64])
def test_types_follow_the_data(dtype):
    table = infer_types(Graph([mlp()]), {"x": dtype})
    assert table.arguments == [dtype] * 4
    assert table.outputs == [dtype]
    assert table.is_complete


def test_unknown_types_stay_none():
    table = infer_types(Graph([mlp()]), {})
    assert table.outputs == [None]
    assert not table.is_complete


def test_a_type_clash_names_operator_and_node():
    graph = Graph([apply(Add, "sum", var("a"), var("b"))])
    with pytest.raises(DTypeError, match=r"^add 'sum': arguments must have one element type"):
        infer_types(graph, {"a": F32, "b": I32})


def test_a_clash_between_an_argument_and_its_gradient_is_found():
    x = var("x")
    grads = gradient([apply(Tanh, "t", x)], [var("head")], [x])
    with pytest.raises(
        DTypeError, match="_backward_tanh 't_backward': output_grad is float32, expected float64"
    ):
        infer_types(Graph(grads), {"x": F64, "head": F32})


@pytest.mark.parametrize("text", ["1", "float64"])
def test_a_variables_own_type_attribute_counts(text):
    assert infer_types(Graph([apply(Tanh, "t", var("x", __dtype__=text))]), {}).outputs == [F64]


def test_a_fault_of_an_operator_is_marked_as_such():
    class Faulty(OperatorProperty):
        def infer_shape(self, in_shapes):
            raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        infer_shapes(Graph([apply(Faulty, "f", var("data"))]), {"data": (1,)})
    assert caught.value.__notes__ == [
        "in the inference of Faulty 'f': a fault of the operator, not of the graph"
    ]


def test_a_chain_given_only_its_end_is_inferred_to_its_start():
    out = start = var("x")
    for i in range(3000):
        out = apply(Tanh, f"t{i}", out)
    last = apply(Add, "add", out, var("y"))
    table = infer_shapes(Graph([last]), {"y": (2, 2)})
    assert table.of(start) == (2, 2)


@given(networks.networks())
def test_what_was_inferred_tells_nothing_new_and_agrees_with_more_knowledge(network):
    graph = network.graph
    known = {node.name: network.shapes.of(Entry(node)) for node in graph.arguments if node.name in "ab"}
    table = infer_shapes(graph, known)
    names = graph.list_arguments()
    assert infer_shapes(graph, dict(zip(names, table.arguments, strict=True))).values == table.values
    for few, every in zip(table.values, network.shapes.values, strict=True):
        assert few is None or all(a in (None, b) for a, b in zip(few, every, strict=True))
    types = infer_types(graph, {"a": F32})
    assert infer_types(graph, dict(zip(names, types.arguments, strict=True))).values == types.values


def test_an_operator_is_asked_once_for_what_is_alike():
    asked = []

    class Counted(Tanh):
        def infer_shape(self, in_shapes):
            asked.append(in_shapes)
            return super().infer_shape(in_shapes)

    out = var("x")
    for i in range(10):
        out = apply(Counted, f"n{i}", out)
    assert infer_shapes(Graph([out]), {"x": (2, 3)}).outputs == [(2, 3)]
    assert asked == [[(2, 3)]]


def test_a_missing_type_is_the_default_unless_something_else_follows():
    graph = Graph([apply(Add, "add", var("a"), apply(Tanh, "t", var("b")))])
    assert infer_types(graph, {}, F32).arguments == [F32, F32]
    assert infer_types(graph, {"b": F64}, F32).arguments == [F64, F64]


def test_a_cautious_inference_learns_nothing_from_a_node_without_data():
    graph = Graph([apply(Dense, "fc", var("x"), var("w"), hidden=8)])
    assert infer_shapes(graph, {}).arguments == [(None, None), (8, None)]
    assert infer_shapes(graph, {}, is_cautious=True).arguments == [None, None]
    assert infer_shapes(graph, {"x": (None, 3)}, is_cautious=True).arguments == [(None, 3), (8, 3)]


def test_an_input_has_the_type_of_an_output_that_no_other_type_gives():
    graph = Graph([apply(Add, "add", apply(Tanh, "t", var("a")), var("b"))])
    assert infer_types(graph, {"b": F64}).arguments == [F64, F64]


class Filled(OperatorProperty):
    """An array of a given shape, made of nothing."""

    shape: tuple[int, ...] = param("shape")

    def list_arguments(self):
        return []

    def infer_shape(self, in_shapes):
        return [], [self.shape], []


def test_a_length_of_0_in_an_array_made_of_nothing_is_unknown():
    state = apply(Filled, "state", shape=(0, 5))
    assert infer_shapes(Graph([state]), {}).outputs == [(None, 5)]
    table = infer_shapes(Graph([apply(Add, "sum", state, var("x"))]), {"x": (16, None)})
    assert table.arguments == table.outputs == [(16, 5)]
