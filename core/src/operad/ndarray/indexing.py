"""NumPy-style indexing of arrays.

Basic indices (integers, slices, `...`, None) give views that share memory and engine variable.
Index arrays and masks give copies. While the array is being recorded, reading goes through
operators instead, so that gradients flow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from operad.errors import BindError, IndexOutOfRangeError
from operad.imperative import Array, copy_into, execute, is_recording, spec_of
from operad.ndarray.arithmetic import invoke

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray


_BASIC: Final = frozenset({int, slice, type(Ellipsis), type(None)})
_IMMUTABLE: Final = (int, slice, float, complex, str, bytes, np.generic)


def get_item(array: NDArray, key: Any) -> NDArray:
    """`array[key]`.

    Raises:
        IndexOutOfRangeError: An index lies outside its axis, or there are too many.
    """
    if key.__class__ not in _BASIC:
        key = _plain_key(key)
        if not _is_basic(key):
            return _gathered(array, key)
    if array._is_recorded:
        return _recorded_slice(array, key)
    try:
        view = array._data[key if isinstance(key, tuple) else (key,)]
    except IndexError as error:
        raise IndexOutOfRangeError(
            f"cannot index an array of shape {array.shape} with {key!r}: {error}"
        ) from error
    if not isinstance(view, type(array._data)):  # a full integer index gives a NumPy scalar
        view = array._data[(*key, ...)] if isinstance(key, tuple) else array._data[key, ...]
    return array._view(view)


def set_item(array: NDArray, key: Any, value: Any) -> None:
    """`array[key] = value`; the value is cast and broadcast.

    Raises:
        BindError: The array is being recorded, or the value does not fit.
        IndexOutOfRangeError: An index lies outside its axis.
    """
    _refuse_recorded(array, value)
    key = _plain_key(key)
    if _is_basic(key):
        target = get_item(array, key)
        source = value if _is_array(value) else array._like(value, dtype=array.dtype)
        copy_into(target, _fitted(source, target.shape))
        return
    source = value.as_in_context(array.ctx) if _is_array(value) else array._like(value, dtype=array.dtype)
    const = () if source._chunk is array._chunk else (source._chunk.var,)
    args = (array._data, key, _fitted(source, _index_shape(array, key))._data)
    execute(_scatter, args, array.ctx, const, (array._chunk.var,), "_scatter_set_nd", reads_mutable=True)


def _is_array(value: object) -> TypeGuard[NDArray]:
    return isinstance(value, Array)


def _refuse_recorded(array: NDArray, value: object) -> None:
    if not is_recording():
        return
    if array._autograd is not None:
        raise BindError(
            "assignment into an array that is being recorded would corrupt its gradient; "
            "do it under autograd.pause()"
        )
    if _is_array(value) and value._autograd is not None:
        raise BindError(
            "assignment of an array that is being recorded would lose its gradient; build the result "
            "with operators (concat, stack, where), or assign value.detach()"
        )


def _scatter(target: Any, key: Any, value: Any) -> None:
    target[key] = value


def _plain_key(key: Any) -> Any:
    """`key` as NumPy takes it, in memory of its own: the engine may use it after the caller changed it."""
    if isinstance(key, tuple):
        return tuple(_plain_key(item) for item in key)
    if _is_array(key):
        return _whole_numbers(key.asnumpy())
    if isinstance(key, list):
        return np.array(key) if key else np.empty(0, np.intp)
    if isinstance(key, np.integer):
        return int(key)
    if isinstance(key, _IMMUTABLE) or key is None or key is Ellipsis:
        return key
    return np.array(key)


def _whole_numbers(indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Indices as integers or a mask; MXNet takes floats too, its default type."""
    if indices.dtype.kind in "iub":
        return indices
    wrong = indices[np.trunc(indices) != indices]
    if wrong.size:
        raise IndexOutOfRangeError(
            f"an index is {wrong[0]}, expected a whole number; for a mask use dtype='bool'"
        )
    return indices.astype(np.int64)


def _is_basic(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, slice)
        or (isinstance(part, int) and not isinstance(part, bool))
        for part in parts
    )  # fmt: skip


def _index_shape(array: NDArray, key: Any) -> tuple[int, ...]:
    probe = np.broadcast_to(np.empty((), np.bool_), array.shape)
    try:
        return np.shape(probe[key])
    except IndexError as error:
        raise IndexOutOfRangeError(
            f"cannot index an array of shape {array.shape} with {key!r}: {error}"
        ) from error


def _fitted(source: NDArray, target: tuple[int, ...]) -> NDArray:
    """`source`, without leading axes of length 1 that `target` lacks, so that it broadcasts to it."""
    extra = max(source.ndim - len(target), 0)
    shape = source.shape[extra:]
    try:
        fits = source.shape[:extra] == (1,) * extra and np.broadcast_shapes(shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        raise BindError(f"cannot assign a value of shape {source.shape} to a selection of shape {target}")
    return source._view(source._data.reshape(shape)) if extra else source


def _gathered(array: NDArray, key: Any) -> NDArray:
    if array._is_recorded:
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            _index_shape(array, key)
            # `take` clips, so what is out of range was refused, and negative indices are counted here.
            rows = np.where(key < 0, key + array.shape[0], key)
            return invoke("take", (array, array._like(rows, dtype=key.dtype)), {"axis": 0, "mode": "clip"})
        raise BindError(
            "indexing with masks or several index arrays is not recorded; use take, pick or gather_nd"
        )
    out = array._new(spec_of(_index_shape(array, key), array.dtype, array.ctx))
    execute(
        _gather, (out._data, array._data, key), array.ctx, (array._chunk.var,), (out._chunk.var,), "gather_nd"
    )
    return out


def _gather(out: Any, data: Any, key: Any) -> None:
    out[...] = data[key]


def _recorded_slice(array: NDArray, key: Any) -> NDArray:
    """`array[key]` by the operators `slice` and `Reshape`."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        given = sum(part is not None and part is not Ellipsis for part in parts)
        parts[at : at + 1] = [slice(None)] * (array.ndim - given)
    axes = [part for part in parts if part is not None]
    shape = iter(_index_shape(array, key))
    slices = [slice(p, p + 1 or None) if isinstance(p, int) else p for p in axes]
    result: NDArray = array
    if any(part != slice(None) for part in slices):
        begin, end, step = (tuple(getattr(part, end) for part in slices) for end in ("start", "stop", "step"))
        result = invoke("slice", (array,), {"begin": begin, "end": end, "step": step})
    target = tuple(shape)
    return result if result.shape == target else result.reshape(target)
