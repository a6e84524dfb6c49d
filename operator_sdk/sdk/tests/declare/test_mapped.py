"""Mappers as operators."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import DTypeError, ParamError
from operad.operator import BackwardArrays, OpContext, OpReq, param
from operad_check.testing import check_forward, gradient_check
from operad_sdk import DeclarationError, Scalar, from_mapper
from operad_sdk.mapper import exp, hypot, mapper, sign, slope_of, sqrt, tanh
from operator_sdk.sdk.tests.mappers import huber

X = np.array([[0.3, -1.7, 2.2], [0.9, -0.2, 1.4]])
Y = np.array([[1.3, 0.7, -2.0], [0.4, 1.1, -0.6]])


@mapper
def squash(x):
    return tanh(x)


@mapper
def length(a, b):
    return hypot(a, b)


@mapper
def linear(x, slope, offset):
    return slope * x + offset


def reads(op):
    """The arrays that the gradients together read, as their names."""
    prop = op(**dict.fromkeys(op.params, 1.5))
    names = {"out_grad": ["output_grad"], "in_data": prop.list_arguments(), "out_data": ["output"]}
    entries = prop.backward_dependency([True] * len(prop.list_arguments()))
    return tuple(names[entry.kind][entry.index] for entry in entries)


def test_mapper_with_a_scalar_is_called_as_mxnet_does():
    op = from_mapper(huber, name="smooth_l1", scalar=Scalar("sigma", default=1.0, above=0.0))
    assert (op.name, op().list_arguments(), op.__doc__) == ("smooth_l1", ["data"], huber.__doc__)
    check_forward(op, [X], lambda x: huber.map(x, 1.3), scalar=1.3)
    gradient_check(op, [X], scalar=1.3)
    with pytest.raises(ParamError):
        op(scalar=0.0)


def test_mapper_of_two_arrays_is_a_binary_operator():
    op = from_mapper(length)
    assert op().list_arguments() == ["lhs", "rhs"]
    check_forward(op, [X, Y], np.hypot)
    gradient_check(op, [X, Y])


def test_mapper_with_parameters():
    op = from_mapper(linear, params={"slope": param(float, 2.0), "offset": param(float, 0.0)})
    check_forward(op, [X], lambda x: 3 * x + 1, slope=3.0, offset=1.0)
    gradient_check(op, [X], slope=3.0)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (squash, ("output_grad", "output")),
        (linear, ("output_grad",)),
        (huber, ("output_grad", "data")),
        (length, ("output_grad", "lhs", "rhs")),
    ],
    ids=["output", "nothing", "input", "inputs"],
)
def test_gradient_reads_only_what_its_formula_needs(function, expected):
    names = function.form.inputs[2 if function is length else 1 :]
    op = from_mapper(function, params={name: param(float, 1.5) for name in names})
    assert reads(op) == expected


@pytest.mark.parametrize("function", [exp, sqrt], ids=["exp", "sqrt"])
def test_gradient_of_functions_that_tell_their_slope_reads_the_output(function):
    @mapper
    def applied(x):
        return function(x)

    op = from_mapper(applied)
    assert reads(op) == ("output_grad", "output")
    gradient_check(op, [np.abs(X)])


def test_gradient_of_a_step_is_zero_even_of_infinite_gradients():
    @mapper
    def step(x):
        return sign(x)

    made = from_mapper(step)().create_operator(cpu(), [(2,)], [np.dtype("f8")])
    head, grad = np.array([1.0, math.inf]), np.empty(2)
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [None], [None], [OpReq.WRITE], [grad]))
    assert grad.tolist() == [0, 0]


def test_written_slope_is_used():
    @mapper
    def slope_written(a, sigma):
        s2 = sigma * sigma
        return sign(a) if abs(a) > 1 / s2 else s2 * a

    op = from_mapper(huber, scalar=Scalar("sigma"), slope=slope_written)
    gradient_check(op, [X], scalar=1.3)
    both = from_mapper(length, slope=(slope_of(length, 0), slope_of(length, 1)))
    gradient_check(both, [X, Y])


def test_no_slope_means_no_gradient():
    assert not from_mapper(squash, slope=None).has_gradient


def test_integers_are_refused():
    with pytest.raises(DTypeError, match="floating"):
        from_mapper(squash)().infer_type([np.dtype(np.int32)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"scalar": Scalar("other")},
        {"params": {"slope": param(float, 1.0)}},
        {},
        {"scalar": Scalar("offset"), "params": {"slope": param(float, 1.0)}},
    ],
)
def test_inputs_must_be_arrays_and_then_the_parameters(wrong):
    with pytest.raises(DeclarationError, match="expected one or two arrays, then exactly those parameters"):
        from_mapper(linear, **wrong)


def test_written_slope_must_have_the_mappers_inputs():
    with pytest.raises(DeclarationError, match="each of the inputs a, b"):
        from_mapper(length, slope=slope_of(length))
