"""Titles of docstrings: nouns or verbs, no clauses (`Return whether ...`, not `Whether ...`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.workspace import ROOT

ROOMS = [
    "contrib_ops/*/src",
    "core/src",
    "operator_sdk/*/src",
    "plugins/*/src",
    "tests/architecture",
    "tests/benchmarks",
    "tests/conformance",
    "tools",
]
CLAUSE = re.compile(r"(What|Who|Whose|Whom|Where|How|Whether|That|Which)(ever)?\b")


def files_of(room: str) -> Iterator[Path]:
    """Python files of the folders that match a pattern."""
    for folder in sorted(ROOT.glob(room)):
        yield from sorted(folder.rglob("*.py"))


def clauses(source: str) -> list[tuple[int, str]]:
    """Line and first line of each docstring, of attributes too, that begins as a clause."""
    strings = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    titles = [(node.lineno, node.value.strip()) for node in strings if isinstance(node.value, str)]
    return [(line, title.partition("\n")[0]) for line, title in titles if CLAUSE.match(title)]


@pytest.mark.parametrize("room", ROOMS)
def test_titles_are_nouns_or_verbs(room: str) -> None:
    files = list(files_of(room))
    assert files
    found = [f"{file.relative_to(ROOT)}:{line}: {title}" for file in files
             for line, title in clauses(file.read_text("utf-8"))]  # fmt: skip
    assert not found, "say what it is or does, such as 'Return whether ...':\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "is_clause"),
    [
        ('"""Whether it rains."""', True),
        ('def f():\n    """What `f` gives.\n\n    More.\n    """', True),
        ('class A:\n    x = 1\n    """How often."""', True),
        ('"""Whoever reads this."""', True),
        ('"""Return whether it rains."""', False),
        ('"""Whatsit: a thing."""', False),
        ('x = "What is this?"', False),
    ],
)
def test_the_rule_tells_clauses_from_titles(source: str, is_clause: bool) -> None:
    assert bool(clauses(source)) is is_clause
