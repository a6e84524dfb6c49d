"""Changes of a source text, each in one place: an operator, a term, a bound, a statement.

A change replaces a part of the text and leaves the rest as it is, comments and lines included. What only
documents, declares or refuses is left alone: annotations, parameters, contracts and their references, errors
(but not the conditions under which they are raised).

`# mutant: equivalent, because ...` at a line, or alone on the lines above, says that changes there change no
result; `# mutant: x <= 0: equivalent, because ...` says so of those that have `x <= 0` in their words. Above
a function it speaks of the whole function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Final, final

_OPERATORS: Final[dict[type[ast.operator], tuple[type[ast.operator], str]]] = {
    ast.Add: (ast.Sub, "-"),
    ast.Sub: (ast.Add, "+"),
    ast.Mult: (ast.Div, "/"),
    ast.Div: (ast.Mult, "*"),
    ast.FloorDiv: (ast.Div, "/"),
    ast.Pow: (ast.Mult, "*"),
    ast.MatMult: (ast.Mult, "*"),
    ast.Mod: (ast.FloorDiv, "//"),
}
_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_FUNCTIONS: Final = {
    "sum": "mean", "mean": "sum", "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum",
    "floor": "ceil", "ceil": "floor", "sqrt": "abs", "exp": "expm1", "expm1": "exp", "log": "log1p",
    "log1p": "log", "zeros": "ones", "zeros_like": "ones_like", "add": "subtract", "subtract": "add",
    "multiply": "divide", "divide": "multiply", "argmax": "argmin", "argmin": "argmax", "cumsum": "cumprod",
    "prod": "sum", "any": "all", "all": "any", "sin": "cos", "cos": "sin",
}  # fmt: skip
_KEYWORDS: Final = ("keepdims", "axis", "initial")
_DECLARING: Final = (
    "Contract",
    "Distribution",
    "ResultTypes",
    "Tolerance",
    "param",
    "Scalar",
    "Real",
    "Drawn",
    "Param",
)
_DECLARED: Final = (
    "reference",
    "contract",
    "loss",
    "inputs",
    "mean",
    "variance",
    "cdf",
    "draws",
    "shapes",
    "cost",
)
_COST: Final = "cost"
"""The function, public or not, that estimates what a call costs, which is no result."""
_EQUIVALENT: Final = re.compile(r"#\s*mutant: (?:(.+?): )?equivalent, because (.+)")
_SIZE: Final = re.compile(r"->\s*[\w ]*:?[\w ]*\(\s*\*?([A-Za-z_]\w*)")


@final
@dataclass(frozen=True, slots=True)
class Change:
    """One change of a text.

    Attributes:
        line: Number of the line, from 1.
        begin: Where the part that is replaced begins in the text, and `end` where it ends.
        replacement: What it is replaced by.
        words: What the change is: `a + b becomes a - b`.
        equivalent: Why it changes no result, as the line's comment says; "": it does.
    """

    line: int
    begin: int
    end: int
    replacement: str
    words: str
    equivalent: str = ""

    def of(self, source: str) -> str:
        """The text with the change."""
        return source[: self.begin] + self.replacement + source[self.end :]


def changes_in(source: str, spans: Sequence[tuple[int, int]]) -> list[Change]:
    """All changes of functions that begin in these lines, and of what stands in the classes around them.

    Args:
        spans: First and last lines of functions.
    """
    return list(_Changes(source, spans).found())


@final
class _Changes:
    def __init__(self, source: str, spans: Sequence[tuple[int, int]]) -> None:
        self._source = source
        self._spans = spans
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._parents: dict[ast.AST, ast.AST] = {}
        self._tree = ast.parse(source)
        for node in ast.walk(self._tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node

    def found(self) -> Iterator[Change]:
        """The changes, in the order of the text."""
        nodes: list[Any] = [
            node for node in ast.walk(self._tree) if hasattr(node, "lineno") and self._counts(node)
        ]
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            yield from self._of(node)

    def _counts(self, node: Any) -> bool:
        """Return whether a node is in a function that is reached, and computes something."""
        up = [node, *self._above(node)]
        if _is_shape_line(node, self._parents):
            return any(isinstance(one, ast.ClassDef) and self._is_reached(one) for one in up)
        functions = [one for one in up if isinstance(one, ast.FunctionDef | ast.Lambda)]
        if not functions or not any(map(self._is_reached, functions)):
            return False
        for one, parent in pairwise(up):
            if isinstance(one, ast.FunctionDef) and one.name.strip("_") == _COST:
                return False
            if isinstance(one, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments):
                return False
            if (
                isinstance(one, ast.Call)
                and getattr(one.func, "id", getattr(one.func, "attr", "")) in _DECLARING
            ):
                return False
            if isinstance(one, ast.keyword) and one.arg in _DECLARED:
                return False
            if isinstance(parent, ast.FunctionDef) and one not in parent.body:
                return False  # a decorator, an annotation
            if isinstance(parent, ast.AnnAssign) and one is parent.annotation:
                return False
        return not isinstance(node, ast.FunctionDef | ast.Lambda | ast.arg)

    def _is_reached(self, node: Any) -> bool:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        last = node.end_lineno
        if isinstance(node, ast.ClassDef):
            return any(first <= begin <= last for begin, _ in self._spans)
        return any(begin in (first, node.lineno) for begin, _ in self._spans)

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._parents:
            node = self._parents[node]
            yield node

    def _of(self, node: Any) -> Iterator[Change]:
        if _is_shape_line(node, self._parents):
            yield from self._of_shape_line(node)
        elif isinstance(node, ast.BinOp):
            yield from self._of_operator(node)
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            changed = ast.Compare(
                node.left, [_COMPARISONS[type(node.ops[0])](), *node.ops[1:]], node.comparators
            )
            yield self._replaced(node, f"({ast.unparse(changed)})")
        elif isinstance(node, ast.Constant) and not self._is_text(node):
            yield from self._of_constant(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
            if not isinstance(node.operand, ast.Constant):
                yield self._replaced(node, f"({self._text(node.operand)})")
        elif isinstance(node, ast.Slice):
            if node.upper is not None:
                yield self._replaced(node.upper, f"({self._text(node.upper)}) - 1")
            if node.lower is not None:
                yield self._replaced(node.lower, f"({self._text(node.lower)}) + 1")
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield self._replaced(node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
        elif isinstance(node, ast.If | ast.IfExp):
            yield self._replaced(node.test, f"not ({self._text(node.test)})")
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.stmt):
            yield from self._of_statement(node)

    def _of_operator(self, node: ast.BinOp) -> Iterator[Change]:
        left, right = self._text(node.left), self._text(node.right)
        if type(node.op) in _OPERATORS:
            yield self._replaced(node, f"(({left}) {_OPERATORS[type(node.op)][1]} ({right}))")
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            yield self._replaced(node, f"({left})")
        if isinstance(node.op, ast.Add | ast.Mult):
            yield self._replaced(node, f"({right})")

    def _of_constant(self, node: ast.Constant) -> Iterator[Change]:
        if isinstance(node.value, bool):
            yield self._replaced(node, repr(not node.value))
        elif isinstance(node.value, int | float):
            yield self._replaced(node, repr(node.value + 1))

    def _of_call(self, node: ast.Call) -> Iterator[Change]:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FUNCTIONS:
            other = f"{self._text(node.func.value)}.{_FUNCTIONS[node.func.attr]}"
            yield self._replaced(node.func, other)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "where" and len(node.args) == 3:
            arguments = [node.args[0], node.args[2], node.args[1]]
            changed = ast.Call(node.func, arguments, node.keywords)
            yield self._replaced(node, ast.unparse(changed))
        for keyword in node.keywords:
            if keyword.arg in _KEYWORDS:
                rest = [other for other in node.keywords if other is not keyword]
                yield self._replaced(node, ast.unparse(ast.Call(node.func, node.args, rest)))

    def _of_statement(self, node: ast.stmt) -> Iterator[Change]:
        if isinstance(node, ast.AugAssign):
            yield self._replaced(node, f"{self._text(node.target)} = {self._text(node.value)}")
            yield self._replaced(node, "pass")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            yield self._replaced(node, "pass")
            yield self._replaced(node, f"{self._text(node.targets[0])} += {self._text(node.value)}")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield self._replaced(node, "pass")

    def _of_shape_line(self, node: Any) -> Iterator[Change]:
        text = self._text(node)
        for size in _SIZE.finditer(text):
            begin, end = size.span(1)
            if text[begin - 1] != "*":
                yield self._replaced(node, f"{text[:begin]}{size[1]} + 1{text[end:]}")

    def _is_text(self, node: ast.Constant) -> bool:
        return not isinstance(node.value, bool | int | float)

    def _text(self, node: ast.AST) -> str:
        begin, end = self._place(node)
        return self._source[begin:end]

    def _place(self, node: Any) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _replaced(self, node: Any, text: str) -> Change:
        begin, end = self._place(node)
        old, new = (" ".join(each.split()) for each in (self._source[begin:end], text))
        words = f"{old} is left out" if new == "pass" else f"{old} becomes {new}"
        return Change(node.lineno, begin, end, text, words, self._why_equivalent(node, words))

    def _why_equivalent(self, node: Any, words: str) -> str:
        keyword, line = self._parents.get(node), node.lineno
        if isinstance(keyword, ast.keyword) and keyword.arg == "strict":
            return "zip's strict refuses, and computes nothing"
        if self._is_open_length(node):
            return "reshape takes any number below 0 for the length that is left"
        functions = [one for one in self._above(node) if isinstance(one, ast.FunctionDef)]
        firsts = [min([one.lineno, *(each.lineno for each in one.decorator_list)]) for one in functions]
        texts = [self._lines[line - 1], *(self._comment_above(number) for number in (line, *firsts))]
        for text in texts:
            for said in _EQUIVALENT.finditer(text):
                if said[1] is None or said[1] in words:
                    return said[2].strip()
        return ""

    def _is_open_length(self, node: ast.AST) -> bool:
        """Return whether a node is the 1 of `reshape(-1)`."""
        parent = self._parents.get(node)
        if not (isinstance(node, ast.Constant) and isinstance(parent, ast.UnaryOp)):
            return False
        up = self._parents.get(parent)
        call = self._parents.get(up) if isinstance(up, ast.Tuple) else up
        return (
            isinstance(parent.op, ast.USub)
            and isinstance(call, ast.Call)
            and getattr(call.func, "attr", "") == "reshape"
        )

    def _comment_above(self, line: int) -> str:
        above = takewhile(lambda text: text.lstrip().startswith("#"), reversed(self._lines[: line - 1]))
        return "\n".join(above)


def _is_shape_line(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a node is the text of `spec = "..."` in a class."""
    parent = parents.get(node)
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and isinstance(parent, ast.Assign)
        and getattr(parent.targets[0], "id", "") == "spec"
    )
