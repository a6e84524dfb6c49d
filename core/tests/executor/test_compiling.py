"""From a graph to its program, for an executor."""

from __future__ import annotations

import pytest

from core.tests.executor.dense import dense_tanh
from operad import sym
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.errors import ShapeError
from operad.executor.compiling import compiled
from operad.symbol import AttrScope

pytestmark = pytest.mark.usefixtures("operators")


def program(grad_req, **options):
    given = {"shapes": {"data": (1, 2)}, "types": {}, "group2ctx": {}, **options}
    return compiled(dense_tanh().graph, cpu(), grad_req, **given)


def test_there_is_a_gradient_for_each_argument_that_one_is_requested_of():
    made = program({"data": "null", "fc1_weight": "write", "fc1_bias": "add"})
    assert list(made.gradients) == ["fc1_weight", "fc1_bias"]


def test_an_argument_without_a_request_has_no_gradient():
    made = program({})
    assert made.gradients == {}
    assert len(made.backward) == 0


def test_what_is_not_given_is_inferred():
    made = program({}, types={"data": DEFAULT_DTYPE})
    assert {name: spec.shape for name, spec in made.specs.items()} == {
        "data": (1, 2), "fc1_weight": (3, 2), "fc1_bias": (3,)
    }  # fmt: skip


def test_shapes_that_do_not_follow_are_an_error():
    with pytest.raises(ShapeError, match="do not follow"):
        program({}, shapes={})


def test_groups_are_placed_on_their_contexts():
    with AttrScope(ctx_group="second"):
        net = sym.tanh(sym.var("x"), name="act")
    made = compiled(net.graph, cpu(), {}, {"x": (2,)}, {}, {"second": cpu(1)})
    assert made.contexts[made.graph.node_ids[net.graph.outputs[0].node]] is cpu(1)
