from __future__ import annotations

import pytest

from operad_sdk.errors import SpecError
from operad_sdk.shapes import parse


def test_line_gives_names_groups_and_conditions():
    spec = parse(
        "data:(N, C, *S), weight : float32 (max(N, C), C,) if not no_weight; aux mean:(C)"
        " -> output:(), hidden copy:T(...)"
    )
    assert [item.name for item in spec.arguments] == ["data", "weight"]
    assert [item.name for item in spec.auxiliary] == ["mean"]
    assert [(item.name, item.is_hidden, item.type) for item in spec.outputs] == [
        ("output", False, ""),
        ("copy", True, "T"),
    ]
    assert [axis.text for axis in spec.arguments[1].axes] == ["max(N, C)", "C"]
    assert spec.arguments[1].condition is not None
    assert [axis.is_starred for axis in spec.arguments[0].axes] == [False, False, True]
    assert spec.outputs[0].axes == ()
    assert spec.names >= {"N", "C", "S", "...", "no_weight"}
    assert spec.sequences == {"S", "..."}


def test_same_line_is_read_once():
    line = "data:(N) -> output:(N)"
    assert parse(line) is parse(str(line))


def test_numbered_arguments_have_a_count():
    (item,) = parse("arg[num_args + 1]:(N) -> output:(N)").arguments
    assert item.repeat.value({"num_args": 2}, None) == 3


def test_line_without_arguments():
    assert parse("-> output:(*shape)").arguments == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("data:(N), output:(N)", "there is no '->'"),
        ("data:(N) ->", "there is no output"),
        ("data(N) -> o:(N)", r"expected name:\(axes\) \(at 'data\(N\)'\)"),
        ("2data:(N) -> o:(N)", r"expected name:\(axes\)"),
        ("data:(N -> o:(N)", "is not closed"),
        ("data:a b(N) -> o:(N)", "expected an element type"),
        ("data:(N) unless x -> o:(N)", "expected ',' or 'if'"),
        ("data:(N); mean:(N) -> o:(N)", "expected 'aux'"),
        ("data:(N), data:(N) -> o:(N)", "'data' is there twice"),
        ("hidden data:(N) -> o:(N)", "only outputs can be hidden"),
        ("data:(N) -> hidden a:(N), b:(N)", "hidden outputs come last"),
        ("a[n]:(N) & b[m]:(N) -> o:(N)", r"items that take turns have one \[count\]"),
        ("a:(N) & b:(N) -> o:(N)", r"items that take turns have one \[count\]"),
        ("a[n]:(N) & b[n]:(N) if c -> o:(N)", "and no condition"),
        ("data:(N,,M) -> o:(N)", "cannot read ''"),
        ("data:(N M) -> o:(N)", "cannot read 'N M'"),
        ("data:(N**2) -> o:(N)", r"cannot use 'N \*\* 2'"),
    ],
)
def test_line_that_cannot_be_read_is_refused_with_the_place(line, message):
    with pytest.raises(SpecError, match=message):
        parse(line)
