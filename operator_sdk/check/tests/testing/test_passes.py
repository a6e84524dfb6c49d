from __future__ import annotations

import numpy as np
import pytest

from operad.operator import OperatorProperty as CoreProperty
from operad.operator import assign
from operad_check.testing import check_forward, gradient_check
from operad_sdk import Operator, OperatorProperty, gradient, operator, unary

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def cube(**faults):
    """`data ** 3` with one fault planted."""
    members = {
        "spec": "data:(...) -> output:(...)",
        "forward": lambda data: data**3,
        "data_grad": lambda output_grad, data: 3 * output_grad * data * data,
        **faults,
    }
    return operator("cube")(type("Cube", (OperatorProperty,), members))


class LongCube(CoreProperty):
    """`data ** 3` in the long form, which handles requests itself."""

    name = "cube"
    operator_class: type[Operator]

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []

    def create_operator(self, ctx, in_shapes, in_types):
        return self.operator_class()


class IgnoresRequest(Operator):
    def forward(self, op_ctx, arrays):
        if arrays.out_data[0] is not None:
            arrays.out_data[0][...] = arrays.in_data[0] ** 3


class IgnoresRequestOfGradient(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] ** 3)

    def backward(self, op_ctx, arrays):
        if arrays.in_grad[0] is not None:
            arrays.in_grad[0][...] = 3 * arrays.out_grad[0] * arrays.in_data[0] ** 2


def long(made_of):
    return type("Cube", (LongCube,), {"operator_class": made_of})


def write_part(data, output):
    output[:1] = data[:1] ** 3


def change_input(data):
    data *= 1.5
    return data


def write_before_reading(data, output):
    output[...] = 1
    for _ in range(3):
        np.multiply(output, data, out=output)


@gradient(inplace="output_grad")
def write_gradient_before_reading(output_grad, data, data_grad):
    data_grad[...] = 3 * data * data
    np.multiply(data_grad, output_grad, out=data_grad)


def count_up(self, data):
    type(self).calls = getattr(type(self), "calls", 0) + 1
    return data**3 + type(self).calls


def test_correct_operator_passes():
    check_forward(cube(), [X], [X**3])
    gradient_check(cube(), [X])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (cube(forward=lambda data: data**2), "cube.*output"),
        (cube(forward=write_part), r"\[F208\] cube\(\): output.* is not written"),
        (cube(forward=change_input), r"\[F207\].*data.* after forward"),
        (long(IgnoresRequest), r"\[F214\].*output.*for requests \(add\)"),
        (
            cube(forward=write_before_reading, inplace="data -> output"),
            r"\[M403\].*where output overwrites data",
        ),
        (cube(forward=count_up), r"\[F209\].*when run again"),
    ],
    ids=["another power", "part", "input", "request", "in place", "memory"],
)
def test_forward_fault_is_caught(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_forward(wrong, [X], [X**3])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (cube(data_grad=lambda output_grad: output_grad), "gradient of data"),
        (long(IgnoresRequestOfGradient), r"\[B305\].*gradient of data.*for requests \(add\)"),
        (
            cube(data_grad=write_gradient_before_reading),
            r"\[M404\].*where the gradient of data overwrites gradient of output",
        ),
    ],
    ids=["another slope", "request", "in place"],
)
def test_backward_fault_is_caught(wrong, message):
    with pytest.raises(AssertionError, match=message):
        gradient_check(wrong, [X])


def test_undeclared_read_is_caught():
    class KeepsNothing(LongCube):
        operator_class = IgnoresRequestOfGradient

        def declare_backward_dependency(self, out_grad, in_data, out_data):
            return out_grad

    with pytest.raises(AssertionError, match=r"\[M401\].*without what it does not declare.*NoneType"):
        gradient_check(KeepsNothing, [X])


def test_gradient_of_one_argument_must_not_need_another_request():
    @operator("two")
    class Two(OperatorProperty):
        spec = "lhs:(N), rhs:(N) -> output:(N)"

        def forward(lhs, rhs):
            return lhs * rhs

        def backward(output_grad, lhs, rhs, wanted):
            return output_grad * rhs, output_grad * (lhs if "lhs_grad" in wanted else 0)

    with pytest.raises(AssertionError, match=r"\[B305\].*gradient of rhs.*for requests \(null, write\)"):
        gradient_check(Two, [X[0], X[1]])


def test_wrong_simple_gradient_is_caught():
    @unary("square")
    def square(x):
        return x * x

    @square.gradient
    def _(output_grad, x):
        return output_grad * x

    with pytest.raises(AssertionError, match="gradient of data"):
        gradient_check(square, [X])


def test_returns_outputs_and_gradients():
    (output,) = check_forward(cube(), [X])
    np.testing.assert_array_equal(output, X**3)
    (grad,) = gradient_check(cube(), [X])
    assert grad.shape == X.shape
