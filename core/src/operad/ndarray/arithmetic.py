"""Python's operators on arrays, each an operator of a plugin.

Source: NDArray, python/mxnet/ndarray/ndarray.py. Differs: arrays of equal shape use the `elemwise_`
operator, which needs one plugin less and dispatches faster than the `broadcast_` one.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from operad import registry
from operad.errors import BindError, DTypeError
from operad.imperative import invoker, is_recording

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray


def invoke(
    name: str, inputs: Sequence[NDArray], params: dict[str, Any] | None = None, out: NDArray | None = None
) -> NDArray:
    """Apply the installed operator called `name`, which has one output.

    Raises:
        OperatorNotFoundError: No plugin provides it; the message says what to install.
    """
    value: NDArray = invoker(registry.get(name), params or {})(inputs, out)
    return value


_EQUAL_SHAPES = {
    "add": "elemwise_add", "sub": "elemwise_sub", "mul": "elemwise_mul", "div": "elemwise_div",
    "mod": "_mod", "power": "_power", "equal": "_equal", "not_equal": "_not_equal", "greater": "_greater",
    "greater_equal": "_greater_equal", "lesser": "_lesser", "lesser_equal": "_lesser_equal",
    "maximum": "_maximum", "minimum": "_minimum",
}  # fmt: skip
_SCALAR = {
    "add": "_plus_scalar", "sub": "_minus_scalar", "mul": "_mul_scalar", "div": "_div_scalar",
    "mod": "_mod_scalar", "power": "_power_scalar", "equal": "_equal_scalar",
    "not_equal": "_not_equal_scalar", "greater": "_greater_scalar",
    "greater_equal": "_greater_equal_scalar", "lesser": "_lesser_scalar",
    "lesser_equal": "_lesser_equal_scalar", "maximum": "_maximum_scalar", "minimum": "_minimum_scalar",
    "rsub": "_rminus_scalar", "rdiv": "_rdiv_scalar", "rmod": "_rmod_scalar", "rpower": "_rpower_scalar",
}  # fmt: skip


class Arithmetic:
    """Mixed into `NDArray`: arithmetic, comparisons and their in-place forms."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __array_ufunc__ = None  # numpy_array + ndarray is ours to compute

    def _binary(self, kind: str, other: Any, out: NDArray | None = None) -> NDArray:
        left = cast("NDArray", self)
        if isinstance(other, Arithmetic):
            right = cast("NDArray", other)
            name = _EQUAL_SHAPES[kind] if left.shape == right.shape else f"broadcast_{kind}"
            return invoke(name, (left, right), None, out)
        if isinstance(other, (numbers.Number, np.bool_)):
            return invoke(_SCALAR[kind], (left,), {"scalar": _scalar(left, other)}, out)
        if isinstance(other, (np.ndarray, list, tuple)):
            return self._binary(kind, _converted(left, other), out)
        return NotImplemented  # type: ignore[no-any-return]  # Python then asks the other operand

    def _reflected(self, kind: str, other: Any) -> NDArray:
        left = cast("NDArray", self)
        if isinstance(other, (numbers.Number, np.bool_)):
            return invoke(_SCALAR[kind], (left,), {"scalar": _scalar(left, other)})
        if isinstance(other, (np.ndarray, list, tuple)):
            return _converted(left, other)._binary(kind.removeprefix("r"), left)
        return NotImplemented  # type: ignore[no-any-return]  # as above

    def _inplace(self, kind: str, other: Any) -> NDArray:
        left = cast("NDArray", self)
        if left._autograd is not None and is_recording():
            raise BindError(
                f"in-place {kind} on an array that is being recorded would corrupt its gradient; "
                "write `x = x + y`, or do it under autograd.pause()"
            )
        return self._binary(kind, other, left)

    def __add__(self, other: Any) -> NDArray:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> NDArray:
        return self._binary("add", other)

    def __iadd__(self, other: Any) -> NDArray:
        return self._inplace("add", other)

    def __sub__(self, other: Any) -> NDArray:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> NDArray:
        return self._reflected("rsub", other)

    def __isub__(self, other: Any) -> NDArray:
        return self._inplace("sub", other)

    def __mul__(self, other: Any) -> NDArray:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> NDArray:
        return self._binary("mul", other)

    def __imul__(self, other: Any) -> NDArray:
        return self._inplace("mul", other)

    def __truediv__(self, other: Any) -> NDArray:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> NDArray:
        return self._reflected("rdiv", other)

    def __itruediv__(self, other: Any) -> NDArray:
        return self._inplace("div", other)

    def __mod__(self, other: Any) -> NDArray:
        return self._binary("mod", other)

    def __rmod__(self, other: Any) -> NDArray:
        return self._reflected("rmod", other)

    def __imod__(self, other: Any) -> NDArray:
        return self._inplace("mod", other)

    def __pow__(self, other: Any) -> NDArray:
        return self._binary("power", other)

    def __rpow__(self, other: Any) -> NDArray:
        return self._reflected("rpower", other)

    def __neg__(self) -> NDArray:
        return invoke("_mul_scalar", (cast("NDArray", self),), {"scalar": -1.0})

    def __abs__(self) -> NDArray:
        return invoke("abs", (cast("NDArray", self),))

    def __eq__(self, other: object) -> Any:
        return self._binary("equal", other)

    def __ne__(self, other: object) -> Any:
        return self._binary("not_equal", other)

    def __gt__(self, other: Any) -> NDArray:
        return self._binary("greater", other)

    def __ge__(self, other: Any) -> NDArray:
        return self._binary("greater_equal", other)

    def __lt__(self, other: Any) -> NDArray:
        return self._binary("lesser", other)

    def __le__(self, other: Any) -> NDArray:
        return self._binary("lesser_equal", other)

    def __hash__(self) -> int:
        return id(self)


def _converted(array: NDArray, values: Any) -> NDArray:
    """NumPy values as an array of `array`'s type and context."""
    given = np.asarray(values)
    if not np.can_cast(given.dtype, array.dtype, "same_kind"):
        raise DTypeError(
            f"values of {given.dtype} do not fit an array of {array.dtype.name}; cast one with astype"
        )
    return array._like(given)


def _scalar(array: NDArray, value: Any) -> float:
    """`value` as the parameter of an operator on `array`.

    Raises:
        DTypeError: It is complex, or an integer whose digits would be lost on an array of integers.
    """
    number = real_number(value)
    if number != value and array.dtype.kind in "iu" and isinstance(value, (int, np.integer)):
        raise DTypeError(
            f"{value} has more digits than a scalar operand keeps (53 bits); "
            f"make it an array: nd.array({value}, dtype={array.dtype.name!r})"
        )
    return number


def real_number(value: Any) -> float:
    """`value` as a float.

    Raises:
        DTypeError: It is complex, or beyond what a float can be.
    """
    if value.__class__ is float:
        return value  # the usual case, by the shortest way
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise DTypeError(f"{value!r} is not a real number; operad has no complex arrays")
    try:
        return float(value)
    except OverflowError as error:
        raise DTypeError(f"a scalar operand is beyond what an array can hold: {error}") from error
