"""What a call of an operator looks like."""

from __future__ import annotations

from operad.cli.calls import call_of
from operad.op import OperatorProperty, param


class Layer(OperatorProperty):
    """Has optional tensors, a state, and a parameter that is required."""

    units = param(int, ge=1)
    no_bias = param(bool, False)

    def list_arguments(self):
        return ["data", "weight"] if self.no_bias else ["data", "weight", "bias"]

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], [None]


class Several(OperatorProperty):
    """Takes any number of tensors and shows as many."""

    num_args = param(int, 1, ge=1)
    key_var_num_args = "num_args"

    def list_arguments(self):
        return [f"arg{i}" for i in range(self.num_args)]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


class Open(OperatorProperty):
    """Takes parameters that it does not declare."""

    takes_more_params = True

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


def test_a_tensor_that_some_parameters_leave_out_is_optional():
    tensors = call_of(Layer).tensors
    assert [(t.name, t.is_optional, t.is_state) for t in tensors] == [
        ("data", False, False), ("weight", False, False), ("bias", True, False), ("mean", False, True),
    ]  # fmt: skip


class Update(Layer):
    """Has a state among its arguments, as updates of MXNet have."""

    def list_inputs(self):
        return ["data", "mean", "weight", *([] if self.no_bias else ["bias"])]


def test_tensors_have_the_order_of_a_call():
    assert call_of(Update).text("Update") == "Update(data, mean, weight, [bias], units, no_bias=False)"
    assert [t.is_state for t in call_of(Update).tensors] == [False, True, False, False]


def test_lists_of_tensors_are_told_longest_first():
    assert call_of(Layer).tensor_lists == (("data", "weight", "bias", "mean"), ("data", "weight", "mean"))


def test_the_text_has_tensors_then_what_is_required_then_defaults():
    assert call_of(Layer).text("Layer") == "Layer(data, weight, [bias], mean, units, no_bias=False)"


def test_the_number_of_tensors_is_no_parameter_that_a_call_gives():
    call = call_of(Several)
    assert (call.takes_any_number, call.params, call.tensors) == (True, (), ())
    assert call.text("Several") == "Several(*data)"


def test_an_operator_that_takes_more_than_it_declares_says_so():
    call = call_of(Open)
    assert call.takes_more_params
    assert call.output_counts == {1, 2}
