"""Arguments of a call, sorted into tensors and parameters."""

from __future__ import annotations

import pytest

from operad.errors import ArgumentError
from operad.ndarray import by_name, split_arguments
from operad.ndarray.arguments import ordered
from operad.op import OperatorProperty, param


class Tensor:
    """What stands for arrays here."""


class Layer(OperatorProperty):
    """Three arrays, of which one may be absent, and two parameters."""

    units = param(int)
    mode = param(str, "fast")

    def list_arguments(self):
        return ["data", "weight", "bias"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


class Optional(Layer):
    """The same with arrays that None may stand for."""

    optional_inputs = ("data", "weight", "bias")


class Several(OperatorProperty):
    """Any number of arrays."""

    num_args = param(int)
    key_var_num_args = "num_args"


X, W, B = Tensor(), Tensor(), Tensor()


def split(op, *args, **named):
    return split_arguments(op, args, named, Tensor, "Tensor")


def test_tensors_come_before_parameters_and_may_be_one_list():
    assert split(Layer, X, W, B, 2) == split(Layer, [X, W, B], 2) == ([X, W, B], {}, {"units": 2})


def test_names_tell_tensors_and_parameters_by_what_they_are_given():
    assert split(Layer, X, weight=W, units=3, mode="exact") == (
        [X],
        {"weight": W},
        {"units": 3, "mode": "exact"},
    )


def test_the_number_of_tensors_is_counted_unless_it_is_given():
    assert split(Several, X, W)[2] == {"num_args": 2}
    assert split(Several, X, num_args=1)[2] == {"num_args": 1}


def test_none_stands_for_a_tensor_that_is_absent_where_one_may_be():
    assert split(Optional, X, None, B, 2) == ([], {"data": X, "bias": B}, {"units": 2})
    assert split(Optional, X, bias=None, units=2) == ([X], {}, {"units": 2})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split(Layer, 2, X), "argument 0 is int, expected Tensor; tensor arguments come before"),
        (
            lambda: split(Layer, X, 2, "a", 7),
            "7 is neither a tensor nor one of its 2 parameters .units, mode.",
        ),
        (lambda: split(Layer, X, 2, units=3), "'units' is given by position and by name"),
        (lambda: split(Optional, X, None, B, bias=B), "'bias' is given by position and by name"),
        (lambda: by_name("f", ["a"], [1, 2], {}), "f: got 2 arguments, expected at most 1: a"),
        (lambda: by_name("f", ["a"], [], {"b": 1}), "f: unknown argument 'b'; expected a"),
        (lambda: by_name("f", ["a"], [1], {"a": 1}), "f: argument 'a' is given by position and by name"),
        (lambda: by_name("f", [], [1], {}), "expected at most 0: none"),
        (
            lambda: ordered(Layer(units=1), [X], {"bias": B}),
            "Layer: argument 'weight' is missing; it takes data",
        ),
    ],
)
def test_what_cannot_be_sorted_is_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_tensors_by_name_take_their_places():
    assert ordered(Layer(units=1), [X], {"bias": B, "weight": W}) == [X, W, B]
    assert ordered(Layer(units=1), [X, W], {}) == [X, W], "the number of arrays is looked at by the call"
