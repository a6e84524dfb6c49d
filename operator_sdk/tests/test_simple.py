from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import DTypeError, ParamError, ShapeError
from operad.operator import OpContext, OperatorProperty, OpReq, param
from operad_sdk import DeclarationError, ResourceRequest, Scalar, binary, from_ufunc, unary
from operad_sdk.testing import check_forward, gradient_check

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def forward(prop, *inputs):
    operator = prop.create_operator(
        cpu(), [value.shape for value in inputs], [value.dtype for value in inputs]
    )
    shape, dtype = (
        prop.infer_shape([v.shape for v in inputs])[1][0],
        prop.infer_type([v.dtype for v in inputs])[1][0],
    )
    out = np.empty(shape, dtype)
    operator.forward(OpContext(cpu(), False), list(inputs), [OpReq.WRITE], [out], [])
    return out


def test_argument_has_mxnet_name_whatever_the_function_calls_it():
    @unary("twice")
    def twice(x):
        """Twice the data."""
        return 2 * x

    assert issubclass(twice.operad_property, OperatorProperty)
    assert twice.operad_property().list_arguments() == ["data"]
    np.testing.assert_array_equal(twice(data=X), twice(x=X))
    assert (twice.__name__, twice.__doc__, repr(twice)) == ("twice", "Twice the data.", "<operator 'twice'>")
    assert not twice.operad_property.has_gradient


def test_parameters_are_read_off_the_signature():
    @unary("clip")
    def clip(x, *, a_min: float, a_max: float = param(float, 1.0, gt=0)):
        return np.clip(x, a_min, a_max)

    @clip.gradient
    def _(a_max, ograd, x):
        return ograd * (x <= a_max)

    prop = clip.operad_property(a_min="-0.5")
    assert prop.get_params() == {"a_min": "-0.5", "a_max": "1.0"}
    np.testing.assert_array_equal(forward(prop, X), np.clip(X, -0.5, 1))
    np.testing.assert_array_equal(clip(X, -0.5), clip(X, a_min=-0.5, a_max=1))
    gradient_check(clip, [X], a_min=-9)
    with pytest.raises(ParamError, match="'a_max' is -1"):
        clip(X, 0, a_max=-1)


def test_scalar_reaches_the_function_in_the_arrays_type():
    seen = []

    @unary("plus", scalar=Scalar("amount"))
    def plus(x, amount):
        seen.append(amount)
        return x + amount

    assert forward(plus.operad_property(scalar=2.7), np.arange(3)).tolist() == [2, 3, 4]
    assert plus(X.astype(np.float32), scalar=0.1).dtype == np.float32
    assert seen == [2, float(np.float32(0.1))]


def test_scalar_and_further_parameters_exclude_each_other():
    with pytest.raises(DeclarationError, match="a scalar or parameters, not both"):

        @unary("bad", scalar=Scalar("a"))
        def bad(x, a, b: int = 1):
            return x


def test_function_that_takes_out_writes_it_and_needs_no_frame_of_ours():
    @unary("copy")
    def copy(x, out):
        out[...] = x

    np.testing.assert_array_equal(copy(X), X)
    target = np.empty_like(X)
    assert copy(X, out=target) is target
    assert copy.operad_property().create_operator(cpu(), [X.shape], [X.dtype]).direct is not None
    check_forward(copy, [X], [X])


def test_joint_gradient_returns_a_pair():
    @binary("hypot")
    def hypot(a, b):
        return np.hypot(a, b)

    @hypot.gradient
    def _(ograd, a, b, out_value):
        return ograd * a / out_value, ograd * b / out_value

    gradient_check(hypot, [X, X + 2])


def test_gradient_of_one_operand_leaves_the_other_without():
    @binary("left")
    def left(a, b):
        return a * b

    @left.gradient("a")
    def _(ograd, b):
        return ograd * b

    prop = left.operad_property()
    assert prop.differentiable_inputs() == [True, False]
    assert [entry.kind for entry in prop.backward_dependency([True, False])] == ["out_grad", "in_data"]
    gradient_check(left, [X, X])


def test_shape_function_gets_shapes_and_parameters_by_name():
    @unary("repeat_rows")
    def repeat_rows(x, times: int, axis: int = 0):
        return np.repeat(x, times, axis)

    @repeat_rows.shape
    def _(shape, times):
        return (shape[0] * times, *shape[1:])

    check_forward(repeat_rows, [X], [np.repeat(X, 3, 0)], times=3)
    assert repeat_rows.operad_property(times=3).infer_shape([None])[1] == [None]


def test_element_types_are_checked_and_given():
    is_positive = unary("is_positive", dtype="uint8")(lambda x: x > 0)
    floating = from_ufunc(np.exp, accepts="floating")
    assert is_positive.operad_property().infer_type([np.dtype("f4")])[1] == [np.dtype("uint8")]
    assert forward(is_positive.operad_property(), X).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(DTypeError, match="exp: data is int32, expected a floating type"):
        floating.operad_property().infer_type([np.dtype("i4")])
    widen = unary("widen", dtype=lambda dtype: np.dtype("f8"))(lambda x: x)
    assert widen.operad_property().infer_type([np.dtype("f4")])[1] == [np.dtype("f8")]


def test_operator_with_a_resource_takes_the_context():
    @unary("noise", resource=ResourceRequest.RANDOM)
    def noise(x, op_ctx):
        return x + op_ctx.requested[0].generator.random(x.shape)

    @noise.gradient
    def _(ograd):
        return ograd

    assert noise.operad_property().forward_resource([X.shape]) == [ResourceRequest.RANDOM]
    check_forward(noise, [X])
    gradient_check(noise, [X])


def test_gradient_alone_may_take_the_context():
    @unary("scaled", scalar=Scalar("by"))
    def scaled(x, by):
        return by * x

    @scaled.gradient(resource=ResourceRequest.TEMP_SPACE)
    def _(ograd, by, op_ctx, out):
        space = op_ctx.requested[0].get_space(ograd.shape, ograd.dtype)
        np.multiply(ograd, by, out=space)
        out[...] = space

    check_forward(scaled, [X], [3 * X], scalar=3)
    gradient_check(scaled, [X], scalar=3)
    assert scaled.operad_property(scalar=3).backward_resource([X.shape]) == [ResourceRequest.TEMP_SPACE]


def test_binary_operands_have_one_shape():
    add = from_ufunc(np.add, gradient={"lhs": lambda ograd: ograd, "rhs": lambda ograd: ograd})
    gradient_check(add, [X, X])
    with pytest.raises(ShapeError, match=r"add: rhs has shape \(3, 2\), expected \(2, 2\)"):
        add.operad_property().infer_shape([(2, 2), (3, 2)])


def test_ufunc_with_scalar_on_either_side():
    minus = from_ufunc(np.subtract, name="_minus_scalar", scalar=Scalar(), gradient=lambda ograd: ograd)
    rminus = from_ufunc(
        np.subtract, name="_rminus_scalar", scalar=Scalar(), reverse=True, gradient=lambda ograd: -ograd
    )
    check_forward(minus, [X], [X - 2], scalar=2)
    check_forward(rminus, [X], [2 - X], scalar="2")
    gradient_check(minus, [X], scalar=2)
    gradient_check(rminus, [X], scalar=2)


def test_ufunc_of_another_kind_is_refused():
    with pytest.raises(DeclarationError, match="divmod has 2 inputs and 2 outputs"):
        from_ufunc(np.divmod)
    with pytest.raises(DeclarationError, match="sin has 1 inputs"):
        from_ufunc(np.sin, scalar=Scalar())


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda f: f.gradient(lambda ograd, y: ograd), r"takes 'y'.*did you mean|takes 'y'"),
        (lambda f: f.gradient("y")(lambda ograd: ograd), "takes 'y'"),
        (
            lambda f: f.gradient(inplace="x")(lambda ograd: ograd),
            "inplace of the gradient of 'f' takes 'x'|'data'",
        ),
        (lambda f: (f.gradient(lambda ograd: ograd), f.gradient(lambda ograd: ograd)), "declared twice"),
        (lambda f: (f.operad_property, f.gradient(lambda ograd: ograd)), "already in use"),
        (lambda f: f.shape(lambda s, t: s), "takes 't'"),
        (lambda f: f(), "'data' is missing"),
        (lambda f: f(1, 2), "got 2 values"),
    ],
)
def test_contradiction_is_refused(declare, message):
    with pytest.raises(DeclarationError, match=message):
        declare(unary("f")(lambda x: x))


def test_function_of_too_few_arrays_is_refused():
    with pytest.raises(DeclarationError, match="takes 1 arrays, expected 2"):
        binary("f")(lambda x: x)


def test_kernel_replaces_forward_and_keeps_the_gradient():
    square = unary("square", inplace="x")(lambda x: x * x)
    square.gradient(lambda ograd, x: 2 * ograd * x)

    @square.kernel(
        "cpu", priority=1, when=lambda prop, shapes, types: len(shapes[0]) == 2 or "wants two axes"
    )
    def power(v, out):
        np.power(v, 2, out=out)

    operator = square.operad_property().create_operator(cpu(), [X.shape], [X.dtype])
    assert operator.direct is not None
    check_forward(square, [X], [X * X])
    gradient_check(square, [X])
    assert square.operad_property().create_operator(cpu(), [(3,)], [X.dtype]).direct is None
    assert power.operad_kernel.name == "square.power"


def test_importing_the_toolkit_imports_no_compiler():
    code = "import operad_sdk, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
