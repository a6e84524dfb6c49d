"""Comparison of arrays: equal, almost equal, or in most positions; errors name the largest difference.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad import NDArray
from operad_test_utils.tolerances import Tolerance, get_etol, get_tols

Array = np.ndarray[Any, Any]
Names = Sequence[str]


def same(a: Any, b: Any) -> bool:
    """Return whether two arrays have one shape and equal elements."""
    return np.array_equal(plain(a), plain(b))


def almost_equal(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    equal_nan: bool = False,
    use_broadcast: bool = True,
) -> bool:
    """Return whether two arrays differ by no more than tolerances; arguments as for `assert_almost_equal`."""
    a, b, relative, absolute = _plain_pair(a, b, rtol, atol, use_broadcast)
    return bool((_violations(a, b, relative, absolute, equal_nan) <= 1).all())


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Expect `|a - b| <= atol + rtol |b|` everywhere.

    Args:
        a: What was found: an array of operad or NumPy, or numbers.
        b: What was expected.
        rtol: Relative tolerance, or some by element type; None: the default of the coarser type.
        atol: Absolute tolerance, likewise.
        names: What errors call the two.
        equal_nan: Whether NaN equals NaN.
        use_broadcast: Whether shapes may differ as NumPy broadcasts them.
        mismatches: The first number: how many positions an error lists, the worst first.

    Raises:
        AssertionError: They are further apart somewhere; the message begins with the worst position.
    """
    assert_almost_equal_with_err(a, b, rtol, atol, 0, names, equal_nan, mismatches, use_broadcast)


def assert_almost_equal_with_err(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    etol: float | None = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    mismatches: tuple[int, int] = (10, 10),
    use_broadcast: bool = True,
) -> None:
    """`assert_almost_equal`, where a part `etol` of the elements may differ."""
    a, b, relative, absolute = _plain_pair(a, b, rtol, atol, use_broadcast)
    violations = _violations(a, b, relative, absolute, equal_nan)
    far = int((~(violations <= 1)).sum())  # not `> 1`, which a NaN is not either
    if far > get_etol(etol) * violations.size:
        raise AssertionError(_message(a, b, violations, far, (relative, absolute), names, mismatches[0]))


def assert_almost_equal_ignore_nan(
    a: Any, b: Any, rtol: Tolerance = None, atol: Tolerance = None, names: Names = ("a", "b")
) -> None:
    """`assert_almost_equal` of the elements that are NaN in neither array."""
    a, b = plain(a).copy(), plain(b).copy()
    either = np.isnan(a) | np.isnan(b)
    a[either] = b[either] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_allclose(a: Any, b: Any, rtol: float = 1e-07, atol: float = 0, equal_nan: bool = True) -> None:
    """`assert_almost_equal` with NumPy's defaults."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Tolerance = None, atol: Tolerance = None) -> None:
    """Expect arrays in nested tuples to be almost equal; None has no counterpart to compare with."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for one, other in zip(t1, t2, strict=True):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol, atol)


def find_max_violation(
    a: Any, b: Any, rtol: Tolerance = None, atol: Tolerance = None
) -> tuple[tuple[int, ...], float]:
    """The position where two arrays are furthest apart, and the error there in units of the tolerance."""
    violations = _violations(*_plain_pair(a, b, rtol, atol), equal_nan=False)
    position = _worst(violations, 1)[0]
    return position, float(violations[position])


def locationError(  # noqa: N802 - MXNet's name, as is checkShapes
    a: Any,
    b: Any,
    index: Any,
    names: Names,
    maxError: bool = False,  # noqa: N803
) -> str:
    """A position of two arrays and what stands there, in words."""
    position = tuple(int(np.ravel(axis)[0]) for axis in index)
    which = "largest error" if maxError else "error"
    return (
        f"{which} at {position}: {names[0]} is {plain(a)[position]!s}, {names[1]} is {plain(b)[position]!s}"
    )


def checkShapes(a: Any, b: Any) -> None:  # noqa: N802
    """Expect two arrays to have one shape."""
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}, expected one")


def assert_exception(f: Callable[..., Any], exception_type: Any, *args: Any, **kwargs: Any) -> None:
    """Expect `f(*args, **kwargs)` to raise an exception of a type, at the latest when its result is ready."""
    try:
        made = f(*args, **kwargs)
        for array in made if isinstance(made, (list, tuple)) else [made]:
            if isinstance(array, NDArray):
                array.wait_to_read()
    except exception_type:
        return
    raise AssertionError(f"{getattr(f, '__name__', f)} raised nothing, expected {exception_type}")


def collapse_sum_like(a: Array, shape: tuple[int, ...]) -> Array:
    """The sum of an array over the axes that broadcasting from `shape` adds."""
    lead = a.ndim - len(shape)
    kept = tuple(lead + i for i, size in enumerate(shape) if size == 1 != a.shape[lead + i])
    summed: Array = a.sum(axis=kept, keepdims=True).sum(axis=tuple(range(lead)))
    return summed.reshape(shape)


def plain(value: Any) -> Array:
    """An array of NumPy with the values of any array or numbers."""
    return value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)


def _plain_pair(
    a: Any, b: Any, rtol: Tolerance, atol: Tolerance, use_broadcast: bool = True
) -> tuple[Array, Array, float, float]:
    """Both as NumPy's arrays, and the tolerances for them."""
    a, b = plain(a), plain(b)
    if not use_broadcast:
        checkShapes(a, b)
    return a, b, *get_tols(a, b, rtol, atol)


def _violations(a: Array, b: Array, relative: float, absolute: float, equal_nan: bool) -> Array:
    """The difference of each element in units of its tolerance, in double precision."""
    one, other = np.broadcast_arrays(a, b)
    if one.dtype.kind in "iub" and other.dtype.kind in "iub" and not (relative or absolute):
        return np.where(one == other, 0.0, np.inf)  # double precision does not tell large integers apart
    wide, wanted = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(all="ignore"):
        apart, allowed = abs(wide - wanted), absolute + relative * abs(wanted)
        found = np.where(apart == 0, 0.0, apart / allowed)
    found = np.where(wide == wanted, 0.0, found)  # infinities of one sign
    found = np.where(np.isinf(wanted) & (wide != wanted), np.inf, found)
    both = np.isnan(wide) & np.isnan(wanted)
    return np.where(both, 0.0, found) if equal_nan else found


def _worst(violations: Array, count: int) -> list[tuple[int, ...]]:
    order = np.argsort(-np.nan_to_num(violations, nan=np.inf, posinf=np.inf), axis=None, kind="stable")
    return [tuple(int(i) for i in np.unravel_index(n, violations.shape)) for n in order[:count]]


def _message(
    a: Array,
    b: Array,
    violations: Array,
    far: int,
    tolerances: tuple[float, float],
    names: Names,
    listed: int,
) -> str:
    one, other = np.broadcast_arrays(a, b)
    lines = [
        f"{locationError(one, other, position, names, maxError=not i)}, "
        f"{violations[position]:.6g} times what is allowed"
        for i, position in enumerate(_worst(violations, max(1, min(far, listed))))
    ]
    relative, absolute = tolerances
    head = (
        f"{names[0]} and {names[1]} differ in {far} of {violations.size} elements "
        f"({far / max(1, violations.size):.3%}), with rtol={relative:g} and atol={absolute:g}"
    )
    return "\n".join([head, *lines, f"{names[0]}: {a!r}", f"{names[1]}: {b!r}"])
