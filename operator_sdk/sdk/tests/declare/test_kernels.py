"""Further implementations, by function, by class and in the long form."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import BackwardArrays, ForwardArrays, Kernel, OpContext, Operator, OpReq
from operad_check.testing import check_forward, gradient_check
from operad_sdk import (
    DeclarationError,
    OperadError,
    OperatorProperty,
    Scalar,
    gradient,
    kernel,
    operator,
    own_operator,
    param,
    unary,
)

X = np.array([[0.5, -1.0], [2.0, 3.0]])


@pytest.fixture
def scaled():
    @operator("scaled")
    class Scaled(OperatorProperty):
        by = param(float, 2.0)
        spec = "data:(...) -> output:(...)"

        def forward(data, by):
            return by * data

        def data_grad(output_grad, by):
            return by * output_grad

    return Scaled


def made(cls, **params):
    return cls(**params).create_operator(cpu(), [X.shape], [X.dtype])


def forward(op, data=X):
    out = np.empty_like(data)
    op.forward(OpContext(cpu(), False), ForwardArrays([data], [OpReq.WRITE], [out]))
    return out


def test_function_kernel_names_what_it_wants_and_keeps_the_gradient(scaled):
    @scaled.kernel("cpu", priority=1)
    def marked(output, data, by):
        output[...] = by * data + 100

    np.testing.assert_array_equal(forward(made(scaled, by=3)), 3 * X + 100)
    assert isinstance(marked.operad_kernel, Kernel)
    gradient_check(scaled, [X])


def test_class_kernel_is_made_with_shapes_and_may_bring_its_gradient(scaled):
    @scaled.kernel("cpu", priority=1)
    class Planned:
        def __init__(self, prop, ctx, in_shapes, in_types):
            self.factor = np.full(in_shapes[0], prop.by, in_types[0])

        def forward(self, data, output):
            np.multiply(data, self.factor, out=output)

        def data_grad(self, output_grad):
            return output_grad * self.factor

    check_forward(scaled, [X], [3 * X], by=3)
    gradient_check(scaled, [X], by=3)


def test_class_kernel_without_gradient_uses_the_operators(scaled):
    @scaled.kernel("cpu", priority=1)
    class Only:
        def __init__(self, prop, ctx, in_shapes, in_types):
            self.by = prop.by

        def forward(self, data):
            return data * self.by

    gradient_check(scaled, [X], by=3)


def dense():
    """A fresh operator of three arguments, one of them optional; one function gives two gradients."""

    @operator("test_dense")
    class Dense(OperatorProperty):
        no_bias = param(bool, False)
        spec = "data:(N, D), weight:(H, D), bias:(H) if not no_bias -> output:(N, H)"
        accepts = "floating"

        def forward(data, weight, bias):
            product = data @ weight.T
            return product if bias is None else product + bias

        @gradient("data", "weight")
        def products(output_grad, data, weight, data_grad, weight_grad):
            data_grad[...] = output_grad @ weight
            weight_grad[...] = output_grad.T @ data

        def bias_grad(output_grad):
            return output_grad.sum(0)

    return Dense


def own_gradients(computed, brought):
    """A kernel class that brings some gradients, and notes when they are called."""

    class Own:
        def __init__(self, prop, ctx, in_shapes, in_types): ...

        def forward(self, data, weight, bias):
            product = data @ weight.T
            return product if bias is None else product + bias

    def data_grad(self, output_grad, weight):
        computed.append("data")
        return output_grad @ weight

    def weight_grad(self, output_grad, data):
        computed.append("weight")
        return output_grad.T @ data

    def bias_grad(self, output_grad):
        computed.append("bias")
        return output_grad.sum(0)

    for function in (data_grad, weight_grad, bias_grad):
        if function.__name__.removesuffix("_grad") in brought:
            setattr(Own, function.__name__, function)
    return Own


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("brought", [["data"], ["weight"], ["bias"], ["data", "bias"], ["weight", "bias"]])
def test_gradients_that_a_class_kernel_does_not_bring_are_the_operators(brought, no_bias):
    cls, computed = dense(), []
    cls.kernel("cpu", priority=1)(own_gradients(computed, brought))
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3) / 8]
    arrays += [] if no_bias else [np.arange(4.0)]
    gradient_check(cls, arrays, no_bias=no_bias)
    assert set(computed) == {name for name in brought if name != "bias" or not no_bias}


def test_gradients_that_a_class_kernel_does_not_bring_are_added_where_that_is_asked():
    cls = dense()
    cls.kernel("cpu", priority=1)(own_gradients([], ["data"]))
    data, weight, head = np.ones((2, 3)), np.ones((4, 3)), np.ones((2, 4))
    made = cls(no_bias=True).create_operator(cpu(), [(2, 3), (4, 3)], [data.dtype] * 2)
    grads = [np.full((2, 3), 10.0), np.full((4, 3), 10.0)]
    requests = [OpReq.NULL, OpReq.ADD]
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [data, weight], [None], requests, grads))
    assert (grads[0] == 10).all()
    assert (grads[1] == 12).all()


class Long(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        self.by = prop.by

    def forward(self, op_ctx, arrays):
        arrays.out_data[0][...] = self.by * arrays.in_data[0] + 7


def test_operator_class_without_gradients_has_those_of_the_operator(scaled):
    kernel(scaled, "cpu", priority=1)(Long)
    np.testing.assert_array_equal(forward(made(scaled)), 2 * X + 7)
    gradient_check(scaled, [X])


def test_operator_class_with_gradients_is_its_own_factory(scaled):
    @kernel(scaled, "cpu", priority=1)
    class Whole(Long):
        def backward(self, op_ctx, arrays):
            arrays.in_grad[0][...] = self.by * arrays.out_grad[0]

    assert isinstance(made(scaled), Whole)


def test_priority_and_condition_choose(scaled):
    scaled.kernel(priority=2, when=lambda call: call.prop.by > 5 or "only by > 5")(lambda data: data * 0)
    assert not forward(made(scaled, by=6)).any()
    np.testing.assert_array_equal(forward(made(scaled)), 2 * X)


def test_kernel_that_reads_what_is_not_kept_is_refused(scaled):
    @scaled.kernel("cpu", priority=1)
    class Greedy:
        def __init__(self, prop, ctx, in_shapes, in_types): ...

        def forward(self, data):
            return data

        def data_grad(self, output_grad, data):
            return output_grad * data

    with pytest.raises(DeclarationError, match="reads in_data 'data', which scaled does not keep"):
        made(scaled)


def test_kernel_that_names_what_is_not_there_is_refused(scaled):
    scaled.kernel("cpu", priority=1, name="typo")(lambda dat, output: None)
    with pytest.raises(DeclarationError, match=r"'scaled.typo' takes 'dat'.*did you mean 'data'"):
        made(scaled)


def test_class_without_forward_is_refused(scaled):
    with pytest.raises(DeclarationError, match="has no function forward"):
        scaled.kernel("cpu")(type("Empty", (), {}))


def test_kernel_for_another_distribution_is_declared_by_name():
    @kernel("tanh", "cpu", priority=1)
    def fast(data, output):
        np.tanh(data, out=output)
        output += 1

    tanh = unary("tanh")(np.tanh)
    tanh.kernels.append(fast.operad_kernel)
    assert fast.operad_kernel.name == "tanh.fast"
    np.testing.assert_array_equal(forward(made(tanh)), np.tanh(X) + 1)


def test_a_kernel_may_take_the_scalar():
    plus = unary("_plus_scalar", scalar=Scalar())(np.add)

    @plus.kernel("cpu", priority=1)
    def fast(data, scalar):
        return data + scalar + 100

    np.testing.assert_array_equal(forward(made(plus, scalar=2)), X + 102)


def test_a_kernel_that_fills_can_be_called_directly_and_only_where_it_applies():
    square = unary("square", inplace="data")(lambda x: x * x)
    square.gradient(lambda output_grad, x: 2 * output_grad * x)

    @square.kernel("cpu", priority=1, when=lambda call: len(call.in_shapes[0]) == 2 or "wants two axes")
    def power(x, output):
        np.power(x, 2, out=output)

    assert made(square).direct is power
    check_forward(square, [X], [X * X])
    gradient_check(square, [X])
    assert square().create_operator(cpu(), [(3,)], [X.dtype]).direct is not power
    assert power.operad_kernel.name == "square.power"


def test_a_function_may_compute_a_gradient_alone():
    cls, computed = dense(), []

    @cls.kernel("weight_grad", priority=1)
    def by_columns(output_grad, data):
        computed.append("weight")
        return np.einsum("nh,nd->hd", output_grad, data)

    arrays = [np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3) / 8, np.arange(4.0)]
    gradient_check(cls, arrays)
    assert computed
    assert by_columns.operad_kernel.parts(cls()) == ["weight_grad"]


def test_a_function_may_compute_several_gradients_and_add_to_them_itself():
    cls = dense()

    @cls.kernel("data_grad", "weight_grad", accumulate=True, priority=1)
    def both(output_grad, data, weight, data_grad, weight_grad):
        data_grad += output_grad @ weight
        weight_grad += output_grad.T @ data

    gradient_check(cls, [np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3) / 8, np.arange(4.0)])
    assert set(both.operad_kernel.parts(cls(no_bias=True))) == {"data_grad", "weight_grad"}


def test_a_gradient_that_these_parameters_leave_out_is_no_part():
    cls = dense()
    made = cls.kernel("bias_grad")(lambda output_grad: output_grad.sum(0))
    assert made.operad_kernel.parts(cls()) == ["bias_grad"]
    assert made.operad_kernel.parts(cls(no_bias=True)) == []


def test_a_condition_sees_the_call(scaled):
    @scaled.kernel("forward", "cpu", priority=1, when=lambda call: call.size("output") > 5 or "few elements")
    def marked(data):
        return data + 100

    np.testing.assert_array_equal(forward(made(scaled)), 2 * X)
    np.testing.assert_array_equal(
        forward(scaled().create_operator(cpu(), [(2, 3)], [X.dtype]), np.ones((2, 3))), np.full((2, 3), 101)
    )


def test_a_partial_takes_the_names_that_are_left(scaled):
    def shifted(data, output, shift):
        np.add(data, shift, out=output)

    scaled.kernel("forward", name="by_seven", priority=1)(partial(shifted, shift=7))
    np.testing.assert_array_equal(forward(made(scaled)), X + 7)


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("forward", "data_grad"), {}, "expected 'forward' alone"),
        (("data",), {}, "or '<argument>_grad' for each gradient"),
        (("forward",), {"accumulate": True}, "expected accumulate=True for gradients"),
        (("cpu", "gpu"), {}, "expected one device"),
        (("cpu",), {"device": "gpu"}, "expected one device"),
    ],
)
def test_parts_that_make_no_kernel_are_refused(scaled, words, options, message):
    with pytest.raises(DeclarationError, match=message):
        scaled.kernel(*words, **options)(lambda data: data)


def test_a_class_brings_its_own_parts(scaled):
    with pytest.raises(DeclarationError, match="is a class, which brings its own parts"):
        scaled.kernel("data_grad")(type("Own", (), {"forward": lambda self, data: data}))


def test_a_gradient_that_reads_what_is_not_kept_is_refused(scaled):
    scaled.kernel("data_grad", priority=1)(lambda output_grad, data: output_grad * data)
    with pytest.raises(DeclarationError, match="reads in_data 'data', which scaled does not keep"):
        made(scaled)


def test_a_kernel_of_another_distribution_may_hand_calls_on_to_the_operators_own(scaled):
    @scaled.kernel("cpu", priority=2, when=lambda call: call.shape("data")[0] == 2)
    def own_of_two(output, data, by):
        output[...] = by * data + 100

    @kernel("scaled", device="cpu", priority=9)
    class HandsOn:
        def __init__(self, prop, ctx, in_shapes, in_types):
            self.own = own_operator(prop, ctx, in_shapes, in_types)

        def forward(self, op_ctx, data, output):
            self.own.forward(op_ctx, ForwardArrays([data], [OpReq.WRITE], [output]))

    scaled.kernels.append(HandsOn.operad_kernel._replace(distribution="acme"))
    np.testing.assert_array_equal(forward(made(scaled, by=3)), 3 * X + 100)  # its own of highest priority
    three = scaled(by=3).create_operator(cpu(), [(3,)], [X.dtype])
    np.testing.assert_array_equal(forward(three, np.ones(3)), [3.0, 3.0, 3.0])
    gradient_check(scaled, [np.ones(3)])


def test_an_operator_without_a_kernel_of_its_own_that_applies_says_so(scaled):
    scaled.kernels[:] = [one._replace(when=lambda call: "not today") for one in scaled.kernels]
    with pytest.raises(OperadError, match="not today"):
        own_operator(scaled(), cpu(), [(3,)], [X.dtype])
