"""House rules that a linter does not know: what a module may be named, hold and measure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.workspace import ROOT, Distribution, distributions

ALL = distributions()

MAX_LINES = 400
MAX_LINES_IN_PLUGIN = 300
NAMELESS = {"utils", "util", "misc", "helpers", "helper", "common"}


def _modules(distribution: Distribution) -> list[Path]:
    return sorted((distribution.folder / "src").rglob("*.py"))


def _is_reexport(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.If):  # if TYPE_CHECKING: the same names, for type checkers
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" and _reexports(node.body)
    if isinstance(node, ast.FunctionDef):  # PEP 562: a lazy re-export
        return node.name in {"__getattr__", "__dir__"}
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):  # a second name
        return True
    names = _assigned_names(node)
    return bool(names) and all(
        name in {"__all__", "__version__"} or name.startswith("_LAZY") for name in names
    )


def _assigned_names(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _reexports(body: list[ast.stmt]) -> bool:
    return all(_is_reexport(node) for node in body)


@pytest.mark.walk
@pytest.mark.parametrize("distribution", ALL, ids=lambda d: d.name)
def test_init_files_only_reexport(distribution: Distribution) -> None:
    for file in _modules(distribution):
        if file.name == "__init__.py":
            others = [node for node in ast.parse(file.read_text()).body if not _is_reexport(node)]
            assert not others, f"{file.relative_to(ROOT)}:{others[0].lineno} does more than re-export"


@pytest.mark.walk
@pytest.mark.parametrize("distribution", ALL, ids=lambda d: d.name)
def test_modules_stay_small(distribution: Distribution) -> None:
    limit = MAX_LINES_IN_PLUGIN if distribution.is_plugin else MAX_LINES
    sizes = {file.relative_to(ROOT): len(file.read_text().splitlines()) for file in _modules(distribution)}
    assert sizes
    assert {file: lines for file, lines in sizes.items() if lines > limit} == {}


@pytest.mark.walk
@pytest.mark.parametrize("distribution", ALL, ids=lambda d: d.name)
def test_modules_are_named_for_what_they_hold(distribution: Distribution) -> None:
    nameless = [file.relative_to(ROOT) for file in _modules(distribution) if file.stem in NAMELESS]
    assert nameless == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Doc."""\nfrom a import b\n__all__ = ["b"]', True),
        ("def __getattr__(name):\n    return name", True),
        ("if TYPE_CHECKING:\n    from a import b", True),
        ("from a import b\nc = b", True),
        ("if DEBUG:\n    from a import b", False),
        ("value = compute()", False),
        ("def helper():\n    pass", False),
        ("class Thing:\n    pass", False),
    ],
)
def test_the_reexport_rule_tells_code_from_names(source: str, expected: bool) -> None:
    assert _reexports(ast.parse(source).body) is expected
