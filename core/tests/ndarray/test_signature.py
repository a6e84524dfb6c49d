"""What a generated function shows."""

from __future__ import annotations

import inspect

from operad.ndarray import array_names, presented
from operad.ndarray.signature import documented, own_params, signature
from operad.op import OperatorProperty, param


class Layer(OperatorProperty):
    """A layer.

    With two lines.
    """

    mode = param(str, "fast", doc="How.")
    units = param(int, ge=1, doc="Rows.")
    out = param(int, 3)

    def list_arguments(self):
        return ["data", "weight"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


class Plain(OperatorProperty):
    units = param(int, ge=1)
    mode = param(str, "fast")
    list_arguments, infer_shape = Layer.list_arguments, Layer.infer_shape


class Optional(Layer):
    optional_inputs = ("data", "weight")


class Several(OperatorProperty):
    num_args = param(int)
    dim = param(int, 1)
    key_var_num_args = "num_args"


class Late(OperatorProperty):
    """Needs a parameter to say its arrays."""

    depth = param(int)

    def list_arguments(self):
        return ["x"] * (self.depth + 1)

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


COMMON = ("out", "name")


def text(op):
    return str(signature(op, COMMON))


def test_arrays_come_first_then_parameters_then_what_all_functions_take():
    assert text(Plain) == "(data, weight, units, mode='fast', *, out=None, name=None)"


def test_what_is_required_behind_what_is_optional_is_given_by_name():
    assert text(Layer) == "(data, weight, *, mode='fast', units, out=None, name=None)"


def test_all_but_the_first_of_arrays_that_may_be_absent_have_none_as_default():
    assert text(Optional).startswith("(data, weight=None, *, mode='fast', units")


def test_any_number_of_arrays_is_one_parameter_and_their_count_none():
    assert text(Several) == "(*data, dim=1, out=None, name=None)"
    assert array_names(Several) is None


def test_an_operator_whose_arrays_depend_on_what_only_a_call_gives_takes_any():
    assert array_names(Late) is None


def test_a_parameter_of_a_name_that_every_function_has_is_not_shown():
    assert "out" not in own_params(Layer, COMMON)
    assert "out" in own_params(Layer, ())


def test_the_documentation_ends_with_a_table_of_parameters():
    lines = documented(Layer).splitlines()
    assert lines[:3] == ["A layer.", "", "With two lines."]
    assert lines[4].split()[:3] == ["Parameter", "Type", "and"]
    (row,) = [line for line in lines if line.startswith("units")]
    assert row.split() == ["units", "int", ">=", "1", "required", "Rows."]


def test_a_function_is_presented_as_the_operators():
    made = presented(lambda: None, "layer", "nd", Layer, COMMON)
    assert (made.__name__, made.__module__, made.operator) == ("layer", "operad.nd", Layer)
    assert inspect.signature(made) == signature(Layer, COMMON)
