"""Graph of the imports between the core's modules, also of those by name, and its circles."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tools.workspace import ROOT

CORE: Final = ROOT / "core" / "src" / "operad"
IMPORTERS: Final = ("import_module", "_import_module", "__import__")
"""Functions that import what their first argument names."""


class Import(NamedTuple):
    """One import of a module by another.

    Attributes:
        importer: The module that imports.
        imported: The module that is imported; None where only a run can tell.
        is_typed: Whether only readers of types follow it.
        is_by_name: Whether a function imports it by its name.
        line: Where it stands.
    """

    importer: str
    imported: str | None
    is_typed: bool
    is_by_name: bool
    line: int


def modules(root: Path = CORE) -> dict[str, Path]:
    """The path of each module below the package at `root`, by name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, source: str, known: Mapping[str, object]) -> Iterator[Import]:
    """The imports of the modules `known` by the module `name`, whose text is `source`."""
    tree = ast.parse(source)
    typed = {
        child for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body for child in ast.walk(statement)
    }  # fmt: skip
    for node in ast.walk(tree):
        line, is_typed = getattr(node, "lineno", 0), node in typed
        for imported in _statement(node, known):
            if imported != name:
                yield Import(name, imported, is_typed, False, line)
        if isinstance(node, ast.Call) and _called(node) in IMPORTERS and node.args:
            text = getattr(node.args[0], "value", None)
            if not isinstance(text, str):
                yield Import(name, None, is_typed, True, line)
            elif text in known:
                yield Import(name, text, is_typed, True, line)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _statement(node: ast.AST, known: Mapping[str, object]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    elif isinstance(node, ast.ImportFrom) and node.module in known:
        for alias in node.names:
            full_name = f"{node.module}.{alias.name}"
            yield full_name if full_name in known else node.module


@cache
def core_imports() -> list[Import]:
    """Every import of one of the core's modules by another."""
    known = modules()
    return [found for name, path in known.items() for found in imports(name, path.read_text(), known)]


def circles(edges: Iterator[tuple[str, str]]) -> list[list[str]]:
    """The groups of modules that reach each other, sorted.

    Source: strongly connected components, Tarjan 1972; here by what each module reaches.
    """
    following: dict[str, set[str]] = {}
    for importer, imported in edges:
        following.setdefault(importer, set()).add(imported)
    reached = {name: _reached(name, following) for name in following}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached.get(other, ()))) for name in reached
    }
    return sorted(list(group) for group in groups if group)


def _reached(name: str, following: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for imported in following.get(waiting.pop(), ()):
            if imported not in found:
                found.add(imported)
                waiting.append(imported)
    return found


def layers() -> list[set[str]]:
    """The layers of the core, the highest first: names of rooms."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = (
        found for found in settings["tool"]["importlinter"]["contracts"] if found["id"] == "layers"
    )
    return [{room.strip(" ()") for room in line.replace("|", ":").split(":")} for line in contract["layers"]]
