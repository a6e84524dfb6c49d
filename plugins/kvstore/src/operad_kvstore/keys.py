"""Keys of a store, and the arguments of its calls sorted by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, ShapeError

Key = int | str
Entry = TypeVar("Entry")

_WORDS: Final = {int: "an integer", str: "a string"}


@final
class Remote(NamedTuple):
    """Shape and type of a key's value, as a worker knows them.

    Attributes:
        shape: Of its value.
        dtype: Likewise.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@final
class KeyTable(Generic[Entry]):
    """Table of a store's keys, with one entry per key.

    Keys are integers, or strings; the first one decides for the life of the store.
    """

    def __init__(self) -> None:
        self._entries: dict[Key, Entry] = {}
        self._kind: type[Key] | None = None

    def add(self, entries: Mapping[Key, Entry]) -> None:
        """Keep the entries of new keys, which `check_new` has passed."""
        for key, entry in entries.items():
            self._kind = type(key)
            self._entries[key] = entry

    def get(self, call: str, key: Key) -> Entry:
        """The entry of a key.

        Raises:
            ArgumentError: The key was never initialised.
        """
        if key not in self._entries:
            known = ", ".join(map(repr, self._entries)) or "none"
            raise ArgumentError(
                f"{call}: key {key!r} was never initialised (there are: {known}); call init first"
            )
        return self._entries[key]

    def items(self) -> Iterable[tuple[Key, Entry]]:
        """Every key with its entry, in the order in which they were added."""
        return self._entries.items()

    def __iter__(self) -> Iterator[Key]:
        """Every key, likewise."""
        return iter(self._entries)

    def check_new(self, call: str, keys: Sequence[Key]) -> None:
        """Pass keys that can be added.

        Raises:
            ArgumentError: One has been added before.
        """
        for key in keys:
            if key in self._entries:
                raise ArgumentError(f"{call}: key {key!r} is initialised already; push changes its value")

    def grouped(self, call: str, what: str, key: object, arrays: object) -> dict[Key, list[NDArray]]:
        """The arrays of each key, in the order in which the keys are first named.

        Args:
            call: The store's function, for messages.
            what: The argument that `arrays` is, for messages.
            key: A key, or a list of keys, in which some may be repeated.
            arrays: For a key an array or a list of arrays; for a list of keys a list of as many of these.
        Raises:
            ArgumentError: They are something else, or the key is of another kind than the store's.
        """
        found: dict[Key, list[NDArray]] = {}
        kind = self._kind
        for one, value in _paired(call, what, key, arrays):
            valid = _key(call, one)
            if kind is not None and not isinstance(valid, kind):
                raise ArgumentError(
                    f"{call}: key {valid!r} is {_WORDS[type(valid)]}, "
                    f"expected {_WORDS[kind]} like the store's other keys"
                )
            kind = type(valid)
            found.setdefault(valid, []).extend(_arrays(call, what, valid, value))
        return found


def check_shapes(call: str, key: Key, arrays: Sequence[NDArray], shape: tuple[int, ...]) -> None:
    """Pass arrays of the shape that a key's value has.

    Raises:
        ShapeError: One has another.
    """
    for array in arrays:
        if array.shape != shape:
            raise ShapeError(f"{call}: key {key!r} has shape {shape}, got an array of shape {array.shape}")


def _paired(call: str, what: str, key: object, arrays: object) -> list[tuple[Any, Any]]:
    if not isinstance(key, (list, tuple)):
        return [(key, arrays)]
    if not isinstance(arrays, (list, tuple)) or len(arrays) != len(key):
        got = f"{len(arrays)}" if isinstance(arrays, (list, tuple)) else f"{type(arrays).__name__}"
        raise ArgumentError(f"{call}: there are {len(key)} keys; {what} needs a list of as many, got {got}")
    return list(zip(key, arrays, strict=True))


def _key(call: str, given: object) -> Key:
    if isinstance(given, str):
        return given
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return int(given)
    raise ArgumentError(
        f"{call}: the key {given!r} is {type(given).__name__}, expected an integer or a string"
    )


def _arrays(call: str, what: str, key: Key, value: object) -> list[NDArray]:
    several: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    if not several:
        raise ArgumentError(f"{call}: {what} of key {key!r} is an empty list, expected at least one NDArray")
    for array in several:
        if not isinstance(array, NDArray):
            raise ArgumentError(
                f"{call}: {what} of key {key!r} is {type(array).__name__}, "
                "expected an NDArray or a list of them"
            )
    return several
