from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from operad.errors import DTypeError, ShapeError
from operad_sdk.errors import SpecError
from operad_sdk.shapes import bind, parse

F4, F8, I4 = np.dtype("f4"), np.dtype("f8"), np.dtype("i4")

LINES = {
    "affine": (
        "data:(N, D), weight:(h, D), bias:(h) if not no_bias -> output:(N, h)",
        {"h": 4, "no_bias": False},
    ),
    "convolution": (
        "data:(N, c*g, *S), weight:(f, c, *k) -> output:(N, f, *((S + 2*p - d*(k - 1) - 1)//s + 1))",
        {"g": 2, "f": 6, "k": (3, 2), "p": (1, 1), "d": (1, 2), "s": (2, 1)},
    ),
    "flatten": ("data:(N, *S) -> output:(N, prod(S))", {}),
    "broadcast rows": ("data:(*B, D), row:(D) -> output:(*B, D)", {}),
    "sum of any": ("arg[n]:(...) -> output:(...)", {"n": 3}),
    "two rests": ("lhs:(*A, K), rhs:(K, *B) -> output:(*A, *B)", {}),
    "concatenate": ("lhs:(N, A), rhs:(N, B) -> output:(N, A + B)", {}),
    "double": ("data:(N + N, 3) -> output:(N)", {}),
    "state": ("data:(N, C, *S); aux mean:(C) -> output:(N, C, *S), hidden inverse:(C)", {}),
}
SIZES = st.integers(0, 5).map(lambda size: size + 4)


def bound(name):
    line, parameters = LINES[name]
    return bind(parse(line), name, parameters)


def types(line, given_types, **parameters):
    return bind(parse(line), "op", parameters).infer_type(given_types)


@st.composite
def cases(draw):
    """A line, and shapes of its arguments that fit."""
    name = draw(st.sampled_from(sorted(LINES)))
    made = bound(name)
    length = draw(st.integers(0, 3))
    choose = lambda _, many: tuple(draw(SIZES) for _ in range(length)) if many else draw(SIZES)  # noqa: E731
    return made, made.example(choose)


@given(cases())
def test_example_shapes_fit_and_determine_the_outputs(case):
    made, shapes = case
    arguments, outputs, auxiliary = made.infer_shape(shapes)
    assert arguments == shapes
    assert all(shape is not None and None not in shape for shape in outputs + auxiliary)
    assert made.infer_shape_backward(shapes, outputs) == shapes


@given(cases(), st.data())
def test_partial_inference_never_contradicts_and_is_idempotent(case, data):
    made, shapes = case
    blurred = [
        None if data.draw(st.booleans()) else tuple(None if data.draw(st.booleans()) else n for n in shape)
        for shape in shapes
    ]
    _, truth, _ = made.infer_shape(shapes)
    arguments, outputs, _ = made.infer_shape(blurred)
    for found, true in zip(arguments + outputs, shapes + truth, strict=True):
        assert found is None or len(found) == len(true)
        assert found is None or all(n is None or n == m for n, m in zip(found, true, strict=True))
    assert made.infer_shape(arguments)[:2] == (arguments, outputs)
    backward = made.infer_shape_backward(blurred, truth)
    for found, true in zip(backward, shapes, strict=True):
        assert found is None or all(n is None or n == m for n, m in zip(found, true, strict=True))


@given(cases(), st.data())
def test_wrong_size_of_a_determined_axis_raises_and_names_the_axis(case, data):
    made, shapes = case
    which = data.draw(st.integers(0, len(shapes) - 1))
    assume(shapes[which])
    axis = data.draw(st.integers(0, len(shapes[which]) - 1))
    rest = [None if i == which else shape for i, shape in enumerate(shapes)]
    determined = made.infer_shape(rest)[0][which]
    assume(determined is not None and determined[axis] is not None)
    wrong = list(shapes[which])
    wrong[axis] += 1
    with pytest.raises(ShapeError, match=r"axis \d is \d+"):
        made.infer_shape([tuple(wrong) if i == which else shape for i, shape in enumerate(shapes)])


def test_absent_arguments_are_left_out():
    line = LINES["affine"][0]
    made = bind(parse(line), "op", {"h": 4, "no_bias": True})
    assert [tensor.name for tensor in made.arguments] == ["data", "weight"]


def test_hidden_outputs_are_counted_apart():
    assert bound("state").num_visible_outputs == 1


def test_example_takes_sizes_for_free_names_only():
    asked = []
    shapes = bound("convolution").example(
        lambda name, many: asked.append((name, many)) or ((5, 6) if many else 3)
    )
    assert asked == [("N", False), ("S", False), ("S", False), ("c", False)]
    assert shapes == [(3, 6, 3, 3), (6, 3, 3, 2)]
    bound("flatten").example(lambda name, many: asked.append((name, many)) or ((5,) if many else 3))
    assert asked[-2:] == [("N", False), ("S", True)]


def test_condition_on_a_size_is_refused():
    with pytest.raises(SpecError, match=r"'bias:\(N\) if D' depends on 'D', which is no parameter"):
        bind(parse("data:(N, D), bias:(N) if D -> output:(N)"), "op", {})
    with pytest.raises(SpecError, match="depends on 'N'"):
        bind(parse("data:(N) -> output:(1 if N == 3 else 2)"), "op", {})


def test_common_type_is_completed_and_checked():
    line = "data:(N), weight:(N); aux mean:(N) -> output:(N)"
    assert types(line, [None, F4]) == ([F4, F4], [F4], [F4])
    assert types(line, [None, None]) == ([None, None], [None], [None])
    with pytest.raises(DTypeError, match="one element type, got data: float32, weight: float64"):
        types(line, [F4, F8])


def test_type_words():
    assert types("index:any(N), data:(N) -> output:(N)", [I4, F4]) == ([I4, F4], [F4], [])
    assert types("a:T(N), b:U(N), c:T(N) -> x:U(N), y:T(N)", [None, I4, F8]) == ([F8, I4, F8], [I4, F8], [])
    assert types("data:(N) -> output:int64(N)", [F4])[1] == [np.dtype("int64")]
    assert types("data:(N) -> output:dtype(N)", [F4], dtype="float16")[1] == [np.dtype("float16")]
    assert types("data:(N) -> output:dtype(N)", [F4], dtype=None)[1] == [F4]
    with pytest.raises(DTypeError, match="op: data is float32, expected int32"):
        types("data:int32(N) -> output:(N)", [F4])
    with pytest.raises(SpecError, match="'whole' is neither an element type nor a parameter"):
        types("data:whole(N) -> output:(N)", [F4])


def test_groups_that_take_turns_alternate():
    line = "weight_[n]:(*S[i]) & grad_[n]:(*S[i]) & state mom_[n]:(*S[i]), rate:(n) -> output[n]:(*S[i])"
    made = bind(parse(line), "op", {"n": 2})
    names = ["weight_0", "grad_0", "mom_0", "weight_1", "grad_1", "mom_1", "rate"]
    assert [tensor.name for tensor in made.inputs] == names
    assert made.groups["grad_"] == ("grad_0", "grad_1")
    arguments, outputs, states = made.infer_shape([(3,), None, None, (2, 4), None])
    assert (arguments, outputs) == ([(3,), (3,), (2, 4), (2, 4), (2,)], [(3,), (2, 4)])
    assert states == [(3,), (2, 4)]


ANY_SHAPES = st.lists(st.lists(st.none() | st.integers(-1, 2), max_size=2).map(tuple), min_size=2, max_size=2)


@given(ANY_SHAPES, st.booleans())
def test_shapes_that_are_alike_are_inferred_as_by_a_line_that_names_their_axes(shapes, is_alike):
    def found(axes):
        made = bind(parse(f"lhs:({axes}), rhs:({axes}) -> output:({axes}), hidden other:({axes})"), "op", {})
        try:
            return made.infer_shape([shapes[0], shapes[0] if is_alike else shapes[1]])
        except ShapeError:
            return ShapeError

    assert found("...") == found("*S")
