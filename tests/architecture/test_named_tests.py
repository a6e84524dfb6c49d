"""A test of its name for each module of the core: `engine/var.py` has `tests/engine/test_var.py`."""

from __future__ import annotations

import ast

import pytest

from tools.workspace import ROOT

SOURCES = ROOT / "core" / "src" / "operad"
TESTS = ROOT / "core" / "tests"


def _without_a_test() -> set[str]:
    modules = [path.relative_to(SOURCES) for path in SOURCES.rglob("[!_]*.py")]
    return {
        path.as_posix()
        for path in modules
        if not (TESTS / path.parent / f"test_{path.name}").is_file()
        and not _only_renames((SOURCES / path).read_text())
    }


def _only_renames(source: str) -> bool:
    """Return whether a module only re-exports names of others, and so has no statement to test."""
    return all(
        isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.parse(source).body
    )


def test_every_module_has_a_test_of_its_name() -> None:
    assert sorted(_without_a_test()) == []


@pytest.mark.parametrize(
    ("source", "is_exempt"),
    [
        ('"""Another name."""\nimport sys\nfrom a import *\nsys.modules[__name__] = a\n', True),
        ("from a import b\n\n\ndef c(): ...\n", False),
        ("class C: ...\n", False),
        ("if True:\n    import a\n", False),
    ],
)
def test_a_module_of_imports_alone_needs_none(source: str, is_exempt: bool) -> None:
    assert _only_renames(source) is is_exempt
