"""Contracts of operators as authors import them."""

from __future__ import annotations

import inspect

import pytest

from operad import op, operator, registry


def test_all_that_authors_have_is_the_rooms_own():
    public = [name for name in vars(op) if not name.startswith("_") and not inspect.ismodule(vars(op)[name])]
    assert {"Operator", "OperatorProperty", "Kernel", "OpReq"} <= set(public)
    for name in public:
        assert getattr(operator, name) is getattr(op, name)


def test_a_plugin_adds_an_attribute(site):
    site.install(
        "acme-operator",
        attributes={"operator.CustomOp": "operator_acme:CustomOp"},
        modules={"operator_acme": "class CustomOp: pass"},
    )
    registry.refresh()
    assert operator.CustomOp.__module__ == "operator_acme"


def test_an_attribute_that_a_first_party_package_adds_says_what_to_install(site):
    with pytest.raises(AttributeError, match=r"CustomOp.*pip install .*custom"):
        _ = operator.CustomOp
