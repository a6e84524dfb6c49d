"""Python's operators on symbols. Between symbols they are the same-shape operators, as in MXNet."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from operad import registry
from operad.errors import UnsupportedError
from operad.graph import Entry
from operad.ndarray import real_number
from operad.symbol.compose import apply, only_entry

if TYPE_CHECKING:
    from operad.symbol.symbol import Symbol


_HINTS: Final = {
    "elemwise_add": "_plus", "elemwise_sub": "_minus", "elemwise_mul": "_mul", "elemwise_div": "_div",
    "_plus_scalar": "_plusscalar", "_minus_scalar": "_minusscalar", "_rminus_scalar": "_rminusscalar",
    "_mul_scalar": "_mulscalar", "_div_scalar": "_divscalar", "_rdiv_scalar": "_rdivscalar",
    "_mod_scalar": "_modscalar", "_rmod_scalar": "_rmodscalar", "_power_scalar": "_powerscalar",
}  # fmt: skip
"""Beginnings of automatic names, where MXNet 1.x has older names for the operators."""


def _binary(same_shape: str, scalar: str) -> Callable[[Any, Any], Any]:
    """A method that applies one of two operators, according to the other operand."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, SymbolArithmetic):
            return self._apply(same_shape, other)
        if isinstance(other, numbers.Number):
            return self._apply(scalar, said={"scalar": other}, scalar=real_number(other))
        return NotImplemented  # Python then asks the other operand

    return method


class SymbolArithmetic:
    """Mixed into `Symbol`."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy_scalar * symbol is ours to compose

    __add__ = __radd__ = _binary("elemwise_add", "_plus_scalar")
    __sub__ = _binary("elemwise_sub", "_minus_scalar")
    __rsub__ = _binary("elemwise_sub", "_rminus_scalar")
    __mul__ = __rmul__ = _binary("elemwise_mul", "_mul_scalar")
    __truediv__ = _binary("elemwise_div", "_div_scalar")
    __rtruediv__ = _binary("elemwise_div", "_rdiv_scalar")
    __mod__ = _binary("_mod", "_mod_scalar")
    __rmod__ = _binary("_mod", "_rmod_scalar")
    __pow__ = _binary("_power", "_power_scalar")
    __rpow__ = _binary("_power", "_rpower_scalar")

    __eq__ = _binary("_equal", "_equal_scalar")
    __ne__ = _binary("_not_equal", "_not_equal_scalar")
    __gt__ = _binary("_greater", "_greater_scalar")
    __ge__ = _binary("_greater_equal", "_greater_equal_scalar")
    __lt__ = _binary("_lesser", "_lesser_scalar")
    __le__ = _binary("_lesser_equal", "_lesser_equal_scalar")
    __hash__ = object.__hash__

    def _apply(self, op: str, *others: Any, said: Mapping[str, Any] | None = None, **params: Any) -> Symbol:
        prop = registry.get(op)(**params)
        operands = zip(prop.list_arguments(), (self, *others), strict=True)
        inputs = {name: only_entry(op, name, symbol) for name, symbol in operands}
        node = apply(prop, inputs, hint=_HINTS.get(op, op), said=params if said is None else said)
        return type(cast("Symbol", self))([Entry(node)])

    def __neg__(self) -> Symbol:
        return self._apply("_mul_scalar", scalar=-1.0)

    def __abs__(self) -> Symbol:
        return self._apply("abs")

    def __bool__(self) -> bool:
        raise UnsupportedError(
            "a symbol has no truth value before it is bound; compare names, or evaluate it"
        )
