"""Packets: the parts of several arrays that one message carries.

A packet is a bucket that may be compressed. Its payload is then the words of one piece after another,
and each piece's words are those of `TwoBit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, final

import numpy as np

from operad import NDArray, cpu, current_context, nd
from operad_kvstore.buckets import Bucket, Piece
from operad_kvstore.compression import TwoBit, num_words
from operad_kvstore.keys import Key

Array = np.ndarray[Any, Any]


@final
class Packet(NamedTuple):
    """Pieces of arrays of one element type.

    Attributes:
        bucket: Says what stands where.
        payload: The values, one-dimensional; or words of 16 values each.
        threshold: Of compressed values; else None.
        home: The number of the server that stores the keys.
        clocks: By key the number of the round that this push belongs to; None where rounds have no numbers.
    """

    bucket: Bucket
    payload: Array
    threshold: float | None = None
    home: int = 0
    clocks: Mapping[Key, int] | None = None

    def is_after(self, round_number: int, key: Key) -> bool:
        """Return whether the packet belongs to a later round of a key than the given one.

        It does not if a process was killed between its messages to two servers, and another repeats them.
        """
        return self.clocks is None or self.clocks[key] > round_number

    def parts(self) -> Iterator[tuple[Piece, Array]]:
        """Each piece with its values, decompressed."""
        if self.threshold is None:
            for piece in self.bucket.pieces:
                yield piece, self.payload[piece.span]
            return
        codec, start = TwoBit(self.threshold), 0
        for piece in self.bucket.pieces:
            stop = start + num_words(piece.num_elements)
            yield piece, codec.decode(self.payload[start:stop], piece.num_elements)
            start = stop


def as_ndarray(array: Array, *, is_source: bool = False) -> NDArray:
    """An NDArray over the memory of an array without other owners; a copy of one that must not be written.

    Args:
        array: Its memory is taken.
        is_source: Nothing will write to what is returned, so a read-only array is not copied either.
    """
    if (array.flags.writeable or is_source) and array.flags.c_contiguous:
        default = current_context()
        [made] = nd.over([array], cpu() if default.is_gpu else default)
        assert made is not None
        return made
    return nd.array(array, dtype=array.dtype)


def compressed(bucket: Bucket, flat: Array, residuals: Mapping[Key, Array], codec: TwoBit) -> Array:
    """The words of a bucket.

    Args:
        bucket: Says what stands where.
        flat: Its values, float32.
        residuals: What was not sent, by key; one-dimensional, and updated.
        codec: What makes words of values.
    """
    words = [codec.encode(flat[piece.span], residuals[piece.key]) for piece in bucket.pieces]
    return np.concatenate(words)
