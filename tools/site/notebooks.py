"""Tutorials as notebooks: pages whose blocks of code become cells that run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.conformance.run_page import Block, read_blocks

TUTORIALS: Final = (
    "tutorials/train-and-serve.md",
    "tutorials/own-operator.md",
    "check-your-operator.md",
    "tutorials/language-model.md",
    "authoring/first-operator.md",
)
_PROMPTS: Final = (">>> ", "... ")


def notebook(markdown: str) -> str:
    """A page as a notebook's JSON; the same page always gives the same text."""
    made = new_notebook(cells=[*_cells(markdown)])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"
    nbformat.validate(made)
    return f"{nbformat.writes(made)}\n"


def _cells(markdown: str) -> Iterator[nbformat.NotebookNode]:
    """Texts and blocks of a page, in order."""
    lines = markdown.splitlines()
    begin = 0
    for block in read_blocks(markdown):
        source = _source(block)
        if source is None:
            continue
        if text := "\n".join(lines[begin : block.line - 1]).strip():
            yield new_markdown_cell(text)
        yield new_code_cell(source)
        begin = block.line + len(block.text.splitlines()) + 1
    if text := "\n".join(lines[begin:]).strip():
        yield new_markdown_cell(text)


def _source(block: Block) -> str | None:
    """Text of the cell for a block; None: it is shown, and not run."""
    text = block.text.rstrip("\n")
    if "no-run" in block.options or "mxnet" in block.options:
        return None
    if "title" in block.options:
        return f"%%writefile {block.options['title']}\n{text}"
    if block.language == "python":
        examples = text.splitlines()
        if not text.startswith(_PROMPTS[0]):
            return text
        return "\n".join(line[4:] for line in examples if line.startswith(_PROMPTS) or line == "...")
    if block.language == "sh":
        return f"%%bash\n{text}"
    if block.language == "console":
        return "%%bash\n" + "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
    return None
