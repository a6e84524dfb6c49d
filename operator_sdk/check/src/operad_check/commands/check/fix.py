"""Declarations that `operad check --fix` writes into the source of operators.

The edits are made in the concrete syntax tree of libcst, which keeps every character that it does not
change. An operator is found by the text of its name: the first argument of a decorator or of a call.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import final

import click
import libcst as cst

from operad.files import write_atomically
from operad_check.commands.check.records import CheckedOperator
from operad_check.trials.violation import Declaration


def fixed(text: str, wanted: Mapping[str, Sequence[Declaration]]) -> str:
    """A source with declarations added to operators by name; as it is where an operator is not found.

    Raises:
        libcst.ParserSyntaxError: It is no Python.
    """
    return cst.parse_module(text).visit(_Writer(wanted)).code


def offered(operators: Iterable[CheckedOperator]) -> dict[str, str]:
    """Differences by file, each with what became of it: written where a person at a terminal says so."""
    wanted: dict[str, dict[str, list[Declaration]]] = {}
    for op in operators:
        for outcome in op.milder:
            declares = outcome.failure and outcome.failure.declares
            own = wanted.setdefault(op.source, {}).setdefault(op.operator, [])
            if declares and declares not in own:
                own.append(declares)
    files = {path: by for path, by in wanted.items() if path and any(by.values())}
    return {path: _offered(Path(path), declares) for path, declares in files.items()}


def _offered(path: Path, declares: Mapping[str, Sequence[Declaration]]) -> str:
    try:
        before = path.read_text("utf-8")
        after = fixed(before, declares)
    except (OSError, UnicodeDecodeError, cst.ParserSyntaxError) as error:
        return f"left as it is: it cannot be read as Python: {str(error).splitlines()[0]}"
    if after == before:
        asked = "; ".join(f"{name}: {' '.join(map(str, each))}" for name, each in declares.items())
        return f"left as it is: no decorator with the name as a text was found; declare {asked}"
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    change = "".join(difflib.unified_diff(old, new, f"a/{path.name}", f"b/{path.name}"))
    if not sys.stdin.isatty():
        return f"{change}(not written: there is no terminal to ask at)"
    click.echo(change, err=True)
    if not click.confirm(f"Write it into {path}?", err=True):
        return f"{change}(not written)"
    write_atomically(path.absolute(), after.encode())
    return f"{change}(written)"


@final
class _Writer(cst.CSTTransformer):
    """Adds keywords to calls that name an operator, and attributes to classes that such a call decorates."""

    def __init__(self, wanted: Mapping[str, Sequence[Declaration]]) -> None:
        super().__init__()
        self._wanted = wanted
        self._decorators: set[cst.CSTNode] = set()

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802 - libcst's name
        """Leave decorators of classes as they are: what is declared stands in the body."""
        self._decorators |= {one.decorator for one in node.decorators}

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: N802 - likewise
        """Add attributes."""
        names = [_operator(one.decorator) for one in original_node.decorators]
        for declares in (each for name in names for each in self._wanted.get(name, ())):
            body = list(updated_node.body.body)
            line = cst.parse_statement(f"{declares.name} = {declares.value}")
            body.insert(int(original_node.get_docstring() is not None), line)
            updated_node = updated_node.with_deep_changes(updated_node.body, body=body)
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802 - likewise
        """Add keywords."""
        if original_node in self._decorators:
            return updated_node
        for declares in self._wanted.get(_operator(original_node), ()):
            made = cst.ensure_type(cst.parse_expression(f"f({declares.name}={declares.value})"), cst.Call)
            updated_node = updated_node.with_changes(args=[*updated_node.args, *made.args])
        return updated_node


def _operator(node: cst.CSTNode) -> str:
    """Text that is the first argument of a call; "" if there is none."""
    first = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    value = first.evaluated_value if isinstance(first, cst.SimpleString) else None
    return value if isinstance(value, str) else ""
