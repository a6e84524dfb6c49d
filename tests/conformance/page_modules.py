"""Modules of a page: what a reader who copies the page's operators into files has.

The declarations of the page's Python are one module, and each block with a title of its own is that file.
What the page only tries or shows (calls, assertions, examples that raise) is left out.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.conformance.run_page import Block, read_blocks

DECLARES: Final = re.compile(r"^(?:>>> )?@(operator|unary|binary)\b|^\w+ = (define|from_mapper)\(", re.M)
_IN_EXAMPLES: Final = re.compile(rf"import |from |{DECLARES.pattern}", re.M)
_SAYS_MORE: Final = ("divide", "tile")
"""Functions that add kernels to a declared operator."""
_TRIES: Final = re.compile(r"check_|gradient_check|contract_suite|example_suite")


def write_modules(page: Path, folder: Path) -> list[Path]:
    """Write the page's files and its module into `folder`; those that declare operators are returned."""
    blocks = [*read_blocks(page.read_text(encoding="utf-8"))]
    module = folder / ("page_" + re.sub(r"\W", "_", page.stem).lower() + ".py")
    texts = {module: "\n\n\n".join(part for block in blocks for part in _declarations(block))}
    for block in blocks:
        if block.options.get("title", "").endswith(".py"):
            texts[folder / block.options["title"].removeprefix("src/")] = block.text
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [file for file, text in texts.items() if DECLARES.search(text)]


def _declarations(block: Block) -> Iterator[str]:
    if block.language != "python" or {"title", "mxnet"} & {*block.options}:
        return
    source = _examples(block.text) if block.text.startswith(">>> ") else block.text
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        if _declares(statement):
            first = min([statement, *getattr(statement, "decorator_list", ())], key=lambda node: node.lineno)
            yield "\n".join(lines[first.lineno - 1 : statement.end_lineno])


def _examples(text: str) -> str:
    examples = doctest.DocTestParser().get_examples(text)
    return "".join(
        example.source
        for example in examples
        if example.exc_msg is None and _IN_EXAMPLES.match(example.source)
    )


def _declares(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id=name))):
            return _TRIES.match(name) is None
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _SAYS_MORE
        case _:
            return False
