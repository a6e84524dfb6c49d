"""Stub text of operad's own modules: their source without the bodies of functions.

Operators are attributes that `operad.nd` and `operad.sym` make when they are asked for, so a stub has
to list them; what else these modules hold is copied from their own text, and cannot fall behind it. What
plugins add to them is imported from there.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType

from operad.registry import attribute_names, loading
from operad.registry.plugins import ATTRIBUTES, NAMESPACES, Entry


def stub_of(module: ModuleType, without: tuple[str, ...] = ()) -> str:
    """The stub of a module's own names, private ones left out.

    Args:
        without: Names to leave out as well.
    """
    tree = ast.parse(inspect.getsource(module))
    kept = [_stubbed(node) for node in tree.body if _is_public(node, without)]
    used = {part.id for node in kept for part in ast.walk(node) if isinstance(part, ast.Name)}
    body = [found for node in kept if (found := _without_private(node, used)) is not None]
    return ast.unparse(ast.Module(body, []))


def names_of(module: ModuleType) -> set[str]:
    """The functions and classes that a module's own text defines or imports under their own names."""
    tree = ast.parse(inspect.getsource(module))
    names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    imports = [node for node in tree.body if isinstance(node, (ast.ImportFrom, ast.Import))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    return {name for name in names | imported if not name.startswith("__")}


def added_names(module: str, of: Collection[str] | None = None) -> dict[str, str]:
    """The text that declares each name that plugins add to a module; imports no plugin.

    Args:
        of: Distributions whose names are declared; None: all.
    """
    points = loading.current().manifest.entries(ATTRIBUTES)
    return _imports({name: points[f"{module}.{name}"] for name in attribute_names(module)}, of)


def added_namespaces(of: Collection[str] | None = None) -> dict[str, str]:
    """The text that declares each module that plugins add to `operad`; arguments as `added_names`."""
    return _imports(loading.current().manifest.entries(NAMESPACES), of)


def _imports(points: Mapping[str, Sequence[Entry]], of: Collection[str] | None) -> dict[str, str]:
    """The import of the first entry of each name that one of the distributions has.

    What goes into a module of another plugin, as `contrib.rnn` does, is that module's to declare.
    """
    chosen = {
        name: [entry for entry in entries if of is None or entry.owner.name in of]
        for name, entries in points.items()
        if "." not in name
    }
    return {name: _import_of(name, entries[0].value) for name, entries in chosen.items() if entries}


def _import_of(name: str, value: str) -> str:
    """A stub's import of what an entry point names, which is a module or an attribute of one."""
    module, _, attribute = value.replace(" ", "").partition("[")[0].partition(":")
    home, _, own = f"{module}.{attribute}".rstrip(".").rpartition(".")
    place = f"from {home} import {own}" if home else f"import {own}"
    return f"{place} as {name}" if own == name else f"{place} as _added_{name}\n{name} = _added_{name}"


def _is_public(node: ast.stmt, without: tuple[str, ...]) -> bool:
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name) and _is_private(target.id) for target in node.targets)
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return True
    return node.name not in without and not _is_private(node.name)


def _without_private(node: ast.stmt, used: set[str]) -> ast.stmt | None:
    """An import without the private names that the stub does not use; None if nothing is left."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [(alias, alias.asname or alias.name) for alias in node.names]
        node.names = [alias for alias, name in names if name in used or not name.startswith("_")]
        return node if node.names else None
    return node


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _stubbed(node: ast.stmt) -> ast.stmt:
    if not isinstance(node, ast.FunctionDef):
        return node
    text = ast.get_docstring(node, clean=False)
    documented: list[ast.stmt] = [] if text is None else [ast.Expr(ast.Constant(text))]
    node.body = [*documented, ast.Expr(ast.Constant(...))]
    return node
