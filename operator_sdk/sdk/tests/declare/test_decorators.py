"""Declarations as functions: `@unary`, `@binary`, and ufuncs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import DTypeError, ParamError, ShapeError
from operad.operator import ForwardArrays, OpContext, OperatorProperty, OpReq, param
from operad_check.testing import check_forward, gradient_check
from operad_sdk import DeclarationError, ResourceRequest, Scalar, binary, define, operator, unary

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def forward(prop, *inputs):
    shapes, types = [value.shape for value in inputs], [value.dtype for value in inputs]
    out = np.empty(prop.infer_shape(shapes)[1][0], prop.infer_type(types)[1][0])
    made = prop.create_operator(cpu(), shapes, types)
    made.forward(OpContext(cpu(), False), ForwardArrays(list(inputs), [OpReq.WRITE], [out]))
    return out


def test_argument_has_mxnet_name_whatever_the_function_calls_it():
    @unary("twice")
    def twice(x):
        """Twice the data."""
        return 2 * x

    assert issubclass(twice, OperatorProperty)
    assert twice().list_arguments() == ["data"]
    assert (twice.name, twice.__doc__, twice.__module__) == ("twice", "Twice the data.", __name__)
    assert not twice.has_gradient
    np.testing.assert_array_equal(twice.forward(X), 2 * X)


def test_parameters_are_read_off_the_signature():
    @unary("clip")
    def clip(x, a_min: float, a_max: float = param(float, 1.0, gt=0)):
        return np.clip(x, a_min, a_max)

    @clip.gradient
    def _(a_max, output_grad, x):
        return output_grad * (x <= a_max)

    prop = clip(a_min="-0.5")
    assert prop.get_params() == {"a_min": "-0.5", "a_max": "1.0"}
    np.testing.assert_array_equal(forward(prop, X), np.clip(X, -0.5, 1))
    gradient_check(clip, [X], a_min=-9)
    with pytest.raises(ParamError, match="'a_max' is -1"):
        clip(a_min=0, a_max=-1)


def test_scalar_reaches_the_function_in_the_arrays_type():
    seen = []

    @unary("plus", scalar=Scalar("amount"))
    def plus(x, amount):
        seen.append(amount)
        return x + amount

    assert forward(plus(scalar=2.7), np.arange(3)).tolist() == [2, 3, 4]
    assert forward(plus(scalar=0.1), X.astype(np.float32)).dtype == np.float32
    assert seen == [2, float(np.float32(0.1))]


def test_scalar_and_further_parameters_exclude_each_other():
    with pytest.raises(DeclarationError, match="has a scalar and parameters"):

        @unary("bad", scalar=Scalar("a"))
        def bad(x, a, b: int = 1):
            return x


def test_function_that_fills_can_be_called_directly():
    @unary("copy")
    def copy(x, output):
        output[...] = x

    assert copy().create_operator(cpu(), [X.shape], [X.dtype]).direct is copy.forward
    check_forward(copy, [X], [X])


def test_joint_gradient_returns_a_pair():
    @binary("hypot")
    def hypot(a, b):
        return np.hypot(a, b)

    @hypot.gradient
    def _(output_grad, a, b, output):
        return output_grad * a / output, output_grad * b / output

    gradient_check(hypot, [X, X + 2])


def test_gradient_of_one_operand_leaves_the_other_without():
    @binary("left")
    def left(a, b):
        return a * b

    @left.gradient("a")
    def _(output_grad, b):
        return output_grad * b

    prop = left()
    assert prop.differentiable_inputs() == [True, False]
    assert [entry.kind for entry in prop.backward_dependency([True, False])] == ["out_grad", "in_data"]
    gradient_check(left, [X, X])


def test_parameters_stand_in_the_line():
    @unary("repeat_rows", "data:(N, D) -> output:(times*N, D)")
    def repeat_rows(x, times: int, axis: int = 0):
        return np.repeat(x, times, axis)

    check_forward(repeat_rows, [X], [np.repeat(X, 3, 0)], times=3)
    assert repeat_rows(times=3).infer_shape([None])[1] == [(None, None)]


def test_element_types_are_checked_and_given():
    is_positive = unary("is_positive", "data:(...) -> output:uint8(...)")(lambda x: x > 0)
    floating = unary("exp", accepts="floating")(np.exp)
    assert is_positive().infer_type([np.dtype("f4")])[1] == [np.dtype("uint8")]
    assert forward(is_positive(), X).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(DTypeError, match="exp: data is int32, expected a floating type"):
        floating().infer_type([np.dtype("i4")])


def test_operator_with_a_resource_takes_the_context():
    @unary("noise", resource=ResourceRequest.RANDOM)
    def noise(x, op_ctx):
        return x + op_ctx.requested[0].generator.random(x.shape)

    @noise.gradient
    def _(output_grad):
        return output_grad

    assert noise().forward_resource([X.shape]) == [ResourceRequest.RANDOM]
    check_forward(noise, [X])
    gradient_check(noise, [X])


def test_binary_operands_have_one_shape():
    add = binary("add")(np.add)
    add.gradient(lambda output_grad: (output_grad, output_grad))
    gradient_check(add, [X, X])
    with pytest.raises(ShapeError, match=r"add: rhs has shape \(3, 2\), expected \(2, 2\)"):
        add().infer_shape([(2, 2), (3, 2)])


def test_a_ufunc_takes_the_scalar_behind_the_array():
    minus = unary("_minus_scalar", scalar=Scalar())(np.subtract)
    minus.gradient(lambda output_grad: output_grad)
    check_forward(minus, [X], [X - 2], scalar="2")
    gradient_check(minus, [X], scalar=2)


def test_a_gradient_of_a_table_says_what_it_may_overwrite_where_it_reads_it():
    product = define(
        "product", "lhs:(...), rhs:(...) -> output:(...)", np.multiply,
        {
            "lhs": lambda output_grad, rhs: output_grad * rhs,
            "rhs": lambda output_grad, lhs: output_grad * lhs,
        },
        summary="`y = l r`; `dy/dl = r`, `dy/dr = l`.", example=("[1]", "[2]", "[2.]"),
        gradient_inplace="output_grad, lhs",
    )  # fmt: skip
    pairs = product().backward_inplace_option(["g"], ["l", "r"], ["o"], ["lg", "rg"])
    # the gradient of rhs runs last: it alone may overwrite the head gradient
    assert sorted(pairs) == [("g", "rg"), ("l", "rg")]
    gradient_check(product, [X, X + 1])


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda f: f.gradient(lambda output_grad, y: output_grad), "takes 'y', which this operator does not"),
        (
            lambda f: f.gradient("y")(lambda output_grad: output_grad),
            "'y_grad', which this operator",
        ),
        (lambda f: f.gradient(inplace="y")(lambda output_grad: output_grad), "inplace of .* takes 'y'"),
        (lambda f: f.gradient(lambda output_grad, *rest: output_grad), r"takes '\*rest'"),
    ],
)
def test_a_gradient_that_names_what_is_not_there_is_refused(declare, message):
    with pytest.raises(DeclarationError, match=message):
        declare(unary("f")(lambda x: x))


def test_function_of_too_few_arrays_is_refused():
    with pytest.raises(DeclarationError, match="takes 1 values, expected its 2 arrays first: lhs, rhs"):
        binary("f")(lambda x: x)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accept": "floating"}, "'f' has no option 'accept'; did you mean 'accepts'"),
        ({"shape": tuple}, "'f' has no option 'shape'; expected scalar, params"),
    ],
)
def test_an_unknown_option_is_refused(options, message):
    with pytest.raises(DeclarationError, match=message):
        unary("f", **options)(lambda x: x)


def test_what_a_class_says_itself_is_not_said_in_its_decorator():
    with pytest.raises(DeclarationError, match="'f' is a class, and its decorator says spec, accepts"):
        operator("f", "data:(N) -> output:(N)", accepts="floating")(type("F", (), {}))


def test_a_function_without_a_line_is_refused():
    with pytest.raises(DeclarationError, match="'f' is a function without a shape line"):
        operator("f")(lambda x: x)


def test_importing_the_toolkit_imports_no_compiler():
    code = "import operad_sdk, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_toolkit_with_its_contracts_imports_no_tool():
    code = (
        "from operad_sdk import Contract, Real, positive, unary; import sys\n"
        "print(*{'operad_check', 'hypothesis', 'pytest', 'click'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_using_an_operator_imports_what_it_needs_and_neither_mappers_nor_the_tracer():
    pytest.importorskip("operad_elemwise", reason="this is its operator")
    code = (
        "import operad as od, sys; od.nd.tanh(od.nd.ones(3)).wait_to_read()\n"
        "print(*[name for name in sys.modules if name.split('.')[0] in ('operad_sdk', 'operad_check')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    names = done.stdout.split()
    assert len(names) <= 36, names
    rooms = ("operad_sdk.differentiate", "operad_sdk.mapper.core", "operad_check")
    assert not [name for name in names if name.startswith(rooms)]


def test_words_of_mappers_are_there_when_they_are_named():
    code = (
        "import operad_sdk, sys\n"
        "assert 'operad_sdk.mapper.core' not in sys.modules and 'erf' in dir(operad_sdk)\n"
        "from operad_sdk import exp, from_mapper, mapper\n"
        "import operad_sdk.mapper.slope\n"
        "assert operad_sdk.mapper is mapper and exp(0.0) == 1.0\n"
        "try:\n    operad_sdk.nonsense\n"
        "except AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "module 'operad_sdk' has no attribute 'nonsense'\n"
