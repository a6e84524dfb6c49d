"""Lines of code of the core by room: without blank lines, comments, docstrings and the command line.

`python -m tools.lines` counts the working tree, `python -m tools.lines COMMIT` a commit.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable

from tools.workspace import ROOT

_SOURCES = "core/src/operad"
_LEFT_OUT = "cli"
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> int:
    """Number of lines of a module that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            found -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


def by_room(files: Iterable[tuple[str, str]]) -> Counter[str]:
    """Lines of code by room, of paths below the core and their sources; modules in no room are `ground`."""
    found: Counter[str] = Counter()
    for path, source in files:
        room, _, rest = path.partition("/")
        if room != _LEFT_OUT:
            found[room if rest else "ground"] += code_lines(source)
    return found


def of_commit(commit: str) -> Iterable[tuple[str, str]]:
    """Paths below the core and sources, of a commit."""
    listed = _git("ls-tree", "-r", "--name-only", commit, _SOURCES).splitlines()
    for path in listed:
        if path.endswith(".py"):
            yield path.removeprefix(f"{_SOURCES}/"), _git("show", f"{commit}:{path}")


def of_tree() -> Iterable[tuple[str, str]]:
    """Paths below the core and sources, of the working tree."""
    for file in sorted((ROOT / _SOURCES).rglob("*.py")):
        yield file.relative_to(ROOT / _SOURCES).as_posix(), file.read_text("utf-8")


def _git(*args: str) -> str:
    return subprocess.run(["git", *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Print the table."""
    found = by_room(of_commit(sys.argv[1]) if len(sys.argv) > 1 else of_tree())
    for room, lines in sorted(found.items()):
        print(f"{room:12} {lines:6,}")
    print(f"{'all':12} {found.total():6,}")


if __name__ == "__main__":
    main()
