"""Methods that plugins add to classes of the core."""

from __future__ import annotations

from importlib import import_module
from typing import final

import pytest

from operad import registry
from operad.dtypes import DEFAULT_DTYPE
from operad.executor import Executor
from operad.graph import MemoryPlan
from operad.ndarray import NDArray
from operad.symbol import Symbol, var


class Pot(registry.Extensible):
    """Stands for a class of the core."""

    own = "its own"


@pytest.fixture
def handle(site):
    attributes = dict.fromkeys(["Pot.lift", "Pot._repr_svg_", "Pot.own"], "acme_pots.m:lift")
    code = "def lift(pot, high=1):\n    return pot, high"
    site.install("acme-pots", attributes=attributes, modules={"acme_pots.__init__": "", "acme_pots.m": code})
    registry.refresh()
    return site


def test_a_plugins_method_is_bound_to_the_object(handle):
    pot = Pot()
    assert pot.lift(high=2) == (pot, 2)
    assert pot._repr_svg_() == (pot, 1)
    assert pot.own == "its own"


def test_methods_are_listed_without_importing_the_plugin(handle):
    assert {"lift", "_repr_svg_", "own"} <= set(dir(Pot()))
    assert not handle.is_imported("acme_pots.m")


def test_the_class_has_a_plugins_method_as_well(handle):
    pot = Pot()
    assert Pot.lift(pot, high=2) == pot.lift(high=2)
    assert Pot.lift is Pot.lift


def test_a_method_goes_with_its_plugin(handle):
    assert Pot().lift(high=2)
    handle.uninstall("acme-pots")
    registry.refresh()
    with pytest.raises(AttributeError, match="Pot has no attribute 'lift', and no plugin adds it"):
        _ = Pot().lift


def test_a_method_of_a_package_that_is_not_installed_says_so(site):
    with pytest.raises(AttributeError, match=r"a plugin adds it: pip install .*visualization"):
        _ = var("x").summary


@final
class Lift:
    """Something to call that is no function."""

    def __call__(self, pot):
        return pot


def test_what_is_called_but_is_no_function_is_bound_to_each_object(handle, monkeypatch):
    monkeypatch.setattr(import_module("acme_pots.m"), "lift", Lift())
    registry.refresh()
    first, second = Pot(), Pot()
    assert first.lift() is first
    assert second.lift() is second


def test_what_the_user_puts_in_the_place_of_a_method_stays(handle, monkeypatch):
    assert Pot().lift() != 7
    monkeypatch.setattr(Pot, "lift", lambda pot: 7)
    registry.refresh()
    assert Pot().lift() == 7


@pytest.mark.parametrize("cls", [NDArray, Symbol, Executor, MemoryPlan])
def test_a_plugin_can_add_methods_to_what_users_hold(site, cls):
    attributes = {f"{cls.__name__}.lift": "acme_pots.m:lift"}
    code = "def lift(pot):\n    return type(pot).__name__"
    site.install("acme-pots", attributes=attributes, modules={"acme_pots.__init__": "", "acme_pots.m": code})
    registry.refresh()
    assert cls.__getattr__(object.__new__(cls), "lift")() == cls.__name__


def test_users_see_of_a_dtype_what_a_plugin_makes_of_it(site):
    assert registry.shown_dtype(DEFAULT_DTYPE) is DEFAULT_DTYPE
    site.install(
        "acme-types",
        attributes={"dtypes.element_type": "acme_types:shown"},
        modules={"acme_types": "def shown(dtype):\n    return dtype.type"},
    )
    registry.refresh()
    assert registry.shown_dtype(DEFAULT_DTYPE) is DEFAULT_DTYPE.type


def test_without_the_plugin_that_should_make_something_of_it_a_dtype_is_itself(site):
    site.install("acme-types", attributes={"dtypes.element_type": "acme_none:shown"})
    registry.refresh()
    assert registry.shown_dtype(DEFAULT_DTYPE) is DEFAULT_DTYPE
