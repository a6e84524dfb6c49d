"""Faults in the sources: every small edit that there is, and a draw among them.

An edit changes one operator, constant or statement of one line. As many are drawn from the core, the SDK,
the plugins and the contributed operators as each has of 30 in proportion to its lines of code; within one of
these every line that can be edited is as likely as every other.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from tools.lines import code_lines
from tools.workspace import ROOT

_Place = tuple[int, int]
"""Line, from 1, and offset in it."""

GROUPS: Final = ("core", "operator_sdk", "plugins", "contrib_ops")

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "), ast.In: (" in ", " not in "), ast.NotIn: (" not in ", " in "),
}  # fmt: skip
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"), ast.BitAnd: ("&", "|"),
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Edit:
    """One line of a file, and what stands in its place.

    Attributes:
        file: Path below the root.
        line: Number of the line, from 1.
    """

    file: str
    line: int
    before: str
    after: str


def modules(group: str) -> list[Path]:
    """Modules of one of `GROUPS`, sorted."""
    folder = ROOT / group
    found = folder.glob("src/**/*.py") if (folder / "src").is_dir() else folder.glob("*/src/**/*.py")
    return sorted(path for path in found if "templates" not in path.parts)


def shares(number: int) -> dict[str, int]:
    """Number of faults of each group: by lines of code, what is left over to the largest remainders."""
    lines = {group: sum(code_lines(path.read_text("utf-8")) for path in modules(group)) for group in GROUPS}
    exact = {group: number * count / sum(lines.values()) for group, count in lines.items()}
    found = {group: int(share) for group, share in exact.items()}
    by_rest = sorted(GROUPS, key=lambda group: found[group] - exact[group])
    for group in by_rest[: number - sum(found.values())]:
        found[group] += 1
    return found


def draw(group: str, seed: str) -> Iterator[Edit]:
    """Edits of a group in an order that the seed gives, at most one per line."""
    by_line: dict[tuple[str, int], list[Edit]] = {}
    for path in modules(group):
        for edit in edits(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")):
            by_line.setdefault((edit.file, edit.line), []).append(edit)
    dice = random.Random(f"{seed} {group}")
    places = sorted(by_line)
    dice.shuffle(places)
    for place in places:
        yield dice.choice(by_line[place])


def edits(file: str, source: str) -> Iterator[Edit]:
    """Every edit of a module."""
    lines = source.splitlines()
    for node in _statements(ast.parse(source)):
        for start, end, text in _changes(node, lines):
            row = start[0] - 1
            before = lines[row]
            after = before[: start[1]] + text + before[end[1] :]
            if start[0] == end[0] and after != before and before.isascii():  # offsets count bytes
                yield Edit(file, row + 1, before, after)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes that run: no annotation, no text of an error, and no import."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        left_out: list[object] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            continue
        pending += [child for child in ast.iter_child_nodes(node) if child not in left_out]


def _changes(node: ast.AST, lines: Sequence[str]) -> Iterator[tuple[_Place, _Place, str]]:
    """Pieces of the source that may be replaced for this node, with what stands there instead."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        yield from _between(node.left, node.comparators[0], lines, _COMPARISONS[type(node.ops[0])])
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield from _between(node.left, node.right, lines, _ARITHMETIC[type(node.op)])
    elif isinstance(node, ast.BoolOp):
        pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield from _between(node.values[0], node.values[1], lines, pair)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield _start(node), _start(node.operand), ""
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
        text = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
        yield _start(node), _end(node), text
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, ast.Constant):
        text = lines[node.test.lineno - 1][node.test.col_offset : node.test.end_col_offset]
        yield _start(node.test), _end(node.test), f"(not ({text}))"
    elif isinstance(node, (ast.AugAssign, ast.Expr)) and not isinstance(
        getattr(node, "value", None), (ast.Constant, ast.Yield, ast.YieldFrom)
    ):
        yield _start(node), _end(node), "pass"


def _between(
    left: ast.expr, right: ast.expr, lines: Sequence[str], pair: tuple[str, str]
) -> Iterator[tuple[_Place, _Place, str]]:
    """The one place of an operator between two operands of one line, if it is clear."""
    (row, first), (other, last) = _end(left), _start(right)
    if row == other and (gap := lines[row - 1][first:last]).count(pair[0]) == 1:
        begin = first + gap.index(pair[0])
        yield (row, begin), (row, begin + len(pair[0])), pair[1]


def _start(node: ast.expr | ast.stmt) -> _Place:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> _Place:
    return node.end_lineno or 0, node.end_col_offset or 0
