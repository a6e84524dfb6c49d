"""Tools of training loops: batches over contexts, norms of gradients, files.

Source: python/mxnet/gluon/utils.py. Differs: nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad import Context, NDArray
from operad.errors import UnsupportedError
from operad_gluon.block.hooks import HookHandle as HookHandle
from operad_gluon.errors import BlockValueError, ParameterError
from operad_gluon.parameter import shape_is_known as shape_is_known

_PIECE_BYTES = 1 << 20


def split_data(data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[NDArray]:
    """Split a batch into slices.

    >>> import operad as od
    >>> [part.shape for part in od.gluon.utils.split_data(od.nd.zeros((5, 2)), 2, even_split=False)]
    [(3, 2), (2, 2)]

    Args:
        data: The batch.
        num_slice: Number of slices.
        batch_axis: The axis to split.
        even_split: Whether slices that are not of one length are refused.
    Raises:
        ValueError: The batch cannot be split evenly.
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise BlockValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along axis "
            f"{batch_axis}. "
            f"Use a batch size that's multiple of {num_slice} or set even_split=False to allow uneven "
            "partitioning of data."
        )
    step, longer = divmod(size, num_slice)
    begins = [step * i + min(i, longer) for i in range(num_slice + 1)]
    # Not `slice_axis`, which takes no slice of length 0.
    whole = (slice(None),) * (batch_axis % data.ndim)
    return [data[(*whole, slice(begin, end))] for begin, end in pairwise(begins)]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Split a batch into a slice for each context, and move them there."""
    if not isinstance(data, NDArray):
        data = od.nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [one.as_in_context(ctx) for one, ctx in zip(slices, ctx_list, strict=False)]


def clip_global_norm(arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scale arrays so that the norm of all together is `max_norm` at most.

    Args:
        arrays: The arrays, written in place.
        max_norm: The largest norm.
        check_isfinite: Whether to wait for the norm, warn where it is not finite, and return a number.
    Returns:
        The norm before, as a number; or as an array where it is not waited for.
    """
    if not arrays:
        raise ParameterError("clip_global_norm: there is no array")
    ctx = arrays[0].context
    squares = [od.nd.sum(od.nd.square(x.astype("float32", copy=False))).as_in_context(ctx) for x in arrays]
    norm = od.nd.sqrt(od.nd.add_n(*squares))
    if check_isfinite and not np.isfinite(norm.asscalar()):
        warnings.warn("nan or inf is detected. Clipping results will be undefined.", stacklevel=2)
    scale = od.nd.minimum(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        factor = scale.as_in_context(array.context).astype(array.dtype, copy=False)
        array[:] = od.nd.broadcast_mul(array, factor.reshape((1,) * array.ndim))
    return norm.asscalar() if check_isfinite else norm


def check_sha1(filename: str, sha1_hash: str) -> bool:
    """Return whether a file has this SHA-1 digest; some digits of its beginning are enough."""
    digest = hashlib.sha1(usedforsecurity=False)
    with open(filename, "rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    length = min(len(digest.hexdigest()), len(sha1_hash))
    return digest.hexdigest()[:length] == sha1_hash[:length]


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """The path of a file that is there; nothing is downloaded.

    Args:
        url: Address whose last part names the file.
        path: The file, or its folder; the current folder by default.
        overwrite: Taken and not used, as are `retries` and `verify_ssl`.
        sha1_hash: Digest that the file must have, or None.
    Raises:
        UnsupportedError: The file is not there, or has another digest; the message says where to put it.
    """
    name = url.rsplit("/", maxsplit=1)[-1]
    if not name:
        raise BlockValueError(f"download: the address {url!r} names no file; pass path=")
    place = Path(name if path is None else path).expanduser()
    if place.is_dir():
        place /= name
    found = str(place)
    if not place.exists():
        raise UnsupportedError(
            f"download: nothing is downloaded here; fetch {url} yourself, and put it at {place.resolve()}"
        )
    if sha1_hash and not check_sha1(found, sha1_hash):
        raise UnsupportedError(
            f"download: {place.resolve()} has not the digest {sha1_hash}; fetch {url} again, and replace "
            "the file"
        )
    return found


def replace_file(src: str, dst: str) -> None:
    """Move a file onto another one, at once."""
    os.replace(src, dst)
