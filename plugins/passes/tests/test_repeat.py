"""Nodes that may be run a second time."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Tanh
from operad.graph import Entry, OpNode, Variable
from operad.resource import ResourceRequest
from operad_passes import repetition

X = Entry(Variable("x"))


def node(**members):
    return OpNode(type("Other", (Tanh,), members)(), "y", [X])


def test_an_operator_without_state_is_run_again_on_its_inputs():
    tanh = OpNode(Tanh(), "y", [X])
    found = repetition(tanh, [(3,)])
    assert (found.op, list(found.inputs)) == (tanh.op, [X])


@pytest.mark.parametrize(
    "members",
    [
        {"is_stateful": True},
        {"forward_resource": lambda self, shapes: [ResourceRequest.RANDOM]},
        {"forward_resource": lambda self, shapes: [ResourceRequest.TEMP_SPACE, ResourceRequest.RANDOM]},
    ],
    ids=["state", "random", "memory and random"],
)
def test_state_and_random_numbers_are_not_run_twice(members):
    assert repetition(node(**members), [(3,)]) is None


def test_scratch_memory_is_no_hindrance():
    found = repetition(node(forward_resource=lambda self, shapes: [ResourceRequest.TEMP_SPACE]), [(3,)])
    assert found is not None


def test_an_operator_may_name_another_that_reads_its_output():
    other = Tanh()
    stated = node(is_stateful=True, recomputation=lambda self: (other, [("in_data", 0), ("out_data", 0)]))
    found = repetition(stated, [(3,)])
    assert (found.op, list(found.inputs)) == (other, [X, Entry(stated, 0)])


def test_a_variable_is_not_run():
    assert repetition(X.node, []) is None
