"""Automatic names and prefixes."""

from __future__ import annotations

import threading

import pytest

from operad import name, sym
from operad.errors import GraphError
from operad.symbol import AttrScope, NameManager, Prefix

pytestmark = pytest.mark.usefixtures("operators")


def test_names_count_for_each_operator():
    with NameManager():
        names = [sym.tanh(sym.var("x")).name, sym.square(sym.var("x")).name, sym.tanh(sym.var("x")).name]
    assert names == ["tanh0", "square0", "tanh1"]


def test_a_new_manager_starts_anew_and_the_old_one_goes_on():
    with NameManager():
        first = sym.tanh(sym.var("x")).name
        with NameManager():
            inside = sym.tanh(sym.var("x")).name
        after = sym.tanh(sym.var("x")).name
    assert (first, inside, after) == ("tanh0", "tanh0", "tanh1")


def test_a_prefix_goes_before_every_name_of_an_operator():
    with name.Prefix("net_"):
        automatic = sym.Dense(sym.var("data"), num_hidden=1)
        given = sym.tanh(automatic, name="act")
    assert automatic.list_arguments() == ["data", "net_dense0_weight", "net_dense0_bias"]
    assert given.list_outputs() == ["net_act_output"]


def test_names_and_attributes_are_the_threads_own():
    seen = []

    def other():
        made = sym.tanh(sym.var("x"))
        seen.append((made.name, made.attr("ctx_group")))

    with Prefix("mine_"), AttrScope(ctx_group="mine"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        own = sym.tanh(sym.var("x"))
    assert seen == [("tanh0", None)]
    assert (own.name, own.attr("ctx_group")) == ("mine_tanh0", "mine")


def test_a_scope_may_be_used_again_and_by_several_threads():
    scope = AttrScope(ctx_group="a")
    with AttrScope(__other__="1"), scope:
        first = sym.tanh(sym.var("x"))
    with scope:
        second = sym.tanh(sym.var("x"))
    assert (first.attr("__other__"), second.attr("__other__")) == ("1", None)


def test_attributes_must_be_strings():
    with pytest.raises(GraphError, match="'ctx_group' is 3, expected a string"):
        AttrScope(ctx_group=3)
