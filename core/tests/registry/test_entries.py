from __future__ import annotations

from importlib import import_module

import numpy as np
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


MODULES = ("autograd", "context", "profiler", "registry")
CLASSES = ("Context", "NDArray", "Symbol")


@pytest.fixture
def parts(site):
    site.install(
        "acme-draw",
        attributes={
            "random.value": "draw_acme.arrays:value",
            "operator.value": "draw_acme.arrays:value",
            "nd.draw": "draw_acme.arrays",
            "sym.draw": "draw_acme.symbols",
            "operad.DRAWN": "draw_acme.arrays:value",
            **{f"{module}.value": "draw_acme.arrays:value" for module in MODULES},
            **{f"{owner}.drawn": "draw_acme.methods:drawn" for owner in CLASSES},
        },
        modules={
            "draw_acme.__init__": "",
            "draw_acme.arrays": "value = 7",
            "draw_acme.symbols": "value = 8",
            "draw_acme.methods": "def drawn(self, times=1):\n    return type(self).__name__ * times",
        },
    )
    registry.refresh()
    return site


def test_a_plugin_adds_to_the_faces_of_arrays_and_symbols(parts):
    assert not parts.is_imported("draw_acme.arrays")
    assert (od.nd.draw.value, od.sym.draw.value) == (7, 8)
    assert "draw" in dir(od.nd)
    assert "draw" in dir(od.sym)


def test_a_part_of_a_face_goes_with_its_plugin(parts):
    assert od.nd.draw.value == 7
    parts.uninstall("acme-draw")
    registry.refresh()
    for module in (od.nd, od.sym):
        with pytest.raises(OperatorNotFoundError, match="no installed plugin provides operator 'draw'"):
            _ = module.draw


def test_a_plugin_adds_to_the_random_face_of_the_core(parts):
    assert od.random.value == od.operator.value == 7
    assert "value" in dir(od.random)
    assert callable(od.random.seed)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = od.random.other


@pytest.mark.parametrize("module", MODULES)
def test_a_plugin_adds_to_any_module_of_the_core(parts, module):
    module = import_module(f"operad.{module}")
    assert (module.value, od.DRAWN) == (7, 7)
    for name in ("other", "__other__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(module, name)


def test_a_plugin_adds_methods_to_the_classes_of_the_core(parts):
    made = {"NDArray": od.nd.empty((1,)), "Symbol": od.sym.var("x"), "Context": od.cpu()}
    assert sorted(made) == sorted(CLASSES)
    for name, value in made.items():
        assert (value.drawn(), value.drawn(times=2)) == (name, name * 2)
        with pytest.raises(AttributeError, match="no attribute 'other'"):
            _ = value.other


def test_a_missing_function_of_numpy_says_what_to_install(site):
    x = od.nd.empty((1,))
    with pytest.raises(TypeError, match=r"numpy\.where of an NDArray: .*pip install .*numpy, or give it"):
        np.where(x, x, x)


def test_a_missing_ufunc_of_numpy_says_what_to_install(site):
    with pytest.raises(TypeError, match=r"numpy\.tanh of an NDArray: .*pip install .*numpy, or give it"):
        np.tanh(od.nd.empty((1,)))


def test_a_missing_matrix_product_says_what_to_install(site):
    x = od.nd.empty((1,))
    with pytest.raises(OperatorNotFoundError, match=r"'NDArray\.__matmul__'; pip install .*matrix"):
        _ = x @ x


def test_missing_parts_of_faces_say_what_to_install(site):
    for part in (lambda: od.nd.random, lambda: od.sym.random):
        with pytest.raises(OperatorNotFoundError, match=r"pip install .*sampling"):
            part()
    with pytest.raises(
        OperatorNotFoundError, match=r"adds it to od\.nd and od\.sym: pip install .*serialization"
    ):
        _ = od.sym.load
    with pytest.raises(OperatorNotFoundError, match=r"adds it to od\.sym: pip install .*serialization"):
        _ = od.sym.load_json
    with pytest.raises(AttributeError, match=r"pip install .*sampling"):
        _ = od.random.uniform


def test_the_group_of_attributes_is_read_by_its_old_name_too(site):
    site.install("acme-old", faces={"nd.old": "old_acme:value"}, modules={"old_acme": "value = 9"})
    registry.refresh()
    assert od.nd.old == 9
    assert registry.attribute_names("nd").count("old") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [("on_face", "find_attribute"), ("names_on_face", "attribute_names"), ("attribute", "module_attribute")],
)
def test_functions_are_found_by_their_old_names_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=f"operad.registry.{old} is {new} since operad 0.3"):
        assert getattr(registry, old) is getattr(registry, new)
