"""Transport form of a server's calls and answers: short ones as bytes, long ones as objects.

A short call is written as a picture (`kvstore.pictures`) and goes through a connection, or as bytes through
Ray. Ray carries bytes as they are, but describes and pickles anything else, each argument for itself. A
long call goes to Ray's object store in one piece, and its arrays are read there in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import operad as od

CONNECTION_BYTES: Final = 8 << 20
"""So many go through a connection."""
RAY_BYTES: Final = 1 << 16
"""So many go through Ray as bytes, where there is no connection."""
_PLAIN: Final = frozenset({"", "push", "barrier", "note", "enter"})
_PICTURES: Final[Any] = od.kvstore.pictures  # found once, and not for each message
_FROM_WORKER, _FROM_SERVER = "a worker's message", "a server's answer"


def sealed(*call: Any, message: tuple[Any, ...], is_plain: bool = True, most: int = RAY_BYTES) -> Any:
    """Transport form of a call, for `opened`.

    Args:
        call: Arguments beside the message.
        message: As `operad.kvstore.Server.handle` takes it; or nothing.
        is_plain: Whether `call` is made of numbers, text, and tuples and dictionaries of them.
        most: Largest size of arrays in a short call, in bytes.
    Returns:
        A list of buffers for a short call, else a tuple.
    """
    what = message[0] if message else ""
    if not is_plain or what not in _PLAIN:
        return (*call, message)
    if what == "push":
        if sum(packet.payload.nbytes for packet in message[1]) > most:
            return (*call, message)
        message = what, [_described(packet) for packet in message[1]]
    return _PICTURES.to_parts((*call, message))


def opened(travelled: Any) -> tuple[Any, ...]:
    """The call, followed by the message.

    Args:
        travelled: A tuple; or buffers as one, whose memory has no other owner.
    """
    if isinstance(travelled, tuple):
        return travelled
    *call, message = _PICTURES.from_bytes(travelled, _FROM_WORKER, in_place=True)
    if message and message[0] == "push":
        message = "push", [_packet(*described) for described in message[1]]
    return *call, message


def sealed_answer(*answer: Any) -> list[Any]:
    """Transport form of an answer of numbers, text and dictionaries of short arrays, for `opened_answer`."""
    parts: list[Any] = _PICTURES.to_parts(answer)
    return parts


def opened_answer(travelled: Any) -> Any:
    """The answer; see `opened`."""
    if isinstance(travelled, tuple):
        return travelled
    return _PICTURES.from_bytes(travelled, _FROM_SERVER, in_place=True)


def whole(sealed: Sequence[Any]) -> Any:
    """Single object for Ray that holds a sealed call or answer."""
    return b"".join(sealed) if isinstance(sealed, list) else sealed


def _described(packet: Any) -> tuple[Any, ...]:
    dtype, num_elements, pieces = packet.bucket
    return dtype.name, num_elements, pieces, *packet[1:]


def _packet(dtype: str, num_elements: int, pieces: Any, *more: Any) -> Any:
    bucket = od.kvstore.Bucket(np.dtype(dtype), num_elements, tuple(od.kvstore.Piece(*one) for one in pieces))
    return od.kvstore.Packet(bucket, *more)
