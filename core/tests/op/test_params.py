"""Parameters: every type, its string form, its bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.errors import ParamError
from operad.op import OperatorProperty, ParamSet, param


def made(type_, *args, **options):
    return ParamSet({"p": param(type_, *args, **options)})["p"]


@pytest.mark.walk
@pytest.mark.parametrize(
    ("type_", "given_", "value"),
    [
        (int, 3, 3),
        (int, "3", 3),
        (int, np.int64(3), 3),
        (int, True, 1),
        (float, 3, 3.0),
        (float, "1e-3", 1e-3),
        (float, "inf", math.inf),
        (float, np.float32(0.5), 0.5),
        (bool, "True", True),
        (bool, "False", False),
        (bool, 1, True),
        (bool, "0", False),
        (bool, np.bool_(True), True),
        (str, "valid", "valid"),
        ("shape", "(3, 3)", (3, 3)),
        ("shape", "(3L, 3L)", (3, 3)),
        ("shape", "[3,3]", (3, 3)),
        ("shape", "(3,)", (3,)),
        ("shape", "3", (3,)),
        ("shape", 3, (3,)),
        ("shape", [np.int32(3), 4], (3, 4)),
        ("shape", "()", ()),
        ("indices", "(None, 3)", (None, 3)),
        ("indices", (None, -1), (None, -1)),
        ("floats", "(0.5, 1)", (0.5, 1.0)),
        ("floats", 0.5, (0.5,)),
        ("dtype", "float16", "float16"),
        ("dtype", np.float16, "float16"),
        ("dtype", np.dtype(">f8"), "float64"),
    ],
)
def test_values_and_strings_are_read(type_, given_, value):
    parsed = made(type_).parse(given_)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.walk
@pytest.mark.parametrize(
    ("type_", "wrong"),
    [
        (int, 2.5), (int, 3.0), (int, np.float32(3)), ("shape", 2.0), ("shape", (1.0,)),
        ("indices", (1.0, None)),
        (int, "x"), (int, None), (int, "(1,)"), (int, [1]), (int, np.ones(2)),
        (float, "x"), (float, 1j), (bool, "yes"), (bool, 2), (str, 3),
        ("shape", "(2.5,)"), ("shape", "(1"), ("shape", "__import__('os')"), ("shape", "x"), ("shape", None),
        ("shape", "-" * 100_000), ("shape", "(" * 100_000),
        ("floats", ("x",)), ("dtype", "float33"), ("dtype", None), ("dtype", "complex64"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_what_was_expected(type_, wrong):
    declared = made(type_)
    with pytest.raises(ParamError, match="parameter 'p' is ") as caught:
        declared.parse(wrong)
    assert declared.expects() in str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "words"),
    [
        ({"ge": 1}, [1, 5], [0, -1], "int >= 1"),
        ({"gt": 1}, [2], [1], "int > 1"),
        ({"le": 1}, [1], [2], "int <= 1"),
        ({"ge": 0, "lt": 3}, [0, 2], [-1, 3], "int >= 0 and < 3"),
    ],
)
def test_bounds_hold(bounds, inside, outside, words):
    declared = made(int, **bounds)
    assert [declared.parse(value) for value in inside] == inside
    for value in [*outside, *map(str, outside)]:
        with pytest.raises(ParamError, match=words):
            declared.parse(value)


def test_bounds_hold_for_every_element():
    declared = made("shape", ge=1)
    assert declared.parse("(1, 2)") == (1, 2)
    with pytest.raises(ParamError, match="tuple of int >= 1"):
        declared.parse("(1, 0)")


def test_choices_are_closed():
    declared = made(str, "valid", choices=("valid", "full"))
    assert declared.parse("full") == "full"
    with pytest.raises(ParamError, match="'same', expected one of 'valid', 'full'"):
        declared.parse("same")


def test_choices_of_an_element_type_are_closed_whatever_it_is_given_as():
    declared = made("dtype", "float32", choices=("float16", "float32"))
    assert declared.parse(np.float16) == declared.parse(np.dtype(">f2")) == "float16"
    with pytest.raises(ParamError, match="'int32', expected one of 'float16', 'float32'"):
        declared.parse("int32")


@pytest.mark.parametrize("type_", [int, float, bool, "shape", "dtype"])
def test_none_is_a_value_only_where_it_is_the_default(type_):
    assert made(type_, None).parse(None) is made(type_, None).parse("None") is None
    with pytest.raises(ParamError):
        made(type_).parse(None)


VALUES = {
    int: st.integers(-(2**62), 2**62),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    str: st.text(),
    "shape": st.lists(st.integers(0, 2**31), max_size=4).map(tuple),
    "indices": st.lists(st.none() | st.integers(-5, 5), max_size=4).map(tuple),
    "floats": st.lists(st.floats(allow_nan=False), max_size=3).map(tuple),
    "dtype": st.sampled_from(["float16", "int64", "bool"]),
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
@given(data=st.data())
def test_every_value_survives_its_string_form(type_, data):
    declared = made(type_)
    value = declared.parse(data.draw(VALUES[type_]))
    assert declared.parse(declared.format(value)) == value


class Window(OperatorProperty):
    """Has parameters of several kinds."""

    size = param("shape", ge=1)
    pad = param("shape", None)
    scale = param(float, 1.0)
    keep = param(bool, False)

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


class WideWindow(Window):
    """Changes a default and adds a parameter."""

    scale = param(float, 2.0)
    extra = param(int, 0)


class TestSets:
    def test_fill_in_defaults(self):
        window = Window(size=3)
        assert (window.size, window.pad, window.scale, window.keep) == ((3,), None, 1.0, False)
        assert repr(window) == "Window(size=(3,), pad=None, scale=1.0, keep=False)"

    def test_round_trip_through_strings(self):
        window = Window(size="(3, 2)", keep="True", scale=0.1)
        again = Window(**window.get_params())
        assert again.get_params() == window.get_params()
        assert window.get_params() == {"size": "(3, 2)", "pad": "None", "scale": "0.1", "keep": "True"}

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "Window: parameter 'size' is missing, expected tuple of int >= 1"),
            ({"size": 3, "skale": 1}, "Window: unknown parameter 'skale'; did you mean 'scale'"),
            ({"size": 3, "zzz": 1}, "Window: unknown parameter 'zzz'; it has size, pad, scale, keep"),
            ({"size": 0}, r"Window: parameter 'size' is 0, expected tuple of int >= 1"),
        ],
    )
    def test_name_the_operator_and_the_parameter(self, params, message):
        with pytest.raises(ParamError, match=message):
            Window(**params)

    @pytest.mark.parametrize("type_", ["shape", "indices", "floats"])
    def test_a_list_as_default_is_not_shared_with_whoever_declared_it(self, type_):
        default = [1, 2]
        declared = made(type_, default)
        default[0] = 7
        assert ParamSet({"p": declared}).parse("Op", {}) == {"p": (1, 2)}

    def test_are_inherited_and_may_be_redeclared(self):
        assert list(WideWindow.params) == ["size", "pad", "keep", "scale", "extra"]
        assert (WideWindow(size=1).scale, Window(size=1).scale) == (2.0, 1.0)


def test_a_required_parameter_may_be_none_where_that_is_said():
    params = ParamSet({"end": param(int, optional=True)})
    assert [params.parse("op", {"end": value})["end"] for value in (None, "None", 3)] == [None, None, 3]
    with pytest.raises(ParamError, match="parameter 'end' is missing, expected int or None"):
        params.parse("op", {})
