"""MXNet's names that no package has: how they are found in the table, and how modules speak of them."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from operad_mxnet import absent

ROWS = [
    {"names": "gluon nd._contrib_quantize nd._image_*", "why": "it is left out"},
    {"names": "model.Old", "why": "use the new one"},
]


@pytest.fixture(autouse=True)
def table(monkeypatch):
    monkeypatch.setattr(absent, "read_table", lambda: ROWS)
    absent._rows.cache_clear()
    yield
    absent._rows.cache_clear()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sym.contrib.quantize", "nd._contrib_quantize"),
        ("contrib.symbol.quantize", "nd._contrib_quantize"),
        ("symbol.op.tanh", "nd.tanh"),
        ("ndarray.image.resize", "nd._image_resize"),
        ("opt.SGD", "optimizer.SGD"),
        ("optional", "optional"),
    ],
)
def test_spellings_of_a_name_are_one_in_the_table(name, expected):
    assert absent.spelling(name) == expected


def test_a_name_stands_for_all_that_is_below_it():
    assert absent.why_absent("gluon.nn.Dense") == "it is left out"
    assert absent.why_absent("gluonts") is None


def test_a_pattern_stands_for_the_names_that_it_matches():
    assert absent.why_absent("sym.image.normalize") == "it is left out"
    assert absent.why_absent("sym.normalize") is None


def test_messages_say_that_mxnet_has_it():
    assert absent.absent_text("model.Old") == "MXNet has it, and no package of operad does: use the new one"
    assert absent.absent_text("model.New") is None


class TestOfAModule:
    @pytest.fixture
    def module(self):
        made = ModuleType("acme_model")
        absent.explain_absence("model", made)
        return made

    def test_a_name_that_is_absent_is_explained(self, module):
        with pytest.raises(AttributeError, match=r"no attribute 'Old'; MXNet has it, .*: use the new one"):
            _ = module.Old

    def test_any_other_name_is_missing_as_ever(self, module):
        with pytest.raises(AttributeError, match=r"^module 'acme_model' has no attribute 'New'$"):
            _ = module.New

    def test_an_import_of_the_name_is_explained_too(self, module, monkeypatch):
        monkeypatch.setitem(sys.modules, "acme_model", module)
        with pytest.raises(ImportError, match="use the new one"):
            from acme_model import Old  # noqa: F401 - the module is there for this test alone

    def test_what_the_modules_own_function_gives_is_not_touched(self):
        made = ModuleType("acme_model")
        made.__getattr__ = lambda name: name.upper()
        absent.explain_absence("model", made)
        assert made.Old == "OLD"

    @pytest.mark.parametrize("first", ["model", "module.model"])
    def test_a_module_that_has_two_names_is_explained_under_both(self, first):
        made = ModuleType("acme_model")
        absent.explain_absence(first, made)
        explaining = made.__getattr__
        absent.explain_absence("model", made)
        assert made.__getattr__ is explaining
        with pytest.raises(AttributeError, match="use the new one"):
            _ = made.Old
