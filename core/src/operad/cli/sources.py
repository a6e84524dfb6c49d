"""Finds and reads the source of what an entry point names, without importing any of it.

`operad --help` says what a plugin's command does, and `operad doctor` whether an entry point leads
anywhere; both must work while the plugin itself is broken, and cost little. So a module's file is
looked up along its package's folders, and its text is parsed, not run.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable
from importlib import machinery
from importlib.machinery import ModuleSpec
from typing import Final

from operad.files import read_text

_MOST_HOPS: Final = 8
"""Most times a name is followed from one module into the next."""
_LOADERS: Final = (
    (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
    (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
    (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
)


def module_spec(module: str) -> ModuleSpec | None:
    """File of `module`; None where it, or a package around it, is not there. Imports nothing."""
    first, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except ValueError:  # imported without a specification
        return None
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = _spec_in(spec.submodule_search_locations, part)
    return spec


def _spec_in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    # Python's own path finder would want the package around a folder without __init__.py imported.
    for folder in folders:
        spec = machinery.FileFinder(folder, *_LOADERS).find_spec(name)
        if spec is not None:
            return spec
    return None


def first_line(value: str) -> str:
    """The first line of the docstring of what `value`, as `module:name`, names; "" without one.

    A name that the module imports from another is followed there.

    Raises:
        LookupError: The module is not there, or its text defines no such name.
        SyntaxError: It is no Python text.
    """
    module, _, name = (part.strip() for part in value.partition(":"))
    for _ in range(_MOST_HOPS):
        spec = module_spec(module)
        if spec is None:
            raise LookupError(f"there is no module {module!r}")
        if spec.origin is None or not spec.origin.endswith(".py"):
            return ""
        node = _definition(ast.parse(read_text(spec.origin, f"source {spec.origin!r}")), name)
        if node is None:
            raise LookupError(f"module {module!r} defines no {name!r}")
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
            text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
            return (text or "").partition("\n")[0]
        name = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        module = node.module
    raise LookupError(f"{value!r} is imported in a cycle")


def place(value: str) -> str | None:
    """File and line of what `value`, as `module:name`, names; None where no text defines it."""
    module, _, name = value.partition(":")
    spec = module_spec(module.strip())
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(read_text(spec.origin, f"source {spec.origin!r}"))
    node = _definition(tree, name.strip().partition(".")[0])
    return None if node is None else f"{spec.origin}:{node.lineno}"


def _definition(tree: ast.Module, name: str) -> ast.stmt | None:
    for node in tree.body:
        if name in _names(node):
            return node
    return None


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
