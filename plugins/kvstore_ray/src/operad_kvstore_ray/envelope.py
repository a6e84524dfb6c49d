"""How calls of a server and its answers travel: short ones as bytes, long ones as objects.

What is short is written as a picture (`kvstore.pictures`) and goes through a connection, or as bytes through
Ray, which carries those as they are: anything else it describes and pickles, each argument for itself. What
is long goes to Ray's object store in one piece, and its arrays are read there in place.
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
    """What travels of a call, for `opened`.

    Args:
        call: What comes with the message.
        message: As `operad.kvstore.Server.handle` takes it; or nothing.
        is_plain: Whether `call` is made of numbers, text, and tuples and dictionaries of them.
        most: So many bytes of arrays are short.
    Returns:
        A list of buffers, which are short; or a tuple.
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
    """The call, and behind it the message.

    Args:
        travelled: A tuple; or buffers as one, of which nobody else has the memory.
    """
    if isinstance(travelled, tuple):
        return travelled
    *call, message = _PICTURES.from_bytes(travelled, _FROM_WORKER, in_place=True)
    if message and message[0] == "push":
        message = "push", [_packet(*described) for described in message[1]]
    return *call, message


def sealed_answer(*answer: Any) -> list[Any]:
    """What travels of an answer, for `opened_answer`: of numbers, text, and dictionaries of short arrays."""
    parts: list[Any] = _PICTURES.to_parts(answer)
    return parts


def opened_answer(travelled: Any) -> Any:
    """The answer; see `opened`."""
    if isinstance(travelled, tuple):
        return travelled
    return _PICTURES.from_bytes(travelled, _FROM_SERVER, in_place=True)


def whole(sealed: Sequence[Any]) -> Any:
    """What Ray carries of what is `sealed`, a call or an answer."""
    return b"".join(sealed) if isinstance(sealed, list) else sealed


def _described(packet: Any) -> tuple[Any, ...]:
    dtype, num_elements, pieces = packet.bucket
    return dtype.name, num_elements, pieces, *packet[1:]


def _packet(dtype: str, num_elements: int, pieces: Any, *more: Any) -> Any:
    bucket = od.kvstore.Bucket(np.dtype(dtype), num_elements, tuple(od.kvstore.Piece(*one) for one in pieces))
    return od.kvstore.Packet(bucket, *more)
