"""Deprecation in every form of declaration, and as `operad describe` shows it."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.cli.describe import description
from operad_sdk import UNARY, Deprecated, composed, define, from_mapper, mapper, operator, param, unary

GONE = Deprecated("9.0", use="dep_other")
OLD = {"dep_old": "9.0"}


@mapper
def dep_mapped(x):
    return x * 2


@unary("dep_unary", deprecated=GONE, old_names=OLD)
def dep_unary(x):
    return x + 1


@operator("dep_plain")
class Plain:
    """A class that extends nothing."""

    deprecated = GONE
    old_names = OLD
    units = param(int, 1, doc="How many.", old_names={"count": "9.0"})
    spec = "data:(...) -> output:(...)"

    def forward(data):
        return data + 1


DECLARED = {
    "unary": dep_unary,
    "class": Plain,
    "define": define(
        "dep_defined",
        UNARY,
        np.square,
        summary="x^2.",
        example=("[1]", "[1.]"),
        deprecated=GONE,
        old_names=OLD,
    ),
    "mapper": from_mapper(dep_mapped, deprecated=GONE, old_names=OLD),
    "composed": composed("dep_composed", deprecated=GONE, old_names=OLD)(lambda data: data + 1),
}


@pytest.mark.parametrize("form", DECLARED)
def test_each_form_of_declaration_can_say_it(form) -> None:
    assert DECLARED[form].deprecated == GONE
    assert DECLARED[form].old_names == OLD


def test_it_is_described() -> None:
    registry.register(Plain, "dep_plain")
    registry.register(Plain, "dep_old")
    try:
        found = description("dep_old", {})
        with pytest.warns(DeprecationWarning, match="use 'dep_other'"):
            od.nd.dep_plain(od.nd.array([1.0]))
    finally:
        registry.unregister("dep_plain")
        registry.unregister("dep_old")
    assert found.deprecated.endswith("ends with operator_sdk 9.0; use 'dep_other'")
    assert (found.aliases, found.old_names) == ([], OLD)
    assert found.parameters[0].doc == "How many. Its old name 'count' ends with version 9.0."
