"""Stubs of operad's own modules."""

from __future__ import annotations

import ast

import pytest

from operad import nd
from operad.cli.stubs.modules import names_of, stub_of
from operad.symbol import namespace


@pytest.mark.parametrize("module", [nd, namespace])
def test_a_face_declares_all_its_own_names(module):
    stub = stub_of(module, without=("__getattr__", "__dir__"))
    public = {name for name in names_of(module) if not name.startswith("_")}
    assert public <= {name for name in public if f" {name}" in stub}
    assert "__getattr__" not in stub


@pytest.mark.parametrize("module", [nd, namespace])
def test_a_face_declares_nothing_private(module):
    stub = ast.parse(stub_of(module, without=("__getattr__", "__dir__")))
    names = {node.id for node in ast.walk(stub) if isinstance(node, ast.Name)}
    imported = {
        alias.asname for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert not [name for name in imported - names if name is not None and name.startswith("_")]
    targets = {target.id for node in stub.body if isinstance(node, ast.Assign) for target in node.targets}
    assert not [name for name in targets if name.startswith("_")]
