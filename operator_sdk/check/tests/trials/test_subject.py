"""Where an operator was defined is found without disturbing the modules of others."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

import pytest

from operad_check.trials.subject import Subject, property_class, subject_of
from operad_sdk import OperatorProperty, operator, unary


@operator("subject_same")
class Same(OperatorProperty):
    """The same."""

    spec = "data:(N) -> output:(N)"

    def forward(data):
        """Copy."""
        return data


@unary("subject_half")
def half(data):
    """Half."""
    return data / 2


class _Strict(type):
    def __getattribute__(cls, name):
        raise RuntimeError(f"{name} of a class was read")

    def __eq__(cls, other):
        raise RuntimeError("a class was compared")

    __hash__ = None


class _Touchy:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(f"{name} was read")

    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None


class _Deprecated:
    """Warns as `torch.distributed.reduce_op` does."""

    def __getattribute__(self, name):
        warnings.warn(f"{name} was read", FutureWarning, stacklevel=2)
        return object.__getattribute__(self, name)


class _LazyModule(ModuleType):
    def __getattribute__(self, name):
        raise ImportError(f"{name} of a lazy module was read")


class _Posing:
    """No module, and raises when asked for its names."""

    @property
    def __dict__(self):
        raise RuntimeError("__dict__ was read")


def _module_with(value):
    module = ModuleType("touchy")
    module.value = value
    module.__getattr__ = lambda name: pytest.fail(f"{name} of a module was read")
    return module


TOUCHY = {
    "lazy module": lambda: _LazyModule("lazy"),
    "no module": _Posing,
    "nothing": lambda: None,
    "object that raises": _Touchy,
    "value that raises": lambda: _module_with(_Touchy()),
    "value that warns": lambda: _module_with(_Deprecated()),
    "class that raises": lambda: _module_with(_Strict("Strict", (), {})),
    "value of such a class": lambda: _module_with(object.__new__(_Strict("Strict", (), {}))),
}


@pytest.mark.parametrize("make", TOUCHY.values(), ids=TOUCHY)
@pytest.mark.parametrize("name", ["Same", "half"])
def test_modules_of_others_are_not_touched(monkeypatch, make, name):
    # First, so that the search meets it before the operator's own module.
    with monkeypatch.context() as patch:
        patch.setattr(sys, "modules", {"_touchy": make(), **sys.modules})
        found = subject_of(globals()[name]).place()
    assert found == (__name__, name)


def test_the_module_that_defines_it_goes_before_one_that_imports_it(monkeypatch):
    importer = ModuleType("importer")
    importer.another_name = Same
    monkeypatch.setattr(sys, "modules", {"importer": importer, **sys.modules})
    assert subject_of(Same).place() == (__name__, "Same")


def test_a_module_that_imports_it_will_do(monkeypatch):
    importer = ModuleType("importer")
    made = type("Made", (Same,), {"__module__": "gone"})
    importer.another_name = made
    monkeypatch.setitem(sys.modules, "importer", importer)
    assert Subject("made", made).place() == ("importer", "another_name")
    monkeypatch.delitem(sys.modules, "importer")
    assert Subject("made", made).place() is None


@pytest.mark.parametrize("value", [3, None, "tanh", int, object(), ModuleType("empty")])
def test_what_is_no_operator_stands_for_none(value):
    assert property_class(value) is None


def test_an_import_line_is_found_beside_values_that_warn(monkeypatch):
    monkeypatch.setattr(sys, "modules", {"_touchy": _module_with(_Deprecated()), **sys.modules})
    assert subject_of(half).reference() == (f"from {__name__} import half", "half")
