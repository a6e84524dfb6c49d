"""What is traced into a scalar form, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.differentiate import FORM, Node, Traced, TraceError, constant, form_of, merged
from operad_sdk.mapper import mapper

SHAPE = (6, 7)
RNG = np.random.default_rng(3)


def place(values):
    return Traced(Node(FORM, np.asarray(values), is_input=True))


def traced(function, *arrays):
    """The form of a function of arrays, and its space."""
    places = [place(array) for array in arrays]
    inputs = [(f"x{i}", Traced(one.node)) for i, one in enumerate(places)]
    with np.errstate(all="ignore"):
        results = function(*places)
    results = results if isinstance(results, tuple) else (results,)
    return form_of("f", inputs, [(f"y{i}", result) for i, result in enumerate(results)])


def expect_same(function, *arrays, rtol=0.0):
    """The form computes what the function does, on other values of other lengths too."""
    form, _ = traced(function, *arrays)
    with np.errstate(all="ignore"):
        expected = function(*[array.copy() for array in arrays])
    expected = expected if isinstance(expected, tuple) else (expected,)
    shapes = {f"y{i}": array.shape for i, array in enumerate(expected)}
    space = form.space(shapes | {f"x{i}": array.shape for i, array in enumerate(arrays)})
    found = form.evaluate(arrays, space)
    for one, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, want, rtol=rtol, atol=0.0)
        assert one.dtype == want.dtype
    return form


def numbers(*shape, dtype=np.float32):
    return RNG.normal(size=shape or SHAPE).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_logarithm_of_a_sum_of_powers_is_that_of_numpy(dtype):
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3e38, -3e38, 88, -104, 1e-40], dtype)
    x, y = (array.copy() for array in np.meshgrid(special, special))
    expect_same(np.logaddexp, x, y, rtol=4 * np.finfo(dtype).eps)
    # Beside 0 the largest part of it is cancelled.
    arrays = numbers(40, 50, dtype=dtype), numbers(50, dtype=dtype)
    expect_same(lambda x, y: np.logaddexp(x, y) + 8, *arrays, rtol=1e-6)


def in_place(x, y):
    out = np.empty_like(x)
    np.multiply(x, y, out=out)
    out += 1
    out[...] = np.where(x > 0, out, 2)
    return out


def masked(x, y):
    out = np.zeros_like(x)
    np.divide(x, y, out=out, where=np.abs(y) > 0.5)
    np.copyto(out, 3.0, where=x > 1)
    return out


def flat(x, y):
    out = np.empty_like(x)
    np.subtract(x.reshape(-1), y.ravel(), out=out.reshape(-1))
    return out


FUNCTIONS = {
    "arithmetic": lambda x, y: (x * y - 3) / (y + 0.1) ** 2,
    "in place": in_place,
    "masked": masked,
    "flattened": flat,
    "comparison as a number": lambda x, y: x * (x > y) + (~(x >= 0) | np.isnan(y)),
    "booleans": lambda x, y: (x > 0) & (y < 0) ^ (x < y),
    "where": lambda x, y: np.where(np.logical_not(x), y, np.fmax(x, y)),
    "clip": lambda x, y: np.clip(x, -0.5, 0.5) + y.clip(0, None),
    "cast": lambda x, y: x.astype("float64") * np.rint(y).astype("int32"),
    "computed in another type": lambda x, y: np.multiply(x, y, dtype="float64"),
    "a typed number": lambda x, y: x * np.float64(0.1) + y,
    "several results": lambda x, y: (x + y, np.exp(x + y)),
    "a result that is an argument": lambda x, y: (y, x),
    "a constant": lambda x, y: (np.zeros_like(x), np.full_like(y, 2.5)),
    "transposed twice": lambda x, y: (x.T * y.T).T,
    "nan_to_num": lambda x, y: np.nan_to_num(x / (y * 0), posinf=2.0),
    "softmax": lambda x, y: np.exp(x - x.max(-1, keepdims=True)) / np.sum(np.exp(y), axis=1)[:, None],
    "a sum for each row": lambda x, y: (x * y).sum(-1),
    "a sum for each column": lambda x, y: (x * y).sum(0),
    "extrema over everything": lambda x, y: x - np.max(y) + y.min((0, 1)),
    "a sum of what was reshaped": lambda x, y: (x + y.reshape(1, -1).sum(1)).T.sum(-1),
    "initial values": lambda x, y: (
        np.sum(x, -1, initial=2) + np.max(y, -1, initial=5) + np.min(y, 1, initial=0)
    )[:, None],
    "a reduction of a ufunc": lambda x, y: np.maximum.reduce(x, 1, initial=1, keepdims=True) + y,
    "a comparison in another type": lambda x, y: np.floor_divide(x > 0, y > 0, dtype="float32"),
    "integers in a wider type": lambda x, y: np.multiply(
        (x * 100).astype("int8"), np.int8(100), dtype="int64"
    ),
    "an extremum for each row": lambda x, y: (
        np.minimum.reduce(x, axis=1, keepdims=True) + np.max(y, 1)[:, None]
    ),
}


@pytest.mark.walk
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_a_form_computes_what_the_function_does(function, dtype):
    expect_same(function, numbers(dtype=dtype), numbers(dtype=dtype))


@pytest.mark.parametrize(
    ("function", "shapes", "axes"),
    [
        (lambda x, b: x + b, [(6, 7), (7,)], None),
        (lambda x, b: x + b, [(6, 7), (6, 1)], None),
        (lambda x, b: x * b.reshape(1, -1, 1), [(6, 7, 8), (7,)], (1,)),
        (lambda x, b: x * b[:, None, None], [(6, 7, 8), (6,)], (0,)),
        (lambda x, b: x - b.T, [(6, 7), (7, 6)], (1, 0)),
        (lambda x, b: x - np.broadcast_to(b, (6, 7)), [(6, 7), (7,)], None),
        (lambda x, b: np.moveaxis(x, 0, -1) * b, [(6, 7, 8), (6,)], None),
    ],
)
def test_how_an_argument_lies_in_the_space_is_its_index_map(function, shapes, axes):
    form = expect_same(function, *[numbers(*shape) for shape in shapes])
    assert form.instructions[1].axes == axes
    assert len(form.instructions) == 3


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x: x.sum((0, 2, 3)), [(3, 4, 5, 6)]),
        (lambda x: x.mean((0, 2), keepdims=True) - x, [(3, 4, 5)]),
        (lambda x: np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]).sum(0), [(3, 4, 5, 6)]),
        (lambda x: np.moveaxis(x, 1, -1).sum((0, 1)), [(4, 4, 4)]),
        (lambda x, b: (x * b[:, None]).sum((0, 2)), [(3, 4, 5), (4,)]),
        (lambda x: x.sum(1), [(4, 4)]),
        (lambda x: x.max(0), [(4, 4)]),
        (lambda x, b: (x * b).sum(-1, keepdims=True), [(6, 1), (1, 7)]),
        (lambda x: x.reshape(len(x), -1).sum(1), [(3, 4, 5)]),
        (lambda x: x.sum().reshape(1), [(3, 4)]),
        (lambda x: x.sum(0, keepdims=True), [(1, 4)]),
        (lambda x, b: (x.sum(1, keepdims=True) * np.ones_like(x) * b).sum(1), [(3, 4), (4,)]),
    ],
)
def test_reductions_go_over_any_axes(function, shapes):
    expect_same(function, *[numbers(*shape) for shape in shapes], rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "shape", "count"),
    [
        (lambda x: x.sum((2, 3)).sum(0), (3, 4, 5, 6), 1),
        (lambda x: x.sum(-1, keepdims=True).sum((0, 1)), (3, 4, 5), 1),
        (lambda x: x.max(2).max(0), (3, 4, 5), 1),
        (lambda x: x.max(2).sum(0), (3, 4, 5), 2),
        (lambda x: np.broadcast_to(x.sum(1, keepdims=True), (4, 4)).sum(1), (4, 4), 2),
    ],
)
def test_a_reduction_of_a_like_one_is_one_over_all_axes(function, shape, count):
    form = expect_same(function, numbers(*shape), rtol=1e-5)
    assert sum(step.op in ("sum", "max") for step in form.instructions) == count


def test_an_input_is_read_as_it_lies_where_a_result_has_several_places():
    form, _ = traced(lambda x: x.sum(1), numbers(4, 4))
    assert (form.instructions[0].axes, form.results[0].axes) == (None, (0,))


def test_the_space_is_known_from_what_is_read():
    with pytest.raises(TraceError, match="no result depends on"):
        traced(lambda x, y: np.where(x > 0, 1.0, 1.0).sum(1, keepdims=True) + y, numbers(), numbers(6, 1))


def test_axes_that_no_array_has_together_are_said_to_be_so():
    """As in a recurrence over time, of which each step has a state of its own length."""
    with pytest.raises(TraceError, match="no array that is read or computed has the axes of y0"):
        traced(lambda x, w: np.exp(x[:, :, None] * w).sum(-1), numbers(6, 7), numbers(7, 8))


def test_a_mapper_is_what_it_computes():
    @mapper
    def leaky(x, slope):
        return x if x > 0 else slope * x

    form = expect_same(lambda x, y: leaky.map(x, 0.25) * y, numbers(), numbers(), rtol=1e-7)
    assert {step.op for step in form.instructions[2:]} == {"constant", "greater", "multiply", "select"}


def test_forms_in_float32_and_in_float64_are_equal():
    def function(x):
        return np.where(x > 0.1, np.tanh(x) * 0.3, x.sum(-1, keepdims=True))

    assert traced(function, numbers())[0] == traced(function, numbers(dtype=np.float64))[0]


@pytest.mark.walk
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x if x.max() > 0 else -x, "asked whether it is true"),
        (lambda x: x * float(x[0, 0]), "made a number of"),
        (lambda x: x + np.asarray(x), "made a plain array of"),
        (lambda x: x * (1 if np.any(x > 0) else 2), "asked whether it is true"),
        (lambda x: np.sin(x, where=x > 0, order="C"), "sin with where=, order="),
        (lambda x: x + np.arange(1, 8, dtype="f4"), "reads an array that is no argument"),
        (lambda x: np.round(x, 2), "rounds to decimals"),
        (lambda x: x.astype("int64")[np.arange(6), x.sum(1).astype("int64") * 0], "no floating ones"),
        (lambda x: x + np.zeros(7, "f4"), "reads an array that is no argument"),
        (lambda x: x[::-1] * 2, "takes parts of an array"),
        (lambda x: x[x > 0], "how many elements"),
        (lambda x: np.concatenate([x[:3], x[3:]]), "writes parts of an array"),
        (lambda x: x.reshape(7, 6) + 1, None),
        (lambda x: x + x.reshape(7, 6).T, "elements move|in two orders|another shape"),
        (lambda x: np.reciprocal(x.astype("int32")), "of integers"),
        (lambda x: x.astype("int32") > 2**40, "not a number of forms in int"),
        (lambda x: x.cumsum(1), "cumsum is not element-wise"),
        (lambda x: x @ x.T, "matmul is not element-wise"),
        (lambda x: np.spacing(x), "spacing"),
        (lambda x: np.argsort(x, 1) * x, "argsort is not element-wise"),
        (lambda x: np.sort(x, 1), "sort"),
        (lambda x: np.stack([x, x]).sum(0), "."),
    ],
)
def test_whatever_else_a_function_does_is_no_form_and_says_why(function, reason):
    if reason is None:
        function = lambda x, inner=function: inner(x).reshape(6, 7) + x  # noqa: E731 - refused by what follows
        reason = "elements move|in two orders|another shape"
    with pytest.raises(TraceError, match=reason):
        traced(function, numbers())


def put(x, labels):
    out = np.exp(x)
    out[np.arange(len(labels)), labels] -= 1
    return out


@pytest.mark.parametrize(
    "function",
    [
        lambda x, labels: x[np.arange(len(labels)), labels] * 2,
        lambda x, labels: x.sum(1) - np.take_along_axis(x, labels[:, None], 1)[:, 0],
        lambda x, labels: x - np.take_along_axis(x, labels[:, None], 1),
        lambda x, labels: x.T[labels, np.arange(6)] + 1,
        lambda x, labels: x - (np.arange(x.shape[1]) == labels[:, None]),
        put,
    ],
)
def test_an_element_of_each_row_by_its_label(function):
    labels = np.array([0, 6, -1, 3, -7, 2])
    form = expect_same(function, numbers(), labels, rtol=1e-6)
    assert "position" in {step.op for step in form.instructions}


def test_what_is_picked_to_be_put_back_is_no_sum_of_a_row():
    form = expect_same(put, numbers(), np.array([0, 6, -1, 3, -7, 2]), rtol=1e-6)
    assert "sum" not in {step.op for step in form.instructions}

    def other_label(x, labels, others):
        out = x * 2
        out[np.arange(len(labels)), labels] = x[np.arange(len(labels)), others] + 1
        return out

    arrays = numbers(), np.array([0, 6, -1, 3, -7, 2]), np.array([1, 2, 3, 4, 5, 6])
    assert "sum" in {step.op for step in expect_same(other_label, *arrays).instructions}


def test_labels_that_name_no_element_give_nan():
    form, space = traced(put, numbers(), np.array([0, 1, 2, 3, 4, 5]))
    x = numbers()
    (found,) = form.evaluate([x, np.array([0, 7, -8, 3, 2**40, 5])], space)
    np.testing.assert_array_equal(np.isnan(found).all(1), [False, True, True, False, True, False])
    np.testing.assert_array_equal(np.isnan(found).any(1), [False, True, True, False, True, False])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * np.arange(x.shape[1]),
        lambda x: x + np.arange(x.shape[0], dtype=np.float32)[:, None],
        lambda x: np.where((x > 0.5).any(1, keepdims=True), x, 0),
        lambda x: np.all(x > -1, axis=0) * x,
        lambda x: np.round(x * 3) / 3,
    ],
)
def test_positions_and_truth_along_axes_have_forms(function):
    expect_same(function, numbers(), rtol=1e-7)


def test_a_mask_chooses_where_a_number_is_written():
    def function(x, y):
        out = x * y
        out[x < 0] = 0.5
        out[y > 1] = out.dtype.type(2)
        out[x.max(1) > 1.5] = 0
        return out

    expect_same(function, numbers(), numbers())


def test_an_array_that_nobody_wrote_is_no_constant():
    out = constant(FORM, np.full(SHAPE, np.nan, np.float32))
    with pytest.raises(TraceError, match="no argument"):
        form_of("f", [], [("y", out)])


def test_numbers_that_follow_from_lengths_become_lengths():
    def mean(x):
        return x.mean(-1, keepdims=True) * (x / 3) / (2 * len(x))

    first, second = traced(mean, numbers(6, 7)), traced(mean, numbers(7, 8))
    form = merged(first[0], second[0], (first[1], second[1]))
    x = numbers(4, 9)
    np.testing.assert_allclose(form.evaluate([x], x.shape)[0], mean(x), rtol=1e-6)


@pytest.mark.parametrize(
    "function", [lambda x, n: x * n, lambda x, n: x if n < 1 else -x, lambda x, n: (x * n, x)[:1]]
)
def test_what_differs_between_two_traces_otherwise_is_no_form(function):
    first, second = (
        traced(lambda x, n=n: function(x, n), numbers(*shape)) for n, shape in ((0.5, (6, 7)), (1.25, (7, 8)))
    )
    with pytest.raises(TraceError, match="depends on"):
        merged(first[0], second[0], (first[1], second[1]))
