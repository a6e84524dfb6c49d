"""What `od.nd` has beside its operators, and how it finds those.

Every installed operator is a function of `od.nd`, found when it is first asked for. Names that begin
with `_` work too.
"""

from __future__ import annotations

import sys
from typing import Any, Final, final

from operad import registry, storage
from operad.boundary import boundary
from operad.context import Context, as_context
from operad.imperative import Origin
from operad.ndarray.function import operator_function
from operad.ndarray.ndarray import NDArray, check_dense


def zeros(
    shape: Any, ctx: Context | None = None, dtype: object = None, stype: str | None = None, **params: Any
) -> NDArray:
    """A new array of zeros; the operator `_zeros` of operad-init. The storage type can be "default" only."""
    check_dense("zeros", stype)
    return _filled("_zeros", ctx, shape=shape, dtype=dtype, **params)


def ones(shape: Any, ctx: Context | None = None, dtype: object = None, **params: Any) -> NDArray:
    """A new array of ones; the operator `_ones` of operad-init."""
    return _filled("_ones", ctx, shape=shape, dtype=dtype, **params)


def full(
    shape: Any, val: float, ctx: Context | None = None, dtype: object = None, out: Any = None
) -> NDArray:
    """A new array filled with `val`; the operator `_full` of operad-init."""
    return _filled("_full", ctx, shape=shape, value=val, dtype=dtype, out=out)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: object = None,
) -> NDArray:
    """Evenly spaced values in [start, stop), or [0, start); the operator `_arange` of operad-init."""
    if infer_range:
        stop = None
    elif stop is None:
        start, stop = 0, start
    return _filled("_arange", ctx, start=start, stop=stop, step=step, repeat=repeat, dtype=dtype)


def eye(
    N: int,  # noqa: N803 - MXNet's name, as is M
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: object = None,
    **params: Any,
) -> NDArray:
    """A matrix with ones on diagonal `k`; the operator `_eye` of operad-init."""
    return _filled("_eye", ctx, N=N, M=M, k=k, dtype=dtype, **params)


def _filled(op: str, ctx: Context | None, **params: Any) -> NDArray:
    given = {key: value for key, value in params.items() if value is not None}
    made: NDArray = operator_function(op, NDArray)(ctx=as_context(ctx, op.lstrip("_")), **given)
    return made._came(Origin.MADE)


def concatenate(arrays: list[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """The arrays joined along an axis by the operator `Concat`; a single one itself, unless `always_copy`."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    joined: NDArray = operator_function("Concat", NDArray)(*arrays, dim=axis)
    return joined


def release_idle_memory(ctx: Context | None = None) -> None:
    """Give memory of a device that no array uses, kept for later ones, back to the system."""
    storage.get().release_all(as_context(ctx, "release_idle_memory"))


@final
class _Found:
    """The operators' functions that stand in `operad.ndarray`, for its next user finds them there."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    @property
    def _namespace(self) -> dict[str, Any]:
        return vars(sys.modules["operad.ndarray"])

    @boundary
    def find(self, name: str) -> Any:
        """What a plugin adds to the face, or the function of an operator; the module has it from now on."""
        if name.startswith("__"):
            raise AttributeError(f"module 'operad.nd' has no attribute {name!r}")
        found = registry.on_face("nd", name)
        function = self._namespace[name] = operator_function(name, NDArray) if found is None else found
        self._names.add(name)
        return function

    def clear(self) -> None:
        """Forget all of them: what is installed has changed."""
        while self._names:
            self._namespace.pop(self._names.pop(), None)


_found: Final = registry.follow(_Found())


def __getattr__(name: str) -> Any:
    return _found.find(name)


def __dir__() -> list[str]:
    own = vars(sys.modules["operad.ndarray"])
    return sorted({*own, *registry.names_on_face("nd"), *registry.list_operators()})
