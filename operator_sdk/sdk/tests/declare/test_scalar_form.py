"""The scalar forms of declared operators."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest

from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import OperatorProperty, ResourceRequest, binary, from_mapper, mapper, operator, param, unary
from operad_sdk.declare import scalar_form
from operad_sdk.declare.decorators import BROADCAST
from operad_sdk.errors import NoForm

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def form(op, part="forward", *shapes, dtype=SINGLE, **params):
    prop = op(**params)
    shapes = shapes or ((4, 5),) * len(prop.list_arguments())
    return prop.scalar_form(part, shapes, [dtype] * len(shapes))


@unary("form_cube", accepts="floating")
def cube(data, output):
    np.power(data, 3, out=output)


@cube.gradient
def _(output_grad, data):
    return 3 * output_grad * data**2


@operator("form_update")
class Update(OperatorProperty):
    """A state that moves, and an output that follows it."""

    spec = "weight:(*S), grad:(*S), state mean:(*S) -> output:(*S)"
    accepts = "floating"
    rate = param(float, 0.5)
    clip = param(float, -1.0)

    def forward(weight, grad, mean, rate, clip, output):
        if clip > 0:
            grad = np.clip(grad, -clip, clip)
        mean[:] = rate * mean + grad
        output[:] = weight - mean


def test_parts_are_forward_and_the_gradients_that_there_are():
    assert cube().list_parts() == ["forward", "data_grad"]
    assert Update().list_parts() == ["forward"]


def test_inputs_of_a_gradient_are_what_it_reads():
    found = form(cube, "data_grad")
    assert (found.inputs, [result.name for result in found.results]) == (
        ("output_grad", "data"),
        ["data_grad"],
    )
    x, head = np.array([[2.0, 3.0]]), np.array([[1.0, 10.0]])
    np.testing.assert_array_equal(found.evaluate([head, x], (1, 2)), [[[12.0, 270.0]]])


def test_states_are_inputs_and_those_that_change_are_results():
    found = form(Update)
    assert found.inputs == ("weight", "grad", "mean")
    assert [result.name for result in found.results] == ["output", "mean"]
    arrays = [np.array([[1.0]]), np.array([[2.0]]), np.array([[4.0]])]
    np.testing.assert_array_equal(found.evaluate(arrays, (1, 1)), [[[-3.0]], [[4.0]]])


@operator("form_by_state")
class ByState(OperatorProperty):
    """A gradient that reads a state."""

    spec = "data:(N, C), state scale:(C) -> output:(N, C)"
    accepts = "floating"

    def forward(data, scale):
        return data * np.exp(scale)

    def data_grad(output_grad, scale):
        return output_grad * np.exp(scale)


@pytest.mark.parametrize("columns", [1, 5])
def test_a_gradient_that_reads_a_state_has_no_form(columns):
    found = form(ByState, "data_grad", (4, columns))
    assert isinstance(found, NoForm)
    assert "it reads a state" in found


def test_parameters_are_numbers_of_the_form():
    assert form(Update, rate=0.25) != form(Update, rate=0.5)
    ops = [step.op for step in form(Update, clip=1.0).instructions]
    assert "minimum" in ops
    assert "minimum" not in [step.op for step in form(Update).instructions]


def counting(name):
    """An operator, and the shapes of the calls of its function."""
    calls = []

    @unary(name, accepts="floating")
    def counted(data):
        calls.append(data.shape)
        return np.tanh(data)

    return counted, calls


def test_a_signature_is_traced_once_whatever_the_lengths():
    counted, calls = counting("form_counted")
    first = form(counted, "forward", (4, 5))
    assert len(calls) == 2
    assert form(counted, "forward", (100, 7)) is first
    assert len(calls) == 2
    assert form(counted, "forward", (4, 5, 6)) == first
    assert form(counted, "forward", (4, 5), dtype=DOUBLE) == first


def test_many_lengths_do_not_push_out_what_was_traced():
    counted, calls = counting("form_of_many_lengths")
    first = form(counted, "forward", (4, 5))
    for length in range(2, 1002):
        assert form(counted, "forward", (length, length + 1)) is first
    assert len(calls) == 2


def test_a_gradient_declared_later_counts():
    @unary("form_late", accepts="floating")
    def late(data):
        return np.tanh(data)

    assert late().list_parts() == ["forward"]
    form(late)

    @late.gradient
    def _(output_grad, output):
        return output_grad * (1 - output * output)

    assert "divide" not in form(late, "data_grad").text()


def test_what_is_repeated_along_axes_has_a_form_and_the_sum_of_its_gradient():
    @binary("form_product", spec=BROADCAST, accepts="floating")
    def product(lhs, rhs):
        return lhs * rhs

    @product.gradient
    def rhs_grad(output_grad, lhs):
        return output_grad * lhs

    assert form(product, "forward", (4, 5), (5,)) == form(product, "forward", (4, 5), (4, 1))
    for shape, over in (((4, 1), None), ((5,), (-2,)), ((1, 1), (-2, -1)), ((4, 5), ())):
        steps = form(product, "rhs_grad", (4, 5), shape).instructions[2:]
        assert [step.op for step in steps] == (["multiply"] if over == () else ["multiply", "sum"])
        assert over == () or steps[1].axes == over


def test_a_mapper_is_the_form():
    @mapper
    def leaky(x, slope):
        return x if x > 0 else slope * x

    op = from_mapper(leaky, name="form_leaky", params={"slope": param(float, 0.5)})
    found = form(op, slope=0.25)
    x = np.array([[-2.0, 2.0]])
    np.testing.assert_array_equal(found.evaluate([x], x.shape), [[[-0.5, 2.0]]])
    np.testing.assert_array_equal(
        form(op, "data_grad", slope=0.25).evaluate([x, x], x.shape), [[[-0.5, 2.0]]]
    )


def noisy(data, op_ctx):
    return data * op_ctx.requested[0].uniform(0, 1, data.shape)


def by_mode(data, is_train):
    return data * 2 if is_train else data


def by_small_coincidence(data, is_train):
    return data * (0.6 if is_train else 0.7)


def by_length(data):
    return data / data.shape[0] if len(data) > 6 else data


def by_size(data):
    return data if data.size > 4096 else -data


def by_order(data):
    return data if data.shape[0] > data.shape[1] else -data


def at_most_four(data):
    return data * min(data.shape[1], 4)


def by_parity(data):
    return data if data.shape[0] % 2 else -data


def by_equal_sizes(data):
    return data if data.size == 2 * data.shape[0] else -data


def known_of_lengths(data):
    if data.ndim == 2 and data.shape == data.T.T.shape and data.size and data.shape[1] != 1:
        return data / max(data.size, 1)
    return -data


def raising(data):
    raise KeyError("no")


@pytest.mark.parametrize(
    ("function", "options", "reason"),
    [
        (noisy, {"resource": ResourceRequest.RANDOM}, "asks for random numbers"),
        (by_mode, {}, "depends on the mode"),
        (by_small_coincidence, {}, "depends on the mode"),
        (by_size, {}, "decides by the lengths"),
        (by_order, {}, "decides by the lengths"),
        (at_most_four, {}, "decides by the lengths"),
        (by_parity, {}, "decides by the lengths"),
        (by_equal_sizes, {}, "decides by the lengths"),
        (by_length, {}, "depends on"),
        (lambda data: data if data.any() else -data, {}, "asked whether it is true"),
        (lambda data, output: None, {}, "output is not written"),
        (raising, {}, r"cannot be traced \(KeyError: 'no'\)"),
    ],
)
def test_why_there_is_no_form(function, options, reason):
    op = unary("form_none", accepts="floating", **options)(function)
    found = form(op)
    assert isinstance(found, str)
    assert re.search(reason, found)


def test_what_a_signature_knows_of_lengths_may_be_asked():
    found = form(unary("form_known", accepts="floating")(known_of_lengths))
    x = np.ones((3, 8), np.float32)
    np.testing.assert_allclose(found.evaluate([x], x.shape)[0], x / 24, rtol=1e-6)


def test_an_operator_in_the_long_form_says_nothing():
    class Long(CoreProperty):
        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

    assert form(Long) == "the operator does not say what it computes for each element"


def test_arrays_of_many_axes_are_traced_with_short_lengths_or_not_at_all() -> None:
    six, eight = (2, 3, 4, 5, 6, 7), (2,) * 8
    found, data = form(cube, "forward", six), np.random.default_rng(0).standard_normal(six).astype(SINGLE)

    np.testing.assert_allclose(found.evaluate([data], six)[0], data**3, rtol=1e-6)
    assert "too many axes" in form(cube, "forward", eight)
    assert "too many axes" in form(cube, "data_grad", eight)


@pytest.mark.parametrize("fixed", [(), (6, 7), (8, 13), (17, 9, 6)])
@pytest.mark.parametrize("pairs", [scalar_form.LENGTHS, scalar_form.SHORT], ids=["usual", "short"])
def test_no_two_products_of_lengths_change_alike_from_one_trace_to_the_other(pairs, fixed) -> None:
    lengths = (*range(101, 106), *fixed)
    (one,), (other,) = (scalar_form.renumbered([lengths], pairs, i, frozenset(fixed)) for i in (0, 1))
    one, other = one[:5], other[:5]
    products = [chosen for count in (1, 2) for chosen in combinations(range(5), count)]
    changes = [Fraction(prod(one[i] for i in chosen), prod(other[i] for i in chosen)) for chosen in products]

    assert len({*one, *fixed}) == len({*other, *fixed}) == 5 + len(fixed)
    assert len({*changes, *(1 / change for change in changes), Fraction(1)}) == 2 * len(products) + 1


@operator("form_centred")
class Centred(OperatorProperty):
    """Less the mean along one axis."""

    spec = "data:(*S) -> output:(*S)"
    accepts = "floating"
    axis = param(int, 0)

    def forward(data, axis):
        return data - data.mean(axis, keepdims=True)


@pytest.mark.parametrize("lengths", [(2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 7)])
def test_a_mean_along_any_of_many_axes_divides_by_its_length(lengths) -> None:
    data = np.random.default_rng(0).normal(size=lengths).astype(SINGLE)
    for axis in range(len(lengths)):
        (found,) = form(Centred, "forward", lengths, axis=axis).evaluate([data], lengths)
        np.testing.assert_allclose(found, data - data.mean(axis, keepdims=True), rtol=1e-4, atol=1e-6)


@operator("form_stopped")
class FormStopped(OperatorProperty):
    """Each part is stopped by another thing, in a line that is known."""

    spec = "data:(N, D), other:(N, D), third:(N, D), fourth:(N, D) -> output:(N, D)"

    def forward(data, other, third, fourth):
        return _sorted_rows(data * other) + third  # called

    def data_grad(output_grad, data):
        if data.shape[0] > 3:  # decides
            return output_grad
        return -output_grad

    def other_grad(output_grad, data):
        return output_grad * float(data[0, 0])  # looks

    def fourth_grad(output_grad):
        return output_grad * changing  # reads


def _sorted_rows(values):
    doubled = values * 2
    return np.sort(doubled, axis=1)  # sorts


changing = 2.0


@pytest.mark.parametrize(
    ("part", "line", "advice"),
    [
        ("forward", "# sorts", "CompiledLoops"),
        ("data_grad", "# decides", "numpy.where"),
        ("other_grad", "# looks", "numpy.where"),
        ("fourth_grad", "", "in capitals"),
    ],
)
def test_the_line_that_stopped_the_tracing_is_told_with_a_cure(part, line, advice):
    form = FormStopped().scalar_form(part, [(40, 50)] * 4, [SINGLE] * 4)
    assert isinstance(form, NoForm)
    assert form.line.endswith(line)
    assert form.line.startswith("test_scalar_form.py:") == bool(line)
    assert advice in form.cure
    assert form.cure in form.explained()
    assert str(form) in form.explained()
