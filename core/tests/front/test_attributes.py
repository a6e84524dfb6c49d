"""Attributes that plugins add to modules and classes of the core."""

from __future__ import annotations

from importlib import import_module

import pytest

import operad as od
from operad import registry
from operad.errors import OperatorNotFoundError

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
