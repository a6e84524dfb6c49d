"""NumPy-style indexing of arrays.

Basic indices (integers, slices, `...`, None) give views that share memory and engine variable.
Index arrays and masks give copies. While the array is being recorded, reading goes through
operators instead, so that gradients flow.
"""

from __future__ import annotations

from operator import setitem
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from operad.errors import BindError, IndexOutOfRangeError, TraceError
from operad.imperative import (
    RECORDING,
    TRACING,
    Array,
    Marked,
    Provenance,
    copy_into,
    execute,
    fill_fast,
    local,
    note_written,
    refuse_aliases,
    refuse_lost,
    spec_of,
)
from operad.ndarray.arithmetic import invoke

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray


_BASIC: Final = frozenset({int, slice, type(Ellipsis), type(None)})
_EVERYTHING: Final = slice(None)
_IN_EVERY_TYPE: Final = 127
"""The largest number that every type of integers has, and `_IN_FLOATS` those of floating ones."""
_IN_FLOATS: Final = 1 << 11
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
    if local.state.mode >= RECORDING and array._is_recorded:
        return _recorded_slice(array, key)
    view = _selected(array._data, key if isinstance(key, tuple) else (key,))
    if not isinstance(view, type(array._data)):  # a full integer index gives a NumPy scalar
        view = array._data[(*key, ...)] if isinstance(key, tuple) else array._data[key, ...]
    if not view.shape and array.shape:  # one element has the shape (1,), as in MXNet 1.x
        view = view.reshape(1)
    return array._view(view)


def set_item(array: NDArray, key: Any, value: Any) -> None:
    """`array[key] = value`; the value is cast and broadcast.

    Raises:
        BindError: The value does not fit, or a gradient would be lost.
        IndexOutOfRangeError: An index lies outside its axis.
    """
    if (value.__class__ is float or value.__class__ is int) and key.__class__ in _BASIC:
        is_whole = key.__class__ is slice and key == _EVERYTHING
        if (is_whole or not array._is_recorded) and _is_filled(
            array if is_whole else get_item(array, key), value
        ):
            return
    key = _plain_key(key)
    if local.state.mode >= TRACING:
        local.state.trace.written(array)
    source = value if _is_array(value) else array._like(value)
    if local.state.mode >= RECORDING:
        if array._is_recorded or source._is_recorded:
            _recorded_assignment(array, key, source)
            return
        refuse_aliases("assignment", [array, source])
    if _is_basic(key):
        is_whole = (key is Ellipsis or (isinstance(key, slice) and key == _EVERYTHING)) and array.shape != ()
        target = array if is_whole else get_item(array, key)
        copy_into(target, _fitted(source, target.shape))
        return
    source = source.as_in_context(array.ctx)
    const = () if source._chunk is array._chunk else (source._chunk.var,)
    args = (array._data, key, _fitted(source, _index_shape(array, key))._data)
    execute(setitem, args, array.ctx, const, (array._chunk.var,), "_scatter_set_nd", reads_mutable=True)


def _is_filled(array: NDArray, value: float) -> bool:
    """Fill a small array at once, if that may be: with a number for which types do not matter."""
    spec = array._spec
    kinds = "f"
    if isinstance(value, int):
        kinds = "fiu" if 0 <= value <= _IN_EVERY_TYPE else "f" if abs(value) <= _IN_FLOATS else ""
    return spec.dtype.kind in kinds and spec.shape != () and fill_fast(array, value)


def _is_array(value: object) -> TypeGuard[NDArray]:
    return isinstance(value, Array)


def _recorded_assignment(array: NDArray, key: Any, source: NDArray) -> None:
    """`array[key] = source` by the operator `_slice_assign`, whose result `array` then is.

    The gradient of `source` is the part; that of what `array` was before is 0 there.
    """
    if isinstance(array._autograd and array._autograd[0], Marked):
        raise BindError(
            "assignment into an array that gradients are computed for would corrupt its gradient; "
            "do it under autograd.pause()"
        )
    if not _is_basic(key):
        raise _unrecorded(
            "assignment by masks or index arrays is not recorded, and would lose the gradient; build the "
            "result with operators (where, scatter_nd), or assign value.detach()"
        )
    refuse_lost("assignment", [array, source], [array])
    target = _index_shape(array, key)
    bounds, part = _bounds(array, key)
    source = source.as_in_context(array.ctx).astype(array.dtype, copy=False)
    result = invoke("_slice_assign", (array, _broadcast(source, target, part)), bounds)
    copy_into(array, result)
    array._autograd = result._autograd
    note_written(array)


def _unrecorded(message: str) -> BindError | TraceError:
    return (BindError if local.state.mode < TRACING else TraceError)(message)


def _broadcast(source: NDArray, target: tuple[int, ...], part: tuple[int, ...]) -> NDArray:
    """`source` broadcast to a selection's shape `target`, and then in the shape `part`, by operators."""
    extra = source.ndim - len(target)
    _check_fits(source, target)
    aligned = source.shape[extra:] if extra > 0 else (1,) * -extra + source.shape
    if source.shape != aligned:
        source = source.reshape(aligned)
    if aligned != target:
        source = invoke("broadcast_to", (source,), {"shape": target})
    return source if target == part else source.reshape(part)


def _plain_key(key: Any) -> Any:
    """`key` as NumPy takes it, in memory of its own: the engine may use it after the caller changed it."""
    if isinstance(key, tuple):
        return tuple(_plain_key(item) for item in key)
    if isinstance(key, np.integer):
        return int(key)
    if isinstance(key, _IMMUTABLE) or key is None or key is Ellipsis:
        return key
    if _is_array(key):
        indices = _whole_numbers(key)
    else:
        indices = np.empty(0, np.intp) if isinstance(key, list) and not key else np.array(key)
    # An index without axes is a number, and gives a view.
    return indices if indices.shape or indices.dtype.kind not in "iu" else int(indices)


def _whole_numbers(key: NDArray) -> np.ndarray[Any, Any]:
    """Indices as integers or a mask; MXNet takes floats too, its default type."""
    indices = key.asnumpy()
    if indices.dtype.kind == "b":
        return indices
    if key._has_provenance(Provenance.COMPARED) and ((indices == 0) | (indices == 1)).all():
        raise IndexOutOfRangeError(
            f"an index is the result of a comparison, {indices.dtype.name} 0s and 1s, which would select the "
            "elements 0 and 1; for a mask use (x > y).astype('bool')"
        )
    if indices.dtype.kind in "iu":
        return indices
    wrong = indices[np.trunc(indices) != indices]
    if wrong.size:
        raise IndexOutOfRangeError(
            f"an index is {wrong[0]}, expected an integer; for a mask use dtype='bool'"
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
    shape: tuple[int, ...] = np.shape(_selected(np.broadcast_to(np.empty((), np.bool_), array.shape), key))
    return shape if shape or not array.shape else (1,)


def _selected(data: Any, key: Any) -> Any:
    try:
        return data[key]
    except IndexError as error:
        raise IndexOutOfRangeError(
            f"cannot index an array of shape {data.shape} with {key!r}: {error}"
        ) from error


def _check_fits(source: NDArray, target: tuple[int, ...]) -> None:
    """Raise BindError unless `source`, perhaps less leading axes of length 1, broadcasts to `target`."""
    extra = max(source.ndim - len(target), 0)
    try:
        fits = np.broadcast_shapes(source.shape[extra:], target) == target
    except ValueError:
        fits = False
    if not fits or source.shape[:extra] != (1,) * extra:
        raise BindError(f"cannot assign a value of shape {source.shape} to a selection of shape {target}")


def _fitted(source: NDArray, target: tuple[int, ...]) -> NDArray:
    """`source`, without leading axes of length 1 that `target` lacks, so that it broadcasts to it."""
    if source.shape == target:
        return source
    _check_fits(source, target)
    extra = max(source.ndim - len(target), 0)
    return source._view(source._data.reshape(source.shape[extra:])) if extra else source


def _gathered(array: NDArray, key: Any) -> NDArray:
    if array._is_recorded:
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            _index_shape(array, key)
            # `take` clips, so what is out of range was refused, and negative indices are counted here.
            rows = np.where(key < 0, key + array.shape[0], key)
            return invoke("take", (array, array._like(rows, dtype=key.dtype)), {"axis": 0, "mode": "clip"})
        raise _unrecorded(
            "indexing with masks or several index arrays is not recorded; use take, pick or gather_nd"
        )
    if local.state.mode >= RECORDING:
        refuse_aliases("indexing", [array])
    out = array._new(spec_of(_index_shape(array, key), array.dtype, array.ctx))
    execute(
        _gather,
        (out._data, array._data, key),
        array.ctx,
        (array._chunk.var,),
        (out._chunk.var,),
        "gather_nd",
        size_bytes=out._spec.nbytes,
    )
    return out


def _gather(out: Any, data: Any, key: Any) -> None:
    out[...] = data[key]


def _recorded_slice(array: NDArray, key: Any) -> NDArray:
    """`array[key]` by the operators `slice` and `Reshape`."""
    target = _index_shape(array, key)
    bounds, part = _bounds(array, key)
    result = array if part == array.shape and not any(bounds["step"]) else invoke("slice", (array,), bounds)
    return result if result.shape == target else result.reshape(target)


def _bounds(array: NDArray, key: Any) -> tuple[dict[str, tuple[int | None, ...]], tuple[int, ...]]:
    """A basic index as parameters of `slice` and `_slice_assign`, and the shape of that part."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        given = sum(part is not None and part is not Ellipsis for part in parts)
        parts[at : at + 1] = [slice(None)] * (array.ndim - given)
    axes = [part for part in parts if part is not None]
    slices = [slice(p, p + 1 or None) if isinstance(p, int) else p for p in axes]
    bounds = {
        name: tuple([getattr(part, end) for part in slices])
        for name, end in (("begin", "start"), ("end", "stop"), ("step", "step"))
    }
    return bounds, _index_shape(array, tuple(slices))
