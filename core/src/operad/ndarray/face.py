"""What `od.nd` has beside its operators, and how it finds those.

Every installed operator is a function of `od.nd`, found when it is first asked for. Names that begin
with `_` work too. Plugins may add modules beside them, such as `od.nd.random`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, final

from operad import registry
from operad.boundary import boundary
from operad.context import Context, as_context
from operad.imperative import Origin
from operad.ndarray.function import operator_function
from operad.ndarray.ndarray import NDArray


def zeros(shape: Any, ctx: Context | None = None, dtype: object = None, **params: Any) -> NDArray:
    """A new array of zeros; the operator `_zeros` of operad-init."""
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
    infer_range: bool = False,
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
) -> NDArray:
    """A matrix with ones on diagonal `k`; the operator `_eye` of operad-init."""
    return _filled("_eye", ctx, N=N, M=M, k=k, dtype=dtype)


def _filled(op: str, ctx: Context | None, **params: Any) -> NDArray:
    given = {key: value for key, value in params.items() if value is not None}
    made: NDArray = operator_function(op, NDArray)(ctx=as_context(ctx, op.lstrip("_")), **given)
    return made._came(Origin.MADE)


def concatenate(arrays: list[NDArray], axis: int = 0) -> NDArray:
    """The arrays joined along an axis; the operator `Concat` of operad-shape."""
    joined: NDArray = operator_function("Concat", NDArray)(*arrays, dim=axis)
    return joined


@final
class _Found:
    """The operators' functions that stand in `operad.ndarray`, for its next user finds them there."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    @property
    def _namespace(self) -> dict[str, Any]:
        return vars(sys.modules["operad.ndarray"])

    @boundary
    def find(self, name: str) -> Callable[..., Any]:
        """The function of the operator called `name`, which the module has from now on."""
        if name.startswith("__"):
            raise AttributeError(f"module 'operad.nd' has no attribute {name!r}")
        function = self._namespace[name] = operator_function(name, NDArray)
        self._names.add(name)
        return function

    def clear(self) -> None:
        """Forget all of them: what is installed has changed."""
        while self._names:
            self._namespace.pop(self._names.pop(), None)


_found: Final = registry.follow(_Found())


def __getattr__(name: str) -> Any:
    # Python asks for names like `__path__` at imports, which must not read what is installed.
    module = None if name.startswith("__") else registry.find_namespace("nd", name)
    return _found.find(name) if module is None else module


def __dir__() -> list[str]:
    names = {*registry.list_operators(), *registry.namespaces_of("nd")}
    return sorted({*vars(sys.modules["operad.ndarray"]), *names})
