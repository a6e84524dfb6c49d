"""What an operator takes and gives for all values of its parameters."""

from __future__ import annotations

import pytest

import operad as od
from operad import registry
from operad.errors import ArgumentError, OperatorNotFoundError, ParamError
from operad.op import OperatorProperty, param
from operad.resource import ResourceRequest
from operad_export import Tensor, signature_of
from operad_export.signature import OperatorSignature

pytestmark = pytest.mark.usefixtures("operators")


class Halves(OperatorProperty):
    """So many outputs, each with a state of its own, which random numbers may be added to."""

    num_parts = param(int, ge=1)
    p = param(float, 0.0)
    rates = param("floats", (1.0,))

    def __init__(self, **params):
        super().__init__(**params)
        if len(self.rates) != self.num_parts:
            raise ParamError("Halves: as many rates as parts")

    def list_outputs(self):
        return [f"part{i}" for i in range(self.num_parts)]

    def list_auxiliary_states(self):
        return [f"sum{i}" for i in range(self.num_parts)]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * self.num_parts, [in_shapes[0]] * self.num_parts

    def forward_resource(self, in_shapes):
        return [ResourceRequest.RANDOM] if 0 < self.p < 1 else []


def test_tensors_that_depend_on_parameters_are_optional():
    assert signature_of("Dense").tensors == (
        Tensor("data", False, False), Tensor("weight", False, False), Tensor("bias", False, True),
    )  # fmt: skip


def test_states_are_told_from_arguments():
    signature = signature_of("Centre")
    assert signature.tensors == (Tensor("data", False, False), Tensor("mean", True, False))
    assert signature.has_states
    assert signature.has_gradient


def test_outputs_of_a_varying_number_have_none():
    signature = OperatorSignature(Halves)
    assert (signature.num_outputs, signature.num_visible, signature.tensors) == (None, None, None)


def test_draws_that_depend_on_a_parameter_are_found():
    assert OperatorSignature(Halves).draws
    assert not signature_of("tanh").draws


def test_hidden_outputs_are_counted():
    signature = signature_of("SineCosine")
    assert (signature.num_outputs, signature.num_visible, signature.has_hidden) == (3, 2, True)


def test_hidden_outputs_that_few_parameters_have_are_expected():
    assert signature_of("Pooling").has_hidden


def test_operators_of_equal_parameters_are_one():
    signature = signature_of("Dense")
    assert signature.operator((4, False), 3) is signature.operator((4, False), 3)
    assert signature.operator((4, True), 3).arguments == ["data", "weight"]
    with pytest.raises(ParamError, match="Dense: parameter 'num_hidden' is 0"):
        signature.operator((0, False), 3)


def test_tensors_of_a_call_are_sorted_and_checked():
    signature = signature_of("Dense")
    without = signature.operator((4, True), 3)
    assert signature.sorted(without, ["x", "w", None]) == (["x", "w"], [])
    with pytest.raises(ArgumentError, match="Dense: bias is given, and there is none"):
        signature.sorted(without, ["x", "w", "b"])
    with pytest.raises(ArgumentError, match="Dense: bias is missing"):
        signature.sorted(signature.operator((4, False), 3), ["x", "w", None])


def test_a_list_of_each_kind_is_checked():
    signature = OperatorSignature(Halves)
    operator = signature.operator((2, 0.0, (1.0, 1.0)), 1)
    signature.check_counts(operator, ["x"], ["a", "b"])
    with pytest.raises(ArgumentError, match=r"got 1 arguments and 1 states, expected 1 .data. and 2"):
        signature.check_counts(operator, ["x"], ["a"])


def test_signatures_follow_what_is_installed():
    with pytest.raises(OperatorNotFoundError):
        signature_of("Halves")
    registry.register(Halves)
    try:
        first = signature_of("Halves")
        assert signature_of("Halves") is first
    finally:
        registry.unregister("Halves")
    with pytest.raises(OperatorNotFoundError):
        signature_of("Halves")


def test_a_framework_without_an_exporter_says_so():
    with pytest.raises(AttributeError, match=r"'operad.export' has no attribute 'abacus'"):
        od.export.abacus  # noqa: B018 - asking is what fails
