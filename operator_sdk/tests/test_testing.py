from __future__ import annotations

import numpy as np
import pytest

from operad_sdk import Operator, OperatorProperty, gradient, operator, unary
from operad_sdk.testing import check_forward, gradient_check

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def cube(**faults):
    """`data ** 3` with one fault planted."""

    class Cube(OperatorProperty):
        spec = faults.get("spec", "data:(...) -> output:(...)")
        forward_inplace = faults.get("forward_inplace", ())
        backward_inplace = faults.get("backward_inplace", ())
        forward = faults.get("forward", lambda self, data, output: output.assign(data**3))
        backward = faults.get(
            "backward",
            lambda self, output_grad, data, data_grad: data_grad.assign(3 * output_grad * data * data),
        )

    return operator("cube")(Cube)


def write_part(self, data, output):
    with output.writing() as out:
        out[:1] = data[:1] ** 3


def change_input(self, data, output):
    data *= 1.5
    output.assign(data)


def ignore_request(self, data, output):
    if output.array is not None:
        output.array[...] = data**3


def write_before_reading(self, data, output):
    with output.writing() as out:
        out[...] = 1
        for _ in range(3):
            np.multiply(out, data, out=out)


def ignore_request_of_gradient(self, output_grad, data, data_grad):
    if data_grad.array is not None:
        data_grad.array[...] = 3 * output_grad * data * data


def write_gradient_before_reading(self, output_grad, data, data_grad):
    with data_grad.writing() as out:
        out[...] = 3 * data * data
        np.multiply(out, output_grad, out=out)


def count_up(self, data, output):
    type(self).calls = getattr(type(self), "calls", 0) + 1
    output.assign(data**3 + type(self).calls)


def test_correct_operator_passes():
    check_forward(cube(), [X], [X**3])
    gradient_check(cube(), [X])


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ({"forward": lambda self, data, output: output.assign(data**2)}, "cube.*output"),
        ({"forward": write_part}, "not written|differs"),
        ({"forward": change_input}, "changed its input data"),
        ({"forward": ignore_request}, "add, output"),
        ({"forward": write_before_reading, "forward_inplace": [("data", "output")]}, "in place of input 0"),
        ({"forward": count_up}, "differs between two runs"),
    ],
)
def test_forward_fault_is_caught(faults, message):
    with pytest.raises(AssertionError, match=message):
        check_forward(cube(**faults), [X], [X**3])


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (
            {"backward": lambda self, output_grad, data_grad: data_grad.assign(output_grad)},
            "gradient of data",
        ),
        ({"backward": ignore_request_of_gradient}, "add, gradient of data"),
        (
            {"backward": write_gradient_before_reading, "backward_inplace": [("output_grad", "data_grad")]},
            "shares memory with out_grad 0",
        ),
    ],
)
def test_backward_fault_is_caught(faults, message):
    with pytest.raises(AssertionError, match=message):
        gradient_check(cube(**faults), [X])


def test_undeclared_read_is_caught():
    class Reads(Operator):
        def forward(self, op_ctx, in_data, req, out_data, aux_states):
            out_data[0][...] = in_data[0] ** 3

        def backward(self, op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states):
            in_grad[0][...] = 3 * out_grad[0] * in_data[0] ** 2

    class Cube(OperatorProperty):
        has_gradient = True

        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

        def declare_backward_dependency(self, out_grad, in_data, out_data):
            return out_grad

        def create_operator(self, ctx, in_shapes, in_types):
            return Reads()

    with pytest.raises(TypeError, match="NoneType"):
        gradient_check(operator("cube")(Cube), [X])


def test_gradient_of_one_argument_must_not_need_another_request():
    @operator("two")
    class Two(OperatorProperty):
        spec = "lhs:(N), rhs:(N) -> output:(N)"

        def forward(self, lhs, rhs, output):
            output.assign(lhs * rhs)

        @gradient
        def both(self, output_grad, lhs, rhs, lhs_grad, rhs_grad):
            lhs_grad.assign(output_grad * rhs)
            rhs_grad.assign(output_grad * (lhs if lhs_grad.wanted else 0))

    with pytest.raises(AssertionError, match="gradient of rhs alone"):
        gradient_check(Two, [X[0], X[1]])


def test_wrong_simple_gradient_is_caught():
    @unary("square")
    def square(x):
        return x * x

    @square.gradient
    def _(ograd, x):
        return ograd * x

    with pytest.raises(AssertionError, match="gradient of data"):
        gradient_check(square, [X])


def test_returns_outputs_and_gradients():
    (output,) = check_forward(cube(), [X])
    np.testing.assert_array_equal(output, X**3)
    (grad,) = gradient_check(cube(), [X])
    assert grad.shape == X.shape
