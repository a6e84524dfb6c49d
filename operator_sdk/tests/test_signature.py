from __future__ import annotations

from typing import Literal

import pytest

from operad.operator import param
from operad_sdk.errors import DeclarationError
from operad_sdk.signature import arranged, params_of, read_signature


def declared(function):
    signature = read_signature(function, "test")
    return params_of(function, signature, signature.names)


def test_annotations_and_defaults_declare_parameters():
    def function(
        a: int,
        b: float = 0.5,
        c: bool = True,
        d: Literal["clip", "wrap"] = "clip",
        e: tuple[int, ...] = (1, 2),
        f: int | None = None,
        g=3,
        h=param(int, 1, ge=1),  # noqa: B008 - a declaration, read once
        i: tuple[float, ...] = (),
    ): ...

    made = declared(function)
    assert made["a"].is_required
    assert made["a"].type is int
    assert (made["b"].type, made["b"].default) == (float, 0.5)
    assert made["c"].type is bool
    assert made["d"].choices == ("clip", "wrap")
    assert (made["e"].type, made["e"].default) == ("shape", (1, 2))
    assert made["f"].optional
    assert (made["g"].type, made["g"].default) == (int, 3)
    assert made["h"].bounds == {"ge": 1}
    assert made["i"].type == "floats"


@pytest.mark.parametrize(
    "function", [lambda x: 0, lambda x=None: 0, lambda x={}: 0], ids=["none", "None alone", "dict"]
)
def test_parameter_without_a_usable_type_is_refused(function):
    with pytest.raises(DeclarationError, match=r"test: parameter 'x' has .* expected int"):
        declared(function)


def test_annotation_that_cannot_be_evaluated_is_refused():
    def function(x: Missing): ...  # noqa: F821

    with pytest.raises(DeclarationError, match="'Missing' is not defined"):
        declared(function)


@pytest.mark.parametrize("function", [lambda *args: 0, lambda **kwargs: 0])
def test_unnamed_parameters_are_refused(function):
    with pytest.raises(DeclarationError, match="name every parameter"):
        read_signature(function, "test")


def test_out_stands_behind_what_is_given_by_position() -> None:
    with pytest.raises(DeclarationError, match="takes 'out' before 'alpha'; put it last"):
        read_signature(lambda data, out, alpha=1.0: None, "test")
    assert read_signature(lambda data, alpha=1.0, *, out: None, "test").takes_out


def test_reserved_names_are_known():
    signature = read_signature(lambda op_ctx, x, out: 0, "test")
    assert signature.names == ("op_ctx", "x")
    assert signature.takes_out
    assert signature.takes_context


def test_function_in_the_given_order_is_called_directly():
    def function(a, b, out): ...

    assert arranged(function, read_signature(function, "test"), ["a", "b"]) is function


def test_other_orders_subsets_and_keywords_are_arranged():
    def function(b, *, a, out):
        return (a, b, out)

    call = arranged(function, read_signature(function, "test"), ["x", "a", "b"])
    assert call(1, 2, 3, out=4) == (2, 3, 4)
    renamed = arranged(function, read_signature(function, "test"), ["A", "B"], str.upper)
    assert renamed(2, 3, out=4) == (2, 3, 4)
