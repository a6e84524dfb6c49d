"""From a function of NumPy to the rule that it has inside a trace.

The rules' modules fill the tables: what is computed from traced arrays, with a derivative or composed of
functions that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from inspect import signature
from typing import Any, Final

import numpy as np

from operad.errors import TraceError
from operad_sdk.differentiate.errors import refusal, writing_plainly
from operad_sdk.differentiate.lengths import Length

Rule = Callable[..., Any]

UFUNCS: Final[dict[np.ufunc, Rule]] = {}
"""Ufuncs with a derivative."""

FUNCTIONS: Final[dict[Any, Rule]] = {}
"""Other functions with one; a rule takes what the function takes but for `out`; NotImplementedError says that
it computes no such call."""

METHODS: Final[dict[str, Rule]] = {}
"""Methods of arrays by name; a rule takes the array and then the arguments."""

PROPERTIES: Final[dict[str, Rule]] = {}
"""Properties of arrays by name; a rule takes the array."""

FLAT: Final[set[Any]] = set()
"""Functions whose derivative is 0 wherever they have one: comparisons, rounding, positions of extrema."""

_STEPS: Final = frozenset(
    (
        np.sort, np.partition, np.tile, np.repeat, np.roll, np.cumprod, np.einsum, np.trace, np.kron, np.i0,
        np.linalg.cholesky, np.linalg.det, np.argsort, np.argpartition, np.interp, np.median,
        np.nanmedian, np.quantile, np.nanquantile, np.percentile, np.nanpercentile, np.linalg.pinv,
        np.linalg.matrix_power, np.cross, np.convolve, np.correlate, np.cov, np.corrcoef, np.digitize,
        np.isin, np.unwrap, np.lexsort, np.resize,
    )
)  # fmt: skip
"""Functions that are a step in the trace of a program, whatever rule they have elsewhere."""

_REDUCTIONS: Final[dict[Any, Rule]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_or: np.any,
    np.logical_and: np.all,
}  # fmt: skip


class Masked:
    """Base of elements that a mask names (`masks`), which find out themselves what is computed of them."""


def call_ufunc(
    traced: type[Any], ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Apply a ufunc to `inputs`, where one of `inputs` and `out` is traced.

    Args:
        traced: The class of traced arrays.
    Raises:
        TraceError: There is no rule for it.
    """
    if any(isinstance(x, Masked) for x in inputs):
        return NotImplemented
    if method != "__call__":
        return _call_method(traced, ufunc, method, inputs, options)
    rule = UFUNCS.get(ufunc)
    if not set(options) <= {"out", "casting", "dtype", "where"} or (
        ufunc.nout > 1 and (options or rule is None)
    ):
        raise _no_rule(ufunc, options)
    if rule is not None and ufunc.nout > 1:
        return rule(*inputs)
    (out,) = options.get("out") or (None,)
    dtype = options.get("dtype")
    inputs = [_operand(x) for x in inputs]
    if dtype is not None:
        inputs = _as_loop_takes(traced, ufunc, inputs, np.dtype(dtype))
    if ufunc in FLAT or not any(isinstance(x, traced) for x in inputs):
        result = traced.without_derivative(ufunc, inputs, {})
    elif rule is not None:
        result = rule(*inputs)
    elif traced.is_program(inputs, {}):
        result = traced.step(ufunc, inputs, {})
    else:
        raise _no_rule(ufunc)
    if dtype is not None and result.dtype != dtype:
        result = result.astype(dtype)
    return _put(traced, result, out, options.get("where", True), ufunc.__name__)


def _call_method(
    traced: type[Any], ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Apply a method of a ufunc; as `call_ufunc`."""
    (out,) = options.pop("out", (None,))
    if method == "at" and ufunc in (np.add, np.subtract):
        target, index, value = inputs
        return METHODS["add_at"](target, index, value if ufunc is np.add else -value)
    if method == "outer" and not options and out is None:
        a, b = (x if hasattr(x, "ndim") else np.asarray(x) for x in inputs)
        return ufunc(a.reshape(a.shape + (1,) * b.ndim), b)
    if method == "accumulate" and ufunc is np.add:
        return np.cumsum(*inputs, **{"axis": 0, **options, "out": out})
    if method == "reduce" and ufunc in _REDUCTIONS:
        return _REDUCTIONS[ufunc](*inputs, **{"axis": 0, **options, "out": out})
    if method in ("reduce", "accumulate") and traced.is_program(inputs, options):
        return _put(traced, traced.step(getattr(ufunc, method), inputs, options), out, True, ufunc.__name__)
    raise _no_rule(ufunc, (), method)


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
    names = _parameters(function)
    if "out" in names[: len(args)]:  # which is written here, and the others by their names
        at = names.index("out")
        args, options = args[:at], {**dict(zip(names[at:], args[at:], strict=False)), **options}
    out = options.pop("out", None)
    args = [_operand(x) for x in args]
    rule = FUNCTIONS.get(function)
    is_program = traced.is_program(args, options)
    if function in _STEPS and is_program:
        result = traced.step(function, args, options)
    elif rule is not None:
        try:
            result = rule(*args, **options)
        except NotImplementedError:
            if not is_program:
                raise _no_rule(function, options) from None
            result = traced.step(function, args, options)
        except TypeError:
            if not _takes(rule, args, options):
                raise _no_rule(function, options) from None
            raise
    elif function in FLAT or not any(x.node.leads for x in every(traced, [*args, *options.values()])):
        result = traced.without_derivative(function, args, options)
    else:
        raise _no_rule(function)
    return _put(traced, result, out, True, function.__name__)


@lru_cache(maxsize=1024)
def _parameters(function: Any) -> tuple[str, ...]:
    """Names of the parameters that a function takes by position; none where Python does not know them."""
    try:
        found = signature(function).parameters.values()
    except ValueError:
        return ()
    return tuple(one.name for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD))


def _takes(rule: Rule, args: Sequence[Any], options: dict[str, Any]) -> bool:
    try:
        signature(rule).bind(*args, **options)
    except TypeError:
        return False
    return True


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


def _no_rule(function: Any, options: Iterable[str] = (), method: str = "__call__") -> TraceError:
    name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
    given = " with " + ", ".join(f"{one}=" for one in options) if options else ""
    return refusal(f"there is no rule for {getattr(function, '__module__', 'numpy')}.{name}{given}")
