"""Errors an author sees while an operator is being declared, and those of functions that it declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad.errors import OperadError


class DeclarationError(OperadError, TypeError):
    """An operator's declaration contradicts itself: a name, a signature or an option is wrong."""


class SpecError(OperadError, ValueError):
    """A line of the shape language cannot be read."""


class NoForm(str):
    """Reason why a part has no form.

    Attributes:
        line: File, number and text of the author's line that stopped the tracing, or "".
        cure: What would help, or "".
    """

    __slots__ = ("cure", "line")
    cure: str
    line: str

    def __new__(cls, reason: str, line: str = "", cure: str = "") -> NoForm:
        """The reason, with what is known beside it."""
        made = super().__new__(cls, reason)
        made.line, made.cure = line, cure
        return made

    def explained(self) -> str:
        """The reason in one line, with the author's line and the cure where they are known."""
        found = f"{self}, at {self.line}" if self.line else str(self)
        return f"{found}; {self.cure}" if self.cure else found


def call_declared(what: str, function: Callable[..., Any], *args: Any, gives: Any = object) -> Any:
    """Call a function that an author declared; what it raises bears its name.

    The contract checks know this frame: an exception out of it is the author's, though the function is in C,
    or does not take these arguments.

    Args:
        what: The function's name for a reader, as `Contract.shapes`.
        function: What was declared.
        args: What it is called with.
        gives: The type that its result has.

    Raises:
        TypeError: It gives something else.
        Exception: What it raises, with a note.
    """
    try:
        found = function(*args)
        if not isinstance(found, gives):
            raise TypeError(f"got {found!r}, expected {gives.__name__}")
    except Exception as error:
        error.add_note(f"in {what}, as it is declared")
        raise
    return found
