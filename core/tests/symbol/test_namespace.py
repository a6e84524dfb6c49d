"""What `od.sym` has beside operators."""

from __future__ import annotations

import pytest

from operad import sym
from operad.symbol import namespace

pytestmark = pytest.mark.usefixtures("operators")


def test_a_variable_is_made_under_both_of_its_names():
    assert sym.Variable is sym.var


def test_every_installed_operator_is_listed_beside_its_own_names():
    assert {"tanh", "Dense", "Symbol", "Group", "var"} <= set(dir(namespace))


def test_functions_of_operators_give_symbols_of_one_class():
    assert type(sym.tanh(sym.var("x"))) is sym.Symbol


def test_a_name_that_nothing_provides_is_an_attribute_error():
    assert not hasattr(sym, "no_such_operator")
