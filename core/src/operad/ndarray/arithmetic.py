"""Python's operators on arrays, each an operator of a plugin.

A method looks up the plan of the call, as the functions of `od.nd` do; what is not an array of the same
class or a plain number goes the longer way of `_resolved`.

Source: NDArray, python/mxnet/ndarray/ndarray.py. Differs: arrays of equal shape use the `elemwise_`
operator, which needs one plugin less and dispatches faster than the `broadcast_` one.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from operad import registry
from operad.boundary import boundary
from operad.errors import BindError, DTypeError
from operad.imperative import (
    RECORDING,
    TRACING,
    Array,
    Plan,
    Provenance,
    apply,
    find_invoker,
    insert_bounded,
    local,
)

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray

Method = Callable[[Any, Any], Any]

_EXACT: Final = 2**53
"""Integers below this in magnitude are floats without loss."""


def invoke(name: str, inputs: Sequence[NDArray], params: dict[str, Any] | None = None) -> NDArray:
    """Apply the installed operator called `name`, which has one output.

    Raises:
        OperatorNotFoundError: No plugin provides it; the message says what to install.
    """
    value: NDArray = inputs[0]._function_of(name)(*inputs, **(params or {}))
    return value


def binary(same_shape: str, broadcast: str, scalar: str) -> Method:
    """A method that applies one of three operators, according to the other operand."""
    plans: dict[Any, Plan] = registry.follow({})

    def method(self: Any, other: Any, out: Any = None) -> Any:
        kind, thread = type(other), local.state
        values: tuple[Any, ...]
        if kind is type(self):
            key, values = other._spec, ()
        elif kind is float or (kind is int and -_EXACT <= other <= _EXACT):
            key, values = float, (float(other),)
        else:
            return other_way(self, other, out)
        try:
            plan = plans[thread.mode, self._spec, key]
        except KeyError:
            return other_way(self, other, out)
        fast = plan.fast
        if fast is not None:
            made = fast.call(fast, thread, self, other, None, None, values, out)
            if made is not None:
                return made
        return apply(
            plan, (self, other)[: plan.signature.num_inputs], out, values, thread.mode, self.__class__
        )

    @boundary
    def other_way(self: Any, other: Any, out: Any) -> Any:
        kind: Any
        if local.state.mode >= TRACING:
            other = local.state.trace.operand(self, other, scalar)
        if isinstance(other, (np.ndarray, list, tuple)):
            other = converted(self, other)
        if isinstance(other, Array):
            name = same_shape if self.shape == other.shape else broadcast
            found, values = find_invoker(registry.get(name), {})
            inputs, kind = [self, other], other._spec
        elif isinstance(other, (numbers.Number, np.bool_)):
            found, values = find_invoker(registry.get(scalar), {"scalar": _scalar(self, other)})
            inputs, kind = [self], float
        else:
            return NotImplemented  # Python then asks the other operand
        plan = found.plan(inputs, values=values)
        # An operator whose scalar is no run-time parameter has a plan for each value.
        if (values or len(inputs) == 2) and local.state.mode < TRACING:
            insert_bounded(plans, (local.state.mode, self._spec, kind), plan)
        return apply(plan, inputs, out, values, local.state.mode, self.__class__)

    return method


def _reflected(scalar: str, method: Method) -> Method:
    """The method for a number on the left; other values on the left become arrays first."""
    plain = binary("", "", scalar)

    def reflected(self: Any, other: Any) -> Any:
        if local.state.mode >= TRACING:
            other = local.state.trace.operand(self, other, scalar)
            if isinstance(other, Array):
                return method(other, self)
        if isinstance(other, (np.ndarray, list, tuple)):
            return method(converted(self, other), self)
        return plain(self, other)

    return reflected


def _inplace(kind: str, method: Callable[..., Any]) -> Method:
    def inplace(self: Any, other: Any) -> Any:
        if self._autograd is not None and RECORDING <= local.state.mode < TRACING:
            raise BindError(
                f"in-place {kind} on an array that is being recorded would corrupt its gradient; "
                "write `x = x + y`, or do it under autograd.pause()"
            )
        return method(self, other, self)

    return inplace


def _compared(method: Method) -> Method:
    """A method whose result is noted as 0s and 1s, for a mask must not be taken for indices later."""

    def compare(self: Any, other: Any) -> Any:
        made = method(self, other)
        return made if made is NotImplemented else made._with_provenance(Provenance.COMPARED)

    return compare


def _logical(symbol: str, word: str) -> Method:
    """A method for operands that are true or false, bools and results of comparisons; or for bits."""
    method = binary(f"_logical_{word}", f"broadcast_logical_{word}", f"_logical_{word}_scalar")

    def combine(self: Any, other: Any) -> Any:
        if isinstance(other, (np.ndarray, list, tuple)):
            other = self._like(other, np.dtype(np.bool_)) if np.asarray(other).dtype == bool else other
        for operand in (self, other):
            _check_logical(symbol, operand)
        if isinstance(other, Array) and other.dtype != self.dtype:
            self, other = self.astype(np.bool_), cast("NDArray", other).astype(np.bool_)
        return method(self, other)

    of_truth = _compared(combine)

    def choose(self: Any, other: Any) -> Any:
        if not _has_bits(self) or isinstance(other, (bool, np.bool_)):
            return of_truth(self, other)
        if not isinstance(other, Array):
            other = converted(self, self.dtype.type(other) if isinstance(other, int) else other)
        return invoke(f"bitwise_{word}", (self, other)) if _has_bits(other) else of_truth(self, other)

    return choose


def _has_bits(array: Any) -> bool:
    """Return whether an array has integers that are no results of comparisons."""
    return array.dtype.kind in "iu" and not array._has_provenance(Provenance.COMPARED)


def _check_logical(symbol: str, operand: Any) -> None:
    """Raise DTypeError unless `operand` holds booleans."""
    is_array = isinstance(operand, Array)
    if isinstance(operand, (bool, np.bool_)) or (
        is_array and (operand.dtype == np.bool_ or operand._has_provenance(Provenance.COMPARED))
    ):
        return
    what = f"an array of {operand.dtype.name}" if is_array else f"{operand!r}"
    raise DTypeError(
        f"{symbol}: an operand is {what}, expected bools or results of comparisons, or integers on both "
        "sides; use x.astype('bool'), or x != 0"
    )


class Arithmetic:
    """Mixed into `NDArray`: arithmetic, comparisons and their in-place forms."""

    __slots__ = ()

    __add__ = __radd__ = binary("elemwise_add", "broadcast_add", "_plus_scalar")
    __sub__ = binary("elemwise_sub", "broadcast_sub", "_minus_scalar")
    __mul__ = __rmul__ = binary("elemwise_mul", "broadcast_mul", "_mul_scalar")
    __truediv__ = binary("elemwise_div", "broadcast_div", "_div_scalar")
    __mod__ = binary("_mod", "broadcast_mod", "_mod_scalar")
    __pow__ = binary("_power", "broadcast_power", "_power_scalar")

    __rsub__ = _reflected("_rminus_scalar", __sub__)
    __rtruediv__ = _reflected("_rdiv_scalar", __truediv__)
    __rmod__ = _reflected("_rmod_scalar", __mod__)
    __rpow__ = _reflected("_rpower_scalar", __pow__)

    __iadd__ = _inplace("add", __add__)
    __isub__ = _inplace("sub", __sub__)
    __imul__ = _inplace("mul", __mul__)
    __itruediv__ = _inplace("div", __truediv__)
    __imod__ = _inplace("mod", __mod__)

    __eq__ = _compared(binary("_equal", "broadcast_equal", "_equal_scalar"))
    __ne__ = _compared(binary("_not_equal", "broadcast_not_equal", "_not_equal_scalar"))
    __gt__ = _compared(binary("_greater", "broadcast_greater", "_greater_scalar"))
    __ge__ = _compared(binary("_greater_equal", "broadcast_greater_equal", "_greater_equal_scalar"))
    __lt__ = _compared(binary("_lesser", "broadcast_lesser", "_lesser_scalar"))
    __le__ = _compared(binary("_lesser_equal", "broadcast_lesser_equal", "_lesser_equal_scalar"))

    __and__ = __rand__ = _logical("&", "and")
    __or__ = __ror__ = _logical("|", "or")
    __xor__ = __rxor__ = _logical("^", "xor")

    def __invert__(self) -> Any:
        if _has_bits(self):
            return invoke("bitwise_not", (cast("NDArray", self),))
        _check_logical("~", self)
        return invoke("logical_not", (cast("NDArray", self),))._with_provenance(Provenance.COMPARED)

    def __floordiv__(self, other: Any) -> Any:
        return _whole((self - self % other) / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _whole((other - other % self) / self)

    def __neg__(self) -> Any:
        return self * -1.0

    def __abs__(self) -> Any:
        return invoke("abs", (cast("NDArray", self),))

    __hash__ = object.__hash__


def _whole(quotient: NDArray) -> NDArray:
    """A quotient without remainder, whose division may have rounded."""
    return invoke("round", (quotient,)) if quotient.dtype.kind == "f" else quotient


def converted(array: NDArray, values: Any) -> NDArray:
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
