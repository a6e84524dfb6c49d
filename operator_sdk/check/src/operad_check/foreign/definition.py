"""Definition of a function in a program: an import, or its source with all that it reads.

A lambda, and a function that another function made, cannot be imported. Its source is taken instead: the
expression, or statement, of its file whose code lies where the code object says, so that two lambdas in one
line are distinguished. Names that it reads are imported (modules and functions), written down (numbers and
text), or defined likewise. What reads anything else, such as an array, has no definition.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

_PLAIN: Final = (bool, int, float, str, bytes, type(None))
_DEEPEST: Final = 4
"""Functions that read one another which are followed."""


def definition_of(function: Any, name: str) -> list[str]:
    """Lines by which a program has the function under that name; none where it has no definition."""
    try:
        return list(dict.fromkeys(_lines(function, name, _DEEPEST)))
    except _NoDefinitionError:
        return []


class _NoDefinitionError(Exception):
    """Something that the source reads cannot be written down."""


def place_of(value: Any) -> str:
    """Module that a function can be imported from by its own name; "" if there is none."""
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    return module if getattr(sys.modules.get(module), name, None) is value and module != "__main__" else ""


def _lines(value: Any, name: str, depth: int) -> Iterator[str]:
    place = place_of(value)
    if isinstance(value, ModuleType):
        yield f"import {value.__name__} as {name}"
    elif place:
        own = value.__name__
        yield f"from {place} import {own}" + (f" as {name}" if own != name else "")
    elif isinstance(value, _PLAIN):
        yield f"{name} = {value!r}"
    elif isinstance(value, FunctionType) and depth:
        yield from _source(value, name, depth - 1)
    else:
        raise _NoDefinitionError(name)


def _source(function: FunctionType, name: str, depth: int) -> Iterator[str]:
    node, text = _node(function)
    for read, value in _reads(function, node):
        yield from _lines(value, read, depth)
    if isinstance(node, ast.Lambda):
        yield f"{name} = {ast.unparse(node)}"
        return
    yield text  # one entry: lines that are alike, such as two `else:`, stay
    if node.name != name:
        yield f"{name} = {node.name}"


def _node(function: FunctionType) -> tuple[ast.Lambda | ast.FunctionDef, str]:
    """The node of a function in its file, and its text."""
    code = function.__code__
    try:
        source = "".join(linecache.getlines(code.co_filename)) or inspect.getsource(function)
        tree = ast.parse(source)
    except (OSError, SyntaxError, TypeError) as error:
        raise _NoDefinitionError(code.co_name) from error
    for node in ast.walk(tree):
        if isinstance(node, (ast.Lambda, ast.FunctionDef)) and _is_of(node, code):
            return node, textwrap.dedent(ast.get_source_segment(source, node, padded=True) or "").rstrip()
    raise _NoDefinitionError(code.co_name)


def _is_of(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Return whether the node is what the code was compiled of; a decorated one may be anything."""
    if isinstance(node, ast.FunctionDef):
        return (node.name, node.lineno) == (code.co_name, code.co_firstlineno) and not node.decorator_list
    body = node.body
    place = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    return code.co_name == "<lambda>" and place in code.co_positions()


def _reads(function: FunctionType, node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Names that the source takes from elsewhere, and what they are."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    bound |= {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef)}
    found = {**vars(builtins), **function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for name in sorted({each.id for each in names} - bound):
        if name not in found:
            raise _NoDefinitionError(name)
        if found[name] is not vars(builtins).get(name):
            yield name, found[name]
