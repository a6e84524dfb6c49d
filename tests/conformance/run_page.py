"""Runs the code of one page of documentation, in the order in which it stands.

A program of its own (`python run_page.py PAGE`), so that every page starts in a fresh process, in
whatever folder and environment it is started. What the word after the fence means:

=================== ===============================================================================
python              executed, all blocks of a page in one namespace; a doctest where `>>> ` begins it
python mxnet        MXNet 1.x's: executed by the Python that `MXNET_PYTHON` names, else compiled
sh                  run by bash; a command that fails fails the page
console             commands after `$ `, each followed by what it must print
toml, json          must be readable
cpp, text, nothing  shown, not run
=================== ===============================================================================

`title="FILE"` makes a block the contents of that file instead, and `no-run="REASON"` has a shell
block only looked at. Folders change for the rest of the page, as they do for its reader. In what is
printed `...` stands for anything, and white space counts as one space.
"""

from __future__ import annotations

import doctest
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, final

_FENCE: Final = re.compile(r"(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`]*)$")
_FLAGS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class PageError(Exception):
    """A block does not do what the page says."""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        language: The first word after the fence.
        options: The others: `name="value"`, or a name alone.
        line: Line of the fence in the page, from 1.
    """

    language: str
    options: dict[str, str]
    line: int
    text: str


def read_blocks(markdown: str) -> Iterator[Block]:
    """The fenced blocks of a page.

    Raises:
        PageError: A fence is not closed.
    """
    lines = enumerate(markdown.splitlines(), start=1)
    for number, line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            continue
        indent, body = len(opening["indent"]), []
        for _, inner in lines:
            if inner.strip() == opening["fence"]:
                break
            body.append(inner[indent:])
        else:
            raise PageError(f"line {number}: the fence is not closed")
        language, *words = shlex.split(opening["info"]) or [""]
        options = {name: value for name, _, value in (word.partition("=") for word in words)}
        yield Block(language, options, number, "\n".join(body) + "\n")


@final
@dataclass(slots=True)
class Page:
    """A page while it runs.

    Attributes:
        name: How messages call it.
        namespace: The names that its Python blocks share.
    """

    name: str
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    _mxnet: list[str] = field(default_factory=list)

    def run(self, block: Block) -> None:
        """Run one block as its language asks.

        Raises:
            PageError: It fails, or it is of a language that pages do not have.
        """
        if "title" in block.options:
            file = Path(block.options["title"])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            return
        run = _RUNNERS.get(block.language)
        if run is None:
            known = ", ".join(filter(None, _RUNNERS))
            raise PageError(f"language {block.language!r} is unknown, expected one of {known}, or none")
        run(self, block)

    def python(self, block: Block) -> None:
        """Execute a block, or its examples."""
        if "mxnet" in block.options:
            self._python_of_mxnet(block)
        elif block.text.startswith(">>> "):
            self._examples(block)
        else:
            source = "\n" * block.line + block.text  # so that line numbers are the page's
            name = f"<{self.name} line {block.line}>"
            # What reads a function's source, as mappers do, looks here.
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            exec(compile(source, name, "exec"), self.namespace)  # noqa: S102 - this is the point

    def _examples(self, block: Block) -> None:
        parsed = doctest.DocTestParser().get_doctest(block.text, {}, self.name, self.name, block.line)
        parsed.globs = self.namespace
        if doctest.DocTestRunner(optionflags=_FLAGS).run(parsed, clear_globs=False).failed:
            raise PageError("the examples above do not hold")

    def _python_of_mxnet(self, block: Block) -> None:
        self._mxnet.append(block.text)
        compile(block.text, self.name, "exec")
        interpreter = os.environ.get("MXNET_PYTHON")
        if interpreter:
            _checked([interpreter, "-W", "ignore", "-c", "\n".join(self._mxnet)])

    def sh(self, block: Block) -> None:
        """Run a block's commands, or only read them."""
        if block.options.get("no-run"):
            _checked(["bash", "-n", "-c", block.text])
            return
        _bash(f"set -o pipefail\n{block.text}")

    def console(self, block: Block) -> None:
        """Run each command and compare what it prints."""
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, wanted = part.partition("\n")
            printed = _bash(command)
            if not doctest.OutputChecker().check_output(wanted, printed, _FLAGS):
                raise PageError(f"$ {command}\nexpected:\n{wanted}\ngot:\n{printed}")


def _bash(commands: str) -> str:
    """Run the commands and return their output; this process follows their change of folder."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        script = f"trap 'pwd -P > {shlex.quote(str(folder))}' EXIT\n{commands}"
        printed = _checked(["bash", "-eu", "-c", script])
        os.chdir(folder.read_text().rstrip("\n"))
    return printed


def _checked(command: list[str]) -> str:
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise PageError(f"{command[-1]}\nexited with {done.returncode}:\n{done.stdout}")
    return done.stdout


_RUNNERS: Final[dict[str, Callable[[Page, Block], object]]] = {
    "python": Page.python,
    "sh": Page.sh,
    "console": Page.console,
    "toml": lambda page, block: tomllib.loads(block.text),
    "json": lambda page, block: json.loads(block.text),
    "cpp": lambda page, block: None,
    "text": lambda page, block: None,
    "": lambda page, block: None,
}


def run_page(file: Path) -> None:
    """Run every block of a page.

    Raises:
        PageError: One of them fails; the message begins with the page and the line.
    """
    page = Page(file.name)
    for block in read_blocks(file.read_text(encoding="utf-8")):
        try:
            page.run(block)
        except Exception as error:
            raise PageError(f"{file}, line {block.line}: {error}") from error


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
