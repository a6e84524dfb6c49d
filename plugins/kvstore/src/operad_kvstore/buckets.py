"""Buckets: many small arrays sent as one.

A message costs about the same whatever its size up to some megabytes, so a store with a transport sends flat
buckets rather than keys. Larger priorities come first. A bucket is closed once it holds `TARGET_BYTES`. No
array is cut, so a large one is summed and stored where it arrives, without a copy that joins its parts. All
workers plan the same buckets from the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad import NDArray, nd
from operad.errors import ParamError
from operad_kvstore.keys import Key

TARGET_BYTES: Final = 4 << 20
POOLED_BYTES: Final = 1 << 16
LEAST_ELEMENTS_CUT: Final = 1_000_000
"""Arrays of more elements are spread over all shards; others stay whole."""


@final
class Sized(NamedTuple):
    """Array in the planning of buckets.

    Attributes:
        key: Of the array.
        num_elements: Its size.
        dtype: Its element type.
        priority: Larger ones are sent first.
    """

    key: Key
    num_elements: int
    dtype: np.dtype[Any]
    priority: int = 0


@final
class Piece(NamedTuple):
    """An array, whose elements stand in the bucket from `offset` on."""

    key: Key
    num_elements: int
    offset: int

    @property
    def span(self) -> slice:
        """Slice of the bucket that the array takes."""
        return slice(self.offset, self.offset + self.num_elements)


@final
class Bucket(NamedTuple):
    """Pieces of arrays of one element type, one after another.

    Attributes:
        dtype: The element type.
        num_elements: Length of the bucket.
        pieces: In the order in which they stand there.
    """

    dtype: np.dtype[Any]
    num_elements: int
    pieces: tuple[Piece, ...]


def plan_buckets(arrays: Sequence[Sized]) -> list[Bucket]:
    """Buckets for arrays, those of larger priority first; the given order decides among equals."""
    done: list[Bucket] = []
    filling: dict[np.dtype[Any], list[Piece]] = {}
    for array in sorted(arrays, key=lambda array: -array.priority):
        pieces = filling.setdefault(array.dtype, [])
        pieces.append(Piece(array.key, array.num_elements, _length(pieces)))
        if _length(pieces) * array.dtype.itemsize >= TARGET_BYTES:
            done.append(_closed(array.dtype, filling.pop(array.dtype)))
    return done + [_closed(dtype, pieces) for dtype, pieces in filling.items()]


def cut_into_shards(num_elements: int, num_shards: int) -> list[slice]:
    """Slices of an array that is spread over shards: one for each shard that gets a part.

    Raises:
        ParamError: There are no shards.
    """
    if num_shards < 1:
        raise ParamError(f"cut_into_shards: num_shards is {num_shards}, expected at least 1")
    if num_elements <= LEAST_ELEMENTS_CUT:
        return [slice(0, num_elements)]
    edges = [num_elements * shard // num_shards for shard in range(num_shards + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def pack(bucket: Bucket, arrays: Mapping[Key, NDArray], flat: NDArray) -> None:
    """Copy the pieces of arrays into the flat array of a bucket. Waits for nothing."""
    for piece in bucket.pieces:
        flat[piece.span] = _flat(arrays[piece.key])


def packed_soon(bucket: Bucket, arrays: Mapping[Key, NDArray]) -> NDArray:
    """Values of a bucket, once the engine has them."""
    flat = nd.empty(bucket.num_elements, dtype=bucket.dtype)
    pack(bucket, arrays, flat)
    return flat


def packed_now(bucket: Bucket, arrays: Mapping[Key, NDArray]) -> np.ndarray[Any, Any]:
    """Values of a bucket, without operations of the engine: waits for those of its arrays."""
    # Long memory comes from the engine's pool, as the system clears new pages; short is sooner had without.
    length, dtype = bucket.num_elements, bucket.dtype
    is_short = length * dtype.itemsize < POOLED_BYTES
    values = np.empty(length, dtype) if is_short else np.from_dlpack(nd.empty(length, dtype=dtype))
    for piece in bucket.pieces:
        values[piece.span] = np.from_dlpack(arrays[piece.key]).reshape(-1)
    return values


def unpack(bucket: Bucket, flat: NDArray, arrays: Mapping[Key, NDArray]) -> None:
    """Copy the flat array of a bucket into the pieces of arrays. Waits for nothing.

    Args:
        bucket: Says what stands where.
        flat: What was packed.
        arrays: Contiguous ones, as those are that a store has made.
    """
    for piece in bucket.pieces:
        _flat(arrays[piece.key])[:] = flat[piece.span]


def _flat(array: NDArray) -> NDArray:
    return array.reshape((-1,)) if array.size else array.reshape((0,))


def _length(pieces: Sequence[Piece]) -> int:
    return pieces[-1].span.stop if pieces else 0


def _closed(dtype: np.dtype[Any], pieces: Sequence[Piece]) -> Bucket:
    return Bucket(dtype, _length(pieces), tuple(pieces))
