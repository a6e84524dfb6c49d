"""From a function of NumPy to the rule that it has inside a trace.

The rules' modules fill the tables: what is computed from traced arrays, with a derivative or composed of
functions that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from operad.errors import TraceError
from operad_sdk.differentiate.errors import refusal, writing_plainly
from operad_sdk.differentiate.lengths import Length

Rule = Callable[..., Any]

UFUNCS: Final[dict[np.ufunc, Rule]] = {}
"""Ufuncs with a derivative."""

FUNCTIONS: Final[dict[Any, Rule]] = {}
"""Other functions with one; a rule takes what the function takes but for `out`."""

METHODS: Final[dict[str, Rule]] = {}
"""Methods of arrays by name; a rule takes the array and then the arguments."""

FLAT: Final[set[Any]] = set()
"""Functions whose derivative is 0 wherever they have one: comparisons, rounding, positions of extrema."""

_STEPS: Final = frozenset(
    (
        np.sort, np.partition, np.tile, np.repeat, np.roll, np.cumprod, np.einsum, np.trace, np.outer,
        np.linalg.cholesky, np.linalg.det, np.argsort, np.argpartition, np.linalg.norm, np.kron, np.interp,
    )
)  # fmt: skip
"""Functions that are a step in the trace of a program, whatever rule they have elsewhere."""

_REDUCTIONS: Final[dict[Any, Rule]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min
}  # fmt: skip


def call_ufunc(
    traced: type[Any], ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Apply a ufunc to `inputs`, where one of `inputs` and `out` is traced.

    Args:
        traced: The class of traced arrays.
    Raises:
        TraceError: There is no rule for it.
    """
    if method == "at" and ufunc is np.add:
        return METHODS["add_at"](*inputs)
    rule = UFUNCS.get(ufunc)
    if method == "reduce" and ufunc in _REDUCTIONS:
        axis = inputs[1] if len(inputs) > 1 else options.pop("axis", 0)
        return _REDUCTIONS[ufunc](inputs[0], axis=axis, **options)
    if method != "__call__" or not set(options) <= {"out", "casting", "dtype", "where"}:
        raise _no_rule(f"{ufunc.__name__}.{method}" if method != "__call__" else _with(ufunc, options))
    (out,) = options.get("out") or (None,)
    dtype = options.get("dtype")
    inputs = [_operand(x) for x in inputs]
    if dtype is not None:
        inputs = _as_loop_takes(traced, ufunc, inputs, np.dtype(dtype))
    if ufunc in FLAT or not any(isinstance(x, traced) for x in inputs):
        result = traced.without_derivative(ufunc, inputs, {})
    elif rule is None:
        raise _no_rule(ufunc.__name__)
    else:
        result = rule(*inputs)
    if dtype is not None and result.dtype != dtype:
        result = result.astype(dtype)
    return _put(traced, result, out, options.get("where", True), ufunc.__name__)


def _operand(x: Any) -> Any:
    """Value as rules take it: NumPy takes no subclass of int for a number without a type."""
    return int(x) if isinstance(x, Length) else x


def _as_loop_takes(traced: type[Any], ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any) -> list[Any]:
    """The inputs, the traced ones in the types from which the ufunc computes results of type `dtype`."""
    types = [x.dtype if hasattr(x, "dtype") else x.__class__ for x in inputs]
    signature = (*[None] * len(inputs), dtype)
    resolved = ufunc.resolve_dtypes((*types, None), signature=signature, casting="same_kind")
    pairs = zip(inputs, resolved, strict=False)
    return [x.astype(own, copy=False) if isinstance(x, traced) else x for x, own in pairs]


def call_function(traced: type[Any], function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Apply a function of NumPy to arguments of which one is traced; as `call_ufunc`."""
    out = options.pop("out", None)
    args = [_operand(x) for x in args]
    rule = FUNCTIONS.get(function)
    if function in _STEPS and traced.is_program(args, options):
        result = traced.step(function, args, options)
    elif rule is not None:
        result = rule(*args, **options)
    elif function in FLAT or not any(x.node.leads for x in every(traced, [*args, *options.values()])):
        result = traced.without_derivative(function, args, options)
    else:
        raise _no_rule(function.__name__)
    return _put(traced, result, out, True, function.__name__)


def _put(traced: type[Any], result: Any, out: Any, where: Any, name: str) -> Any:
    if out is None:
        return result
    if not isinstance(out, traced):
        raise writing_plainly(name)
    out.write(result if where is True else np.where(where, result, out))
    return out


def every(traced: type[Any], found: Any) -> Iterator[Any]:
    """The traced arrays among arguments, and inside lists of them."""
    if isinstance(found, traced):
        yield found
    elif isinstance(found, (list, tuple)):
        for item in found:
            yield from every(traced, item)


def each(arg: Any, change: Callable[[Any], Any]) -> Any:
    """An argument, in which a function has changed what stands in tuples and lists."""
    return type(arg)([each(one, change) for one in arg]) if type(arg) in (list, tuple) else change(arg)


def _with(ufunc: np.ufunc, options: dict[str, Any]) -> str:
    return ufunc.__name__ + "".join(f" with {name}=" for name in options)


def _no_rule(name: str) -> TraceError:
    return refusal(f"operad_sdk.differentiate has no rule for numpy.{name}")
