"""Stub text of operad's own modules: their source without the bodies of functions.

Operators are attributes that `operad.nd` and `operad.sym` make when they are asked for, so a stub has
to list them; what else these modules hold is copied from their own text, and cannot fall behind it. What
plugins add is imported from the plugins.
"""

from __future__ import annotations

import ast
import inspect
import sys
from contextlib import suppress
from types import ModuleType

from operad import registry
from operad.errors import OperadError


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


def added_to(face: str) -> dict[str, str]:
    """What declares each name that plugins add to `operad.<face>`: a function's or class's import.

    A name whose plugin cannot be used is left out.
    """
    declared = {}
    for name in registry.names_on_face(face):
        with suppress(OperadError):
            declared[name] = _import_of(registry.on_face(face, name), name)
    return declared


def _import_of(added: object, name: str) -> str:
    module = getattr(added, "__module__", None) or ""
    is_there = getattr(sys.modules.get(module), name, None) is added
    return f"from {module} import {name} as {name}" if is_there else f"{name}: Any"


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
