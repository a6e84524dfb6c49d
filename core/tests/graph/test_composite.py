"""Operators that stand for several nodes, as monitors see them."""

from __future__ import annotations

import pytest

import operad as od
from operad.graph import Composite, CompositeReport


class Twice(Composite):
    """Stands for two operators, one after the other."""

    name = "_twice"

    def __init__(self, members):
        super().__init__()
        self.members = members

    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []

    def create_operator(self, ctx, in_shapes, in_types):
        raise AssertionError("monitors ask for values, and run no composite")

    def member_values(self, inputs):
        first, second = (node.entries[0] for node in self.members)
        (x,) = inputs
        return {self.members[0].inputs[0]: x, first: od.nd.tanh(x), second: od.nd.tanh(od.nd.tanh(x))}

    def about(self, in_shapes):
        return CompositeReport([node.name for node in self.members], 8, 0.5, {"third": "it is far away"})


def test_its_report_is_readable():
    assert str(Twice([]).about([])._replace(members=["first", "second"])).splitlines() == [
        "2 nodes (first, second); 8 bytes neither written nor read; 500 ms to compile",
        "  not third: it is far away",
    ]


def test_a_composite_says_how_its_members_are_to_be_computed():
    with pytest.raises(TypeError, match="abstract"):
        Composite()
