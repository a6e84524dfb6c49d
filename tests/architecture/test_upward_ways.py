"""No layer of the core reaches one above it by a way that import-linter does not see.

An upward import can hide as a name given to `import_module`, which `test_circles` counts, or as a setter
through which the layer above puts a callable or a class into a module below. Imports inside functions
import-linter does see; they are refused too where they are the core's own, for they only dodge a cycle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.workspace import ROOT

CORE = ROOT / "core" / "src" / "operad"

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _own_imports_in_functions(tree: ast.Module) -> Iterator[str]:
    for function in ast.walk(tree):
        if not isinstance(function, FUNCTIONS):
            continue
        for node in ast.walk(function):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if any(name.partition(".")[0] == "operad" for name in names):
                yield f"line {node.lineno} imports inside a function"


def _injected(tree: ast.Module) -> Iterator[str]:
    """Functions `set_...(x)` of a module that assign `x`, a callable or a class, to a module global."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
        # What is annotated with a plain type is a value, such as a mode; all else may be code.
        given = {
            arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)
            if not (isinstance(arg.annotation, ast.Name) and arg.annotation.id in {"bool", "int", "str"})
        }  # fmt: skip
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in given:
                targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
                if targets & shared:
                    yield f"line {node.lineno} takes {node.value.id!r} from a layer above"


def _runtime_checks_of_protocols(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if getattr(node, "id", getattr(node, "attr", "")) == "runtime_checkable":
            yield f"line {node.lineno} tests a type by its structure"


RULES = (_own_imports_in_functions, _injected, _runtime_checks_of_protocols)


# Modules above every layer, which reach down or sideways.
EXEMPT = {
    "__main__.py": _own_imports_in_functions,  # once the libraries of the command line are found
    "cli/listing.py": _runtime_checks_of_protocols,  # values of any class that lists itself
}


def _violations(source: str, exempt: object = None) -> list[str]:
    tree = ast.parse(source)
    return [found for rule in RULES if rule is not exempt for found in rule(tree)]


@pytest.mark.walk
@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda p: str(p.relative_to(CORE)))
def test_no_layer_reaches_upwards_by_a_hidden_way(path: Path) -> None:
    assert _violations(path.read_text(), EXEMPT.get(str(path.relative_to(CORE)))) == []


PLANTED = {
    "in-a-function": "def backward(x):\n    from operad.autograd import backward\n    backward(x)",
    "in-a-method": "class A:\n    def backward(self):\n        import operad.autograd",
    "injected-factory": "def set_factory(factory: Callable[[], X]):\n    global _made\n    _made = factory",
    "injected-class": "def use(cls):\n    global _cls\n    _cls = cls",
    "structural-test": "@typing.runtime_checkable\nclass ArrayLike(Protocol): ...",
}


@pytest.mark.parametrize("planted", PLANTED)
def test_each_hidden_way_is_seen(planted: str) -> None:
    assert len(_violations(PLANTED[planted])) == 1


def test_switches_and_lazy_libraries_are_no_violation() -> None:
    assert _violations("def set_debug(on: bool):\n    global _debug\n    _debug = on") == []
    assert _violations("def parse(x):\n    import msgspec") == []
    assert _violations('def parse(x):\n    import_module("msgspec")') == []


@pytest.mark.parametrize("name", EXEMPT)
def test_each_exemption_is_needed(name: str) -> None:
    assert list(EXEMPT[name](ast.parse((CORE / name).read_text())))
