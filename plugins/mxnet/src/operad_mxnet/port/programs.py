"""Names of MXNet in the text of programs, which is parsed and not run.

A *binding* is what a local name stands for: `nd` for `ndarray`, say, or for nothing of MXNet. Functions have
bindings of their own, so that a parameter called `data` hides an import of that name. A name that is
assigned `mx.nd` or the like stands for that from the first line of its function on.
"""

from __future__ import annotations

import ast
import warnings
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from operad.errors import OperadError
from operad.files import read_bytes
from operad_mxnet.port.names import public_names

ROOT: Final = "mxnet"
_FOLDERS: Final = {"__pycache__", "node_modules", "site-packages"}
"""Folders that hold no programs of the user's; those whose names begin with a dot neither."""

_Functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehensions = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@final
@dataclass(frozen=True, slots=True)
class Uses:
    """All that was found.

    Attributes:
        files: Number of files that use MXNet.
        places: For each name, without `mxnet.`, the files and lines that use it.
        unread: Files that could not be read, and why.
    """

    files: int
    places: dict[str, list[tuple[str, int]]]
    unread: dict[str, str] = field(default_factory=dict)


def sources(path: Path) -> list[Path]:
    """The program, or the programs in a folder and those below it, sorted."""
    if not path.is_dir():
        return [path]
    found = []
    for one in sorted(path.rglob("*.py")):
        parts = one.relative_to(path).parts[:-1]
        if not any(part.startswith(".") or part in _FOLDERS for part in parts):
            found.append(one)
    return found


def uses(paths: Iterable[Path]) -> Uses:
    """The names of MXNet that programs use, and where."""
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    unread: dict[str, str] = {}
    files = 0
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a text that is only read, such as "\d"
                tree = ast.parse(read_bytes(path, "the program"), str(path))
        except SyntaxError as error:
            unread[str(path)] = (
                f"line {error.lineno}: {error.msg}; programs for Python 2 go through 2to3 first"
            )
            continue
        except (OperadError, OSError, ValueError, RecursionError, MemoryError) as error:
            unread[str(path)] = str(error)
            continue
        found = list(names_in(tree))
        files += bool(found)
        for name, line in found:
            places[name].append((str(path), line))
    return Uses(files, dict(places), unread)


def names_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each use of a name of MXNet, without `mxnet.`, and its line."""
    reader = _Reader()
    reader.enter(tree)
    yield from reader.found


@final
class _Reader(ast.NodeVisitor):
    """Walks a program, with the bindings of the place where it is."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []
        self._bindings: ChainMap[str, str | None] = ChainMap()

    def enter(self, scope: ast.Module | ast.ClassDef | _Functions) -> None:
        """Walk the inside of a scope."""
        outer = self._bindings
        self._bindings = outer.new_child()
        inside = list(_statements(scope))
        for node in inside:
            self._bind(node)
        for node in inside:
            if isinstance(node, ast.Assign):  # after imports, which they name
                self._assign(node)
        body = scope.body if isinstance(scope.body, list) else [scope.body]
        for each in body:
            self.visit(each)
        self._bindings = outer

    def _bind(self, node: ast.AST) -> None:
        """Note the names that a node of this scope binds, and what they stand for."""
        here = self._bindings.maps[0]
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, _, inner = alias.name.partition(".")
                name = alias.asname or top
                here[name] = (inner if alias.asname else "") if top == ROOT else None
        elif isinstance(node, ast.ImportFrom):
            top, _, inner = (node.module or "").partition(".")
            is_ours = top == ROOT and not node.level
            for alias in node.names:
                if alias.name == "*":
                    here.update(
                        {name: _joined(inner, name) for name in public_names(inner)} if is_ours else {}
                    )
                else:
                    here[alias.asname or alias.name] = _joined(inner, alias.name) if is_ours else None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            here.setdefault(node.id, None)
        elif isinstance(node, ast.arg):
            here[node.arg] = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            here[node.name] = None

    def _assign(self, node: ast.Assign) -> None:
        """`nd = mx.nd` makes `nd` a name of MXNet's; a call's result is none."""
        stands_for = self._name_of(node.value)
        for target in node.targets:
            if stands_for is not None and isinstance(target, ast.Name):
                self._bindings.maps[0][target.id] = stands_for

    def _name_of(self, node: ast.AST) -> str | None:
        """The name of MXNet's that an expression is; "" for `mxnet` itself, None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Call) and len(node.args) >= 2 and isinstance(node.func, ast.Name):
            # As in getattr(mx.nd, "tanh") of programs that choose an operator.
            head, key = self._name_of(node.args[0]), node.args[1]
            is_name = (
                node.func.id == "getattr" and isinstance(key, ast.Constant) and isinstance(key.value, str)
            )
            if head is None or not is_name:
                return None
            parts.append(key.value)  # type: ignore[attr-defined]  # tested above
        elif isinstance(node, ast.Name):
            head = self._bindings.get(node.id)
        else:
            return None
        return None if head is None else _joined(head, *reversed(parts))

    def _use(self, name: str, line: int) -> None:
        if name and not any(part.startswith("__") for part in name.split(".")):
            self.found.append((name, line))

    def visit_Import(self, node: ast.Import) -> None:
        """Count what is imported."""
        for alias in node.names:
            top, _, inner = alias.name.partition(".")
            if top == ROOT:
                self._use(inner, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Count what is imported; with a star, the module."""
        top, _, inner = (node.module or "").partition(".")
        if top == ROOT and not node.level:
            for alias in node.names:
                self._use(inner if alias.name == "*" else _joined(inner, alias.name), node.lineno)

    def _visit_name(self, node: ast.expr) -> None:
        # The whole of `mx.nd.array` or `getattr(mx.nd, "array")` is one use; else names may stand inside.
        name = self._name_of(node)
        if name is None:
            self.generic_visit(node)
        elif not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
            self._use(name, node.lineno)

    visit_Attribute = visit_Name = visit_Call = _visit_name  # noqa: N815 - ast's names

    def _visit_function(self, node: _Functions) -> None:
        # Defaults and decorators belong to the scope outside.
        outside: list[ast.AST] = [node.args]
        if not isinstance(node, ast.Lambda):
            outside += [*node.decorator_list, *([node.returns] if node.returns else [])]
        for each in outside:
            self.visit(each)
        self.enter(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function  # noqa: N815 - ast's names

    def _visit_comprehension(self, node: _Comprehensions) -> None:
        outer = self._bindings
        self._bindings = outer.new_child()
        for generator in node.generators:
            for each in ast.walk(generator.target):
                self._bind(each)
        self.generic_visit(node)
        self._bindings = outer

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Bases and decorators belong to the scope outside."""
        for each in [*node.bases, *node.keywords, *node.decorator_list]:
            self.visit(each)
        self.enter(node)


def _statements(scope: ast.Module | ast.ClassDef | _Functions) -> Iterator[ast.AST]:
    """The nodes inside a scope, without those inside scopes in it."""
    if isinstance(scope, _Functions):
        args = scope.args
        yield from [*args.posonlyargs, *args.args, *args.kwonlyargs]
        yield from [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    waiting: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, _Functions | _Comprehensions | ast.ClassDef):
            waiting = [*ast.iter_child_nodes(node), *waiting]


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)
