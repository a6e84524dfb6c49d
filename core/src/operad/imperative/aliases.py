"""Results that a recorded call wrote into memory which other arrays see too.

A result is recorded for the array that it was written to (`out=b`, `b += a`, `b[:] = a`). Another array over
the same memory, such as a view made before, sees the values, and the tape does not know it: used in a
recorded call it would count as a constant, and the gradient would silently be lost. So the write leaves a
note on the chunk, and such an array is refused. Arrays that were detached on purpose are not.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, final

from operad.errors import BindError

if TYPE_CHECKING:
    from operad.imperative.array import Array

_note_of: Final = attrgetter("_chunk.note")


@final
class Note:
    """Note that the contents which a chunk had at one version are the recorded value of one array."""

    __slots__ = ("_detached", "_version")

    def __init__(self, version: int) -> None:
        self._version = version
        self._detached: list[weakref.ref[Array]] = []

    def detach(self, array: Array) -> None:
        """`array` was detached on purpose, and counts as a constant."""
        self._detached = [ref for ref in self._detached if ref() is not None]
        self._detached.append(weakref.ref(array))

    def concerns(self, array: Array) -> bool:
        """Return whether `array`, over this chunk, hides from the tape what it depends on."""
        if array._autograd is not None or array._chunk.var.version != self._version:
            return False
        return not any(ref() is array for ref in self._detached)


def note_written(array: Array) -> None:
    """Leave the note, after a recorded call wrote to memory that other arrays may share."""
    if array._autograd is not None:
        array._chunk.note = Note(array._chunk.var.version)


def refuse_aliases(doing: str, arrays: Sequence[Array]) -> None:
    """Raise BindError if the tape would take one of `arrays` for a constant although it is none."""
    if any(map(_note_of, arrays)):
        for array in arrays:
            note: Note | None = array._chunk.note
            if note is not None and note.concerns(array):
                raise BindError(
                    f"{doing}: an array of shape {array.shape} shares memory with another one that a "
                    "recorded result was written to, so its gradient would be lost; use that array itself, "
                    "or detach() where it is to count as a constant"
                )
