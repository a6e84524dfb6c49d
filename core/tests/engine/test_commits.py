"""What an exception from outside meets in a `try` is met by its `finally`, on the running Python."""

from __future__ import annotations

import ast
import dis
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType

import pytest

import operad.engine
from operad import first_use
from operad.imperative import hot

CORE = Path(operad.engine.__file__ or "").parents[1]
MODULES = [
    importlib.import_module(f"operad.engine.{found.name}")
    for found in pkgutil.iter_modules(operad.engine.__path__)
]


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def unguarded_jumps(source: str, is_last: bool = False) -> list[int]:
    """Lines in a `try` whose jump back, where the interpreter looks at signals, is outside of every `try`.

    Args:
        is_last: Only of a `try` with a `finally`.
    """
    guarded = [
        node.body for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Try) and (node.finalbody or not is_last)
    ]  # fmt: skip
    found = []
    for code in codes(compile(source, "source", "exec")):
        covered = list(dis._parse_exception_table(code))  # type: ignore[attr-defined]
        for step in dis.get_instructions(code):
            line = step.positions.lineno if step.positions else None
            if line is None or "JUMP_BACKWARD" not in step.opname or "NO_INTERRUPT" in step.opname:
                continue
            is_guarded = any(body[0].lineno <= line <= (body[-1].end_lineno or 0) for body in guarded)
            if is_guarded and not any(entry.start <= step.offset < entry.end for entry in covered):
                found.append(line)
    return found


@pytest.mark.parametrize("module", [*MODULES, hot, first_use], ids=lambda module: module.__name__)
def test_the_jump_back_of_a_loop_in_a_try_is_guarded_by_it(module: ModuleType) -> None:
    assert unguarded_jumps(Path(module.__file__ or "").read_text()) == []


def test_a_finally_of_the_core_comes_whatever_a_loop_meets() -> None:
    sources = {path: path.read_text() for path in CORE.rglob("*.py")}
    with_finally = {path: text for path, text in sources.items() if "finally:" in text}
    assert len(with_finally) > 10
    found = {path: unguarded_jumps(text, is_last=True) for path, text in with_finally.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_loop_of_another_kind_would_be_found_where_python_makes_it_so() -> None:
    loop = "def f():\n    try:\n        {}:\n            g()\n    finally:\n        h = 1\n"
    assert unguarded_jumps(loop.format("for _ in a")) == []
    assert set(unguarded_jumps(loop.format("while a"))) <= {3, 4}
