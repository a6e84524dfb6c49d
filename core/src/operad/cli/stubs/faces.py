"""Stub text of operad's own modules: their source without the bodies of functions.

Operators are attributes that `operad.nd` and `operad.sym` make when they are asked for, so a stub has
to list them; what else these modules hold is copied from their own text, and cannot fall behind it.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType


def stub_of(module: ModuleType, without: tuple[str, ...] = ()) -> str:
    """The stub of a module's own names, private ones left out.

    Args:
        without: Names to leave out as well.
    """
    tree = ast.parse(inspect.getsource(module))
    kept = [_stubbed(node) for node in tree.body if _is_public(node, without)]
    return ast.unparse(ast.Module(kept, []))


def names_of(module: ModuleType) -> set[str]:
    """The functions and classes that a module's own text defines or imports under their own names."""
    tree = ast.parse(inspect.getsource(module))
    names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    imports = [node for node in tree.body if isinstance(node, (ast.ImportFrom, ast.Import))]
    return names | {alias.asname or alias.name for node in imports for alias in node.names}


def _is_public(node: ast.stmt, without: tuple[str, ...]) -> bool:
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return True
    is_private = node.name.startswith("_") and not node.name.startswith("__")
    return node.name not in without and not is_private


def _stubbed(node: ast.stmt) -> ast.stmt:
    if not isinstance(node, ast.FunctionDef):
        return node
    text = ast.get_docstring(node, clean=False)
    documented: list[ast.stmt] = [] if text is None else [ast.Expr(ast.Constant(text))]
    node.body = [*documented, ast.Expr(ast.Constant(...))]
    return node
