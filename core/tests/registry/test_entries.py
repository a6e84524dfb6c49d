from __future__ import annotations

import pytest

import operad as od
from operad import registry
from operad.errors import BrokenPluginError, DuplicateOperatorError, OperatorNotFoundError


@pytest.fixture
def acme(site):
    site.install(
        "acme-extras",
        namespaces={"acme": "extras_acme.part", "wrong": "extras_acme.part:value"},
        kvstores={"dist_acme": "extras_acme.store:Store"},
        commands={"shout": "extras_acme.absent:shout"},
        modules={
            "extras_acme.__init__": "",
            "extras_acme.part": "value = 7",
            "extras_acme.store": "class Store: pass",
        },
    )
    registry.refresh()
    return site


def test_a_namespace_is_a_plugins_module(acme):
    assert registry.namespace("acme").value == 7


def test_a_namespace_is_looked_for_among_the_files_of_the_core_once(acme, monkeypatch):
    monkeypatch.setattr(od, "_LAZY_ADDED", set())
    assert od.acme.value == 7
    monkeypatch.setattr(od, "_PathFinder", None)
    assert od.acme.value == 7


def test_a_namespace_that_is_no_module_is_refused(acme):
    with pytest.raises(BrokenPluginError, match=r"namespace 'wrong' .* expected a module"):
        registry.namespace("wrong")


def test_a_missing_namespace_says_what_to_install(site):
    with pytest.raises(OperatorNotFoundError, match=r"namespace 'optimizer'; pip install .*optimizer"):
        registry.namespace("optimizer")


def test_an_entry_is_what_its_value_names(acme):
    assert registry.entry("operad.kvstores", "dist_acme").__name__ == "Store"


def test_a_missing_entry_lists_what_there_is(acme):
    with pytest.raises(OperatorNotFoundError, match="kvstore 'quantum'; installed: dist_acme"):
        registry.entry("operad.kvstores", "quantum")


def test_a_broken_entry_stays_inside_its_plugin(acme):
    with pytest.raises(BrokenPluginError, match="command 'shout' of acme-extras"):
        registry.entry("operad.commands", "shout")
    assert registry.namespace("acme").value == 7


def test_two_providers_of_one_entry_are_an_error(acme):
    acme.install("other", kvstores={"dist_acme": "other_store:Store"})
    registry.refresh()
    with pytest.raises(DuplicateOperatorError, match="kvstore 'dist_acme' is provided by"):
        registry.entry("operad.kvstores", "dist_acme")


def test_names_of_a_group_are_listed_without_importing(acme, set_environment):
    assert registry.entry_names("operad.namespaces") == ["acme", "wrong"]
    assert registry.entry_names("operad.iterators") == []
    assert not acme.is_imported("extras_acme")
    set_environment(BLOCK="acme-extras")
    assert registry.entry_names("operad.namespaces") == []


def test_a_plugins_record_holds_its_groups(acme):
    (record,) = registry.plugins()
    assert (record.name, record.version, record.state) == ("acme-extras", "1.0", "ok")
    assert record.groups == {
        "operad.namespaces": ("acme", "wrong"),
        "operad.kvstores": ("dist_acme",),
        "operad.commands": ("shout",),
    }


def test_load_all_finds_every_fault_and_raises_none(acme):
    (record,) = registry.load_all()
    assert record.state == "broken"
    assert sorted(b.entry.name for b in record.broken) == ["shout", "wrong"]


def test_the_word_for_an_entry_fits_its_group(acme):
    with pytest.raises(OperatorNotFoundError, match="provides pass 'fusion'"):
        registry.entry("operad.passes", "fusion")


def test_a_missing_matrix_product_says_what_to_install(site):
    x = od.nd.empty((1,))
    with pytest.raises(OperatorNotFoundError, match=r"'NDArray\.__matmul__'; pip install .*matrix"):
        _ = x @ x
