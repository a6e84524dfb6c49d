"""What an operator declares, by names."""

from __future__ import annotations

from core.tests.operators import OfTwo
from operad.cli.declared import (
    ArgumentGradient,
    backward_inplace,
    forward_inplace,
    gradients,
    names_of,
    resources,
    shape_line,
)
from operad.op import BackwardEntry, OperatorProperty, param
from operad.resource import ResourceRequest


class Gated(OfTwo):
    """`data * gate`; the gate gets no gradient, and an output is called as an argument is."""

    spec = "data:(N), gate:(N) -> data:(N)"
    arguments = ("data", "gate")

    def list_outputs(self):
        return ["data"]

    def differentiable_inputs(self):
        return [True, False]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[1]]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[0])]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        return [(out_grad[0], in_grad[0])]

    def forward_resource(self, in_shapes):
        return [ResourceRequest.RANDOM] * len(in_shapes)


class Mute(Gated):
    """No gradient, and a line that is no text."""

    spec = 7

    def differentiable_inputs(self):
        return [False, False]


class Generated(Gated):
    """Its line depends on parameters."""

    length = param(int, 3)

    def spec(self):
        return f"data:({self.length}), gate:({self.length}) -> data:({self.length})"


def test_names_are_distinct_and_gradients_are_called_after_what_they_are_of():
    names = names_of(Gated())
    assert names.in_data == ["data", "gate"]
    assert names.out_data == ["out_data"]
    assert names.out_grad == ["out_data_grad"]
    assert names.in_grad == ["data_grad", "gate_grad"]
    assert names.of(BackwardEntry("in_data", 1)) == "gate"


def test_gradients_are_told_with_what_they_read_and_mxnets_label():
    assert gradients(Gated()) == [ArgumentGradient("data", ["out_data_grad", "gate"], "T2")]
    assert gradients(Mute()) == []


def test_pairs_in_place_are_told_by_name_and_none_of_gradients_where_there_are_none():
    assert forward_inplace(Gated()) == [("data", "out_data")]
    assert backward_inplace(Gated()) == [("out_data_grad", "data_grad")]
    assert backward_inplace(Mute()) == []


def test_a_shape_line_is_text_or_a_method_that_gives_it():
    assert shape_line(Gated()) == "data:(N), gate:(N) -> data:(N)"
    assert shape_line(Generated(length=5)).startswith("data:(5)")
    assert shape_line(Mute()) is None
    assert shape_line(OperatorProperty) is None


def test_resources_depend_on_shapes_and_are_unknown_without():
    prop = Gated()
    assert resources(prop.forward_resource, [(2,), (2,)]) == ["random", "random"]
    assert resources(prop.forward_resource, None) is None
