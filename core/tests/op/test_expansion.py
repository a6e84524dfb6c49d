"""Expansion of one operator into others, and what the front ends say to what they cannot compute with."""

from __future__ import annotations

import pytest

import operad as od
from core.tests.op.expanding import One, Pair, X
from operad.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("operators")


@pytest.mark.parametrize("op", [Pair, One])
def test_parts_read_inputs_of_the_whole_and_parts_before_them(op) -> None:
    expansion = op().expansion()
    sizes = [len(op().list_inputs()), *(len(part.op.list_outputs()) for part in expansion.parts)]
    for number, part in enumerate(expansion.parts):
        assert len(part.inputs) == len(part.op.list_inputs())
        assert all(-1 <= source < number and index < sizes[source + 1] for source, index in part.inputs)
    assert len(expansion.outputs) == len(op().list_outputs())


def test_an_operator_is_made_of_no_others_unless_it_says_so() -> None:
    assert od.registry.get("tanh")().expansion() is None


def test_what_computes_elsewhere_is_said_to_be_no_argument() -> None:
    with pytest.raises(ArgumentError, match=r"make an NDArray of it with nd.array; .*operad_sdk.composed"):
        od.nd.tanh(X)
    with pytest.raises(ArgumentError, match=r"symbols are composed by od.sym.tanh"):
        od.nd.tanh(od.sym.var("x"))
    with pytest.raises(ArgumentError, match=r"arrays are computed on by od.nd.tanh"):
        od.sym.tanh(od.nd.array(X))
