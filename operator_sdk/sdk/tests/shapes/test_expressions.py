from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.errors import ShapeError
from operad_sdk.errors import SpecError
from operad_sdk.shapes import parse
from operad_sdk.shapes.expressions import compile_expression


def expression(text):
    return compile_expression(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(W + 2*p - k)//s + 1", 4),
        ("-W + 10", 3),
        ("W % s", 1),
        ("max(W, 9) + min(p, k)", 10),
        ("ceil_div(W, s)", 4),
        ("prod(S) + sum(S) + len(S) + S[1]", 24 + 9 + 3 + 3),
        ("k if flag else p", 3),
        ("k if mode == 'max' and not flag or W in (7, 8) else p", 3),
        ("k if nothing is None else p", 3),
        ("p if nothing is not None or W > 7 or W <= 6 or W < 7 or W >= 8 or W != 7 else k", 3),
    ],
)
def test_value(text, value):
    env = {"W": 7, "p": 1, "k": 3, "s": 2, "S": (2, 3, 4), "flag": True, "mode": "avg", "nothing": None}
    assert expression(text).value(env, None) == value


def test_starred_names_are_taken_by_index():
    parsed = expression("(S + 2*p - kernel)//stride + 1")
    env = {"S": (7, 9), "p": 1, "kernel": (3, 2), "stride": (2, 3)}
    assert [parsed.value(env, index) for index in (0, 1)] == [4, 4]
    assert expression("S + prod(S)").value({"S": (2, 3)}, 1) == 9
    assert expression("S + prod(S)").indexed == {"S"}


@pytest.mark.parametrize("text", ["x + 1", "1 - x", "2 * x", "max(x, 1)", "prod(S)", "S[0] + 1"])
def test_unknown_name_makes_the_value_unknown(text):
    assert expression(text).value({"S": (None, 2)}, None) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("x", (1, 0)),
        ("3*x - a", (3, -4)),
        ("a*x*2 + x", (9, 0)),
        ("x + x", (2, 0)),
        ("(4*x + 6)//a", (1, 1)),
        ("x//1", (1, 0)),
        ("a if flag else x", (0, 4)),
        ("x if flag else a", (1, 0)),
        ("x//2", None),
        ("a//x", None),
        ("x*x", None),
        ("x % 3", None),
        ("max(x, 3)", None),
    ],
)
def test_affine_form(text, form):
    assert expression(text).affine({"a": 4, "flag": True}, None, "x") == form


@st.composite
def affine_texts(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        return draw(st.one_of(st.just("x"), st.just("a"), st.integers(0, 5).map(str)))
    op = draw(st.sampled_from(["+", "-", "*", "//", "%"]))
    return f"({draw(affine_texts(depth - 1))} {op} {draw(affine_texts(depth - 1))})"


@given(affine_texts(), st.integers(0, 40), st.integers(1, 5))
def test_affine_form_is_exact_wherever_there_is_one(text, x, a):
    parsed = expression(text)
    try:
        form = parsed.affine({"a": a}, None, "x")
        value = parsed.value({"a": a, "x": x}, None)
    except ShapeError:
        return
    if form is not None:
        assert form[0] * x + form[1] == value


def test_division_by_zero_is_an_error_of_shapes():
    for text in ("W//s", "W % s", "ceil_div(W, s)"):
        with pytest.raises(ShapeError, match="divided by a size or parameter that is 0"):
            expression(text).value({"W": 3, "s": 0}, None)


@pytest.mark.parametrize(
    "text", ["x**2", "x/2", "f(x, y=1)", "x.y", "lambda: x", "max(x, key=y)", "1.5", "x if 1 < x < 2 else y"]
)
def test_other_constructs_are_refused(text):
    with pytest.raises(SpecError, match="cannot use"):
        expression(text)


def test_more_terms_than_python_can_nest_are_an_error_of_the_line():
    with pytest.raises(SpecError, match="too many terms"):
        parse(f"data:(N) -> output:({' + '.join(['N'] * 50_000)})")
