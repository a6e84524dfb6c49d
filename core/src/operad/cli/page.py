"""Page that a result is shown on: rich tables on a terminal, plain aligned text in a pipe.

Plain text is never wrapped, cut or coloured, so that `grep` and `awk` see every word. rich is
imported only where there is a terminal to show it on.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, final

import click

if TYPE_CHECKING:
    from rich.text import Text

Tone = Literal["plain", "good", "bad", "odd", "quiet", "name"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STYLES: Final = {
    "plain": "", "good": "green", "bad": "bold red", "odd": "yellow", "quiet": "dim", "name": "bold cyan"
}  # fmt: skip


@final
class Mark(NamedTuple):
    """Text with a tone, which a terminal shows as a colour."""

    text: str
    tone: Tone


Cell = str | Mark


class Page(ABC):
    """Takes a result piece by piece, from top to bottom."""

    @abstractmethod
    def heading(self, text: str) -> None:
        """Begin a section."""

    @abstractmethod
    def text(self, text: Cell) -> None:
        """Show a paragraph; it may have several lines."""

    @abstractmethod
    def code(self, text: str) -> None:
        """Show lines of a program, each as one line, so that what is copied runs."""

    @abstractmethod
    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Show rows under column names; nothing where there are no rows."""

    @abstractmethod
    def pairs(self, rows: Sequence[tuple[str, Cell]]) -> None:
        """Show names and what they stand for, one below the other."""


@final
class PlainPage(Page):
    """Aligned columns on standard output."""

    def __init__(self) -> None:
        self._is_empty = True

    def heading(self, text: str) -> None:
        """Begin a section after an empty line."""
        if not self._is_empty:
            click.echo()
        self._write(text)

    def text(self, text: Cell) -> None:
        """Write the text."""
        self._write(_plain(text))

    def code(self, text: str) -> None:
        """Write the lines."""
        self._write(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write the column names and the rows, aligned."""
        if rows:
            self._aligned([columns, *rows])

    def pairs(self, rows: Sequence[tuple[str, Cell]]) -> None:
        """Write one line per pair, aligned."""
        if rows:
            self._aligned([(f"{name}:", value) for name, value in rows])

    def _aligned(self, rows: Sequence[Sequence[Cell]]) -> None:
        lines = [[_plain(cell).replace("\n", " ") for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            self._write("  ".join(map(str.ljust, line, widths)).rstrip())

    def _write(self, text: str) -> None:
        self._is_empty = False
        click.echo(visible(text))


@final
class RichPage(Page):
    """Tables and colours on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - 40 ms that a pipe need not pay

        self._console = Console(highlight=False)

    def heading(self, text: str) -> None:
        """Begin a section with a bold line."""
        self._console.print()
        self._console.print(_styled(text), style="bold")

    def text(self, text: Cell) -> None:
        """Print the text, wrapped at the terminal's width."""
        self._console.print(_styled(text))

    def code(self, text: str) -> None:
        """Print the lines; one that is too long for the terminal is the terminal's to break."""
        self._console.print(_styled(text), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Print a table with a line under its column names."""
        from rich import box  # noqa: PLC0415 - see __init__
        from rich.table import Table  # noqa: PLC0415 - see __init__

        if not rows:
            return
        table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*map(_styled, row))
        self._console.print(table)

    def pairs(self, rows: Sequence[tuple[str, Cell]]) -> None:
        """Print a table of two columns without names."""
        from rich.table import Table  # noqa: PLC0415 - see __init__

        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(overflow="fold")  # a path that is too long is broken, not cut
        for name, value in rows:
            table.add_row(_styled(Mark(name, "quiet")), _styled(value))
        self._console.print(table)


def page() -> Page:
    """The page for standard output as it is: a terminal's or a pipe's."""
    return RichPage() if sys.stdout.isatty() else PlainPage()


def visible(text: str) -> str:
    """The text with control characters spelt out, so that a distribution's name cannot steer a terminal."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def _plain(cell: Cell) -> str:
    return visible(cell.text if isinstance(cell, Mark) else cell)


def _styled(cell: Cell) -> Text:
    from rich.text import Text  # noqa: PLC0415 - see RichPage

    # Text, not a string: brackets in a shape or a message are no markup.
    if isinstance(cell, Mark):
        return Text(visible(cell.text), style=_STYLES[cell.tone])
    return Text(visible(cell))
