"""NumPy's functions that an operator computes as NumPy does, by a table of both names and of parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError

Function = Callable[..., Any]


def alike(values: Sequence[Any]) -> list[NDArray]:
    """Operands as arrays of one type: that of NumPy's promotion, of a number that of the arrays.

    Raises:
        ArgumentError: None of them is an array.
        DTypeError: A value does not fit the type of the arrays.
    """
    arrays = [value for value in values if isinstance(value, NDArray)]
    if not arrays:
        raise ArgumentError(
            f"got {', '.join(type(value).__name__ for value in values)}, expected an NDArray among them; "
            "make one with nd.array"
        )
    wide = np.result_type(*(array.dtype for array in arrays))
    like = arrays[0].astype(wide, copy=False)
    made = [value if isinstance(value, NDArray) else nd.converted(like, value) for value in values]
    return [value.astype(wide, copy=False) for value in made]


def _by_operator(op: str, like: Function, arrays: str, params: str = "") -> Function:
    """A function with part of the signature of NumPy's.

    Args:
        arrays: Names of its arguments that are arrays.
        params: Names of those that are parameters of the operator, which has them too.
    """
    own, others = signature(like).parameters, params.split()
    kept = [
        own[name].replace(kind=Parameter.POSITIONAL_OR_KEYWORD, default=_default(own[name]))
        for name in (*arrays.split(), *others)
    ]
    called = Signature(kept)

    def call(*args: Any, **named: Any) -> Any:
        given = called.bind(*args, **named).arguments
        values = {name: given[name] for name in others if given.get(name) is not None}
        return nd.invoke(op, alike([given[name] for name in arrays.split()]), values)

    call.__signature__ = called  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = op, f"`numpy.{like.__name__}`, by the operator `{op}`."
    return call


def _default(parameter: Parameter) -> Any:
    """NumPy's, where it is no mark of its own for what was left out."""
    is_mark = type(parameter.default).__name__ == "_NoValueType"
    return None if is_mark else parameter.default


median = _by_operator("median", np.median, "a", "axis keepdims")
count_nonzero = _by_operator("count_nonzero", np.count_nonzero, "a", "axis keepdims")
var = _by_operator("var", np.var, "a", "axis ddof keepdims")
std = _by_operator("std", np.std, "a", "axis ddof keepdims")
every = _by_operator("all", np.all, "a", "axis keepdims")
some = _by_operator("any", np.any, "a", "axis keepdims")
trace = _by_operator("trace", np.trace, "a", "offset axis1 axis2")
tril = _by_operator("tril", np.tril, "m", "k")
triu = _by_operator("triu", np.triu, "m", "k")
outer = _by_operator("outer", np.outer, "a b")
kron = _by_operator("kron", np.kron, "a b")
cross = _by_operator("cross", np.cross, "a b", "axis")
searchsorted = _by_operator("searchsorted", np.searchsorted, "a v", "side")
nan_to_num = _by_operator("nan_to_num", np.nan_to_num, "x", "copy nan posinf neginf")


def _tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def cumprod(a: NDArray, axis: int | None = None) -> NDArray:
    """`numpy.cumprod`, by the operator `cumprod`, of small integers in 64 bits."""
    wide = a if a.dtype.kind == "f" else a.astype(np.uint64 if a.dtype.kind == "u" else np.int64)
    return nd.invoke("cumprod", (wide,), {"axis": axis})


def quantile(
    a: NDArray,
    q: float | Sequence[float],
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> NDArray:
    """`numpy.quantile`, by the operator `quantile`; several `q` are stacked along a new first axis."""
    if not isinstance(q, (int, float)):
        each = [quantile(a, one, axis, method=method, keepdims=keepdims) for one in q]
        return nd.invoke("stack", each, {"axis": 0, "num_args": len(each)})
    named = {"q": float(q), "interpolation": method, "keepdims": keepdims}
    return nd.invoke("quantile", (a,), named if axis is None else named | {"axis": axis})


def percentile(
    a: NDArray,
    q: float | Sequence[float],
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> NDArray:
    """`numpy.percentile`, by the operator `quantile`."""
    parts = q / 100 if isinstance(q, (int, float)) else [one / 100 for one in q]
    return quantile(a, parts, axis, method=method, keepdims=keepdims)


def roll(a: NDArray, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> NDArray:
    """`numpy.roll`, by the operator `roll`."""
    return nd.invoke("roll", (a,), {"shift": _tuple(shift), "axis": () if axis is None else _tuple(axis)})


def tensordot(a: Any, b: Any, axes: Any = 2) -> NDArray:
    """`numpy.tensordot`, by the operator `tensordot`."""
    if isinstance(axes, int):
        return nd.invoke("_npi_tensordot_int_axes", alike([a, b]), {"axes": axes})
    first, second = axes
    return nd.invoke(
        "tensordot", alike([a, b]), {"a_axes_summed": _tuple(first), "b_axes_summed": _tuple(second)}
    )


def einsum(subscripts: str, *operands: Any, optimize: Any = True) -> NDArray:
    """`numpy.einsum` of subscripts as a text, by the operator `einsum`, which always finds a path."""
    return nd.invoke("einsum", alike(operands), {"subscripts": subscripts, "num_args": len(operands)})


def meshgrid(*xi: Any, indexing: str = "xy") -> list[NDArray]:
    """`numpy.meshgrid`, by the operator `meshgrid`."""
    return _several(nd.invoke("meshgrid", alike(xi), {"indexing": indexing, "num_args": len(xi)}))


def broadcast_arrays(*args: Any) -> tuple[NDArray, ...]:
    """`numpy.broadcast_arrays`, by the operator `broadcast_arrays`; copies, of one type."""
    return tuple(_several(nd.invoke("broadcast_arrays", alike(args), {"num_args": len(args)})))


def _several(made: Any) -> list[NDArray]:
    return list(made) if isinstance(made, (list, tuple)) else [made]


def unique(
    ar: NDArray, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None,
) -> Any:  # fmt: skip
    """`numpy.unique`, by the operator `unique`, which waits for the array."""
    wanted = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    values, *others = _several(nd.invoke("unique", (ar,), {**wanted, "axis": axis}))
    if axis is None and return_inverse:
        others[return_index] = others[return_index].reshape(ar.shape)
    return (values, *others) if others else values


def bincount(x: NDArray, weights: NDArray | None = None, minlength: int = 0) -> NDArray:
    """`numpy.bincount`, by the operator `bincount`, which waits for the array."""
    arrays = (x,) if weights is None else (x, weights)
    return nd.invoke("bincount", arrays, {"minlength": minlength, "has_weights": weights is not None})


def nonzero(a: NDArray) -> tuple[NDArray, ...]:
    """`numpy.nonzero`, by the operator `nonzero`, which waits for the array."""
    places = argwhere(a)
    return tuple(places[:, axis] for axis in range(a.ndim))


def argwhere(a: NDArray) -> NDArray:
    """`numpy.argwhere`, by the operator `nonzero`."""
    return nd.invoke("nonzero", (a,))


def take_along_axis(arr: NDArray, indices: Any, axis: int | None = -1) -> NDArray:
    """`numpy.take_along_axis`, by the operator `take_along_axis`."""
    return nd.invoke("take_along_axis", (arr, _indices(arr, indices)), {"axis": axis})


def put_along_axis(arr: NDArray, indices: Any, values: Any, axis: int | None) -> None:
    """`numpy.put_along_axis`, by the operator `put_along_axis`, whose result is written into `arr`."""
    places = _indices(arr, indices)
    shape = nd.invoke("take_along_axis", (arr, places), {"axis": axis}).shape
    given = values if isinstance(values, NDArray) else nd.converted(arr, values)
    arr[:] = nd.invoke("put_along_axis", (arr, places, given.broadcast_to(shape)), {"axis": axis})


def _indices(arr: NDArray, indices: Any) -> NDArray:
    return indices if isinstance(indices, NDArray) else nd.array(indices, arr.context, "int64")
