"""Lines that an operator takes in several libraries."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path
from typing import Final

PROGRAMS: Final = Path(__file__).with_name("programs")
OPERATORS: Final = ("elementwise", "row_norm", "loss")
LIBRARIES: Final = ("operad", "torch", "mxnet")
_USE: Final = 'if __name__ == "__main__":'
_EMPTY: Final = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


def program(operator: str, library: str) -> Path:
    """The program that defines the operator, and then uses it."""
    return PROGRAMS / f"{operator}_{library}.py"


def count(text: str) -> int:
    """Lines of code of a definition: imports and all, without blank lines, comments and the docstring."""
    definition = text.partition(_USE)[0]
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(definition).readline):
        is_docstring = token.type == tokenize.STRING and token.line.lstrip().startswith('"""')
        if token.type not in _EMPTY and not is_docstring:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines)
