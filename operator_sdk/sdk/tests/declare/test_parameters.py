from __future__ import annotations

import inspect
from typing import Literal

import pytest

from operad.operator import param
from operad_sdk.declare.parameters import params_of
from operad_sdk.errors import DeclarationError


def declared(function):
    return params_of(function, "test", inspect.signature(function).parameters)


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
