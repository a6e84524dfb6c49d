"""Variables, and the attributes that they are given."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from operad import sym
from operad.errors import ArgumentError


def attributes(symbol):
    """Those of the node behind a symbol."""
    node = symbol.entries[0].node
    return symbol.attr_dict().get(node.name, {})


def test_what_is_known_beforehand_is_kept_as_attributes():
    init = SimpleNamespace(dumps=lambda: '["zero", {}]')
    found = attributes(sym.var("x", shape=(2, 0), lr_mult=0.5, wd_mult=0, dtype="float32", init=init))
    assert found["__shape__"] == "(2, 0)"
    assert (found["__lr_mult__"], found["__wd_mult__"]) == ("0.5", "0")
    assert (found["__dtype__"], found["__init__"]) == ("0", '["zero", {}]')


def test_extra_attributes_are_underlined_and_become_text():
    assert attributes(sym.var("x", __my_attr__=3))["__my_attr__"] == "3"
    with pytest.raises(ArgumentError, match="unknown argument 'my_attr'"):
        sym.var("x", my_attr=3)


def test_a_name_is_a_string():
    with pytest.raises(ArgumentError, match="the name is 3, expected a string"):
        sym.var(3)


def test_a_variable_is_its_only_argument_and_output():
    x = sym.var("x")
    assert (x.list_arguments(), x.list_outputs()) == (["x"], ["x"])
