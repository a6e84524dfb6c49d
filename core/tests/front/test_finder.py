"""Import statements for modules that plugins add."""

from __future__ import annotations

import json
import sys
from importlib import import_module

import pytest

import operad
from operad import registry
from operad.front import spec_of


@pytest.fixture
def acme(site):
    """A namespace with a module inside, and a part of `od.nd`."""
    site.install(
        "acme-namespace",
        namespaces={"acme": "finder_acme"},
        attributes={"nd.acme": "finder_acme.arrays", "sym.acme": "finder_acme.symbols"},
        modules={
            "finder_acme.__init__": "value = 7",
            "finder_acme.arrays": "value = 8",
            "finder_acme.symbols": "value = 9",
            "finder_acme.inner": "value = 10",
        },
    )
    registry.refresh()
    yield site
    for name in [name for name in sys.modules if name.startswith("operad.") and ".acme" in name]:
        del sys.modules[name]
    vars(operad).pop("acme", None)


def test_a_namespace_is_imported_as_the_plugins_own_module(acme):
    assert import_module("operad.acme") is import_module("finder_acme")
    assert import_module("operad.acme").value == 7


def test_a_module_inside_a_namespace_is_the_plugins_and_no_second_one(acme):
    import_module("operad.acme")
    assert import_module("operad.acme.inner") is import_module("finder_acme.inner")


@pytest.mark.parametrize(("name", "value"), [("nd", 8), ("ndarray", 8), ("sym", 9), ("symbol", 9)])
def test_parts_of_arrays_and_symbols_are_imported_under_both_spellings(acme, name, value):
    assert import_module(f"operad.{name}.acme").value == value


def test_an_imported_module_keeps_its_own_name_and_specification(acme):
    own = import_module("finder_acme").__spec__
    found = import_module("operad.acme")
    assert (found.__name__, found.__spec__) == ("finder_acme", own)


def test_what_nobody_adds_is_not_found(acme):
    with pytest.raises(ModuleNotFoundError, match=r"operad\.quantum"):
        import_module("operad.quantum")


def test_a_specification_gives_the_module_as_it_is():
    spec = spec_of("operad.text", json)
    assert spec.name == "operad.text"
    assert spec.loader.create_module(spec) is json
