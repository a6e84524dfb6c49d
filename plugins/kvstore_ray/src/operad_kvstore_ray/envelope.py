"""How calls of a server and its answers travel: short ones as bytes, long ones as objects.

Ray carries bytes as they are. Anything else it describes and pickles, each argument for itself: 0.3 to 0.6 ms
for one way to the server and back. So what is short is written as a picture (`kvstore.pictures`), which takes
0.02 ms. What is long goes to Ray's object store in one piece, and its arrays are read there in place.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import operad as od

SHORT_BYTES: Final = 1 << 16
_PLAIN: Final = frozenset({"", "push", "barrier", "note", "enter"})
_FROM_WORKER, _FROM_SERVER = "a worker's message", "a server's answer"


def sealed(*call: Any, message: tuple[Any, ...], is_plain: bool = True) -> Any:
    """What travels of a call, for `opened`.

    Args:
        call: What comes with the message.
        message: As `operad.kvstore.Server.handle` takes it; or nothing.
        is_plain: Whether `call` is made of numbers, text, and tuples and dictionaries of them.
    """
    what = message[0] if message else ""
    if not is_plain or what not in _PLAIN:
        return (*call, message)
    if what == "push":
        if sum(packet.payload.nbytes for packet in message[1]) > SHORT_BYTES:
            return (*call, message)
        message = what, [_described(packet) for packet in message[1]]
    return od.kvstore.pictures.to_bytes((*call, message))


def opened(travelled: Any) -> tuple[Any, ...]:
    """The call, and behind it the message."""
    if not isinstance(travelled, bytes):
        return tuple(travelled)
    *call, message = od.kvstore.pictures.from_bytes(travelled, _FROM_WORKER)
    if message and message[0] == "push":
        message = "push", [_packet(*described) for described in message[1]]
    return *call, message


def sealed_answer(*answer: Any) -> Any:
    """What travels of an answer, for `opened_answer`: of numbers, text, and dictionaries of short arrays."""
    return od.kvstore.pictures.to_bytes(answer)


def opened_answer(travelled: Any) -> Any:
    """The answer."""
    if not isinstance(travelled, bytes):
        return travelled
    return od.kvstore.pictures.from_bytes(travelled, _FROM_SERVER)


def _described(packet: Any) -> tuple[Any, ...]:
    dtype, num_elements, pieces = packet.bucket
    return dtype.name, num_elements, pieces, *packet[1:]


def _packet(dtype: str, num_elements: int, pieces: Any, *more: Any) -> Any:
    bucket = od.kvstore.Bucket(np.dtype(dtype), num_elements, tuple(od.kvstore.Piece(*one) for one in pieces))
    return od.kvstore.Packet(bucket, *more)
