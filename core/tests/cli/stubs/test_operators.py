"""Stubs of operators, as functions of arrays and of symbols."""

from __future__ import annotations

import ast

import pytest

from operad.cli.calls import call_of
from operad.cli.stubs.operators import array_stub, symbol_stub, type_text
from operad.op import OperatorProperty, param


class Late(OperatorProperty):
    """An operator whose declarations are in an inconvenient order."""

    first = param(int, 1)
    must = param(float)
    ctx = param(str, "")
    choice = param(int, None, choices=(1, 2))
    shape = param("shape", ())

    def list_arguments(self):
        return ["maybe", "data"] if self.first > 1 else ["data"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[-1]], []


def test_stubs_are_python_whatever_the_order_of_declarations():
    call = call_of(Late)
    text = array_stub("Late", call, 'It says """quoted""" and \\ more.')
    long, short = ast.parse(text).body
    assert ast.get_docstring(long) == 'It says """quoted""" and \\ more.'
    assert [arg.arg for arg in long.args.args] == ["maybe", "data", "first"]
    assert [arg.arg for arg in short.args.args] == ["data", "first"]
    assert [arg.arg for arg in long.args.kwonlyargs] == ["must", "ctx", "choice", "shape", "out", "name"]
    assert "ctx: Context | None = None" in text
    assert "ctx: str = ''" in symbol_stub("Late", call, "")


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (param(int), "int"),
        (param(float, None), "float | None"),
        (param("shape", ()), "int | Sequence[int]"),
        (param("indices"), "int | Sequence[int | None]"),
        (param(str, "a", choices=("a", "b")), "Literal['a', 'b']"),
        (param("dtype", None), "DTypeLike | None"),
    ],
)
def test_parameters_have_python_types(declared, text):
    assert type_text(declared) == text
