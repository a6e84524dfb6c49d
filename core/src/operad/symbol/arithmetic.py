"""Python's operators on symbols. Between symbols they are the same-shape operators, as in MXNet."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Final, cast

from operad import registry
from operad.errors import ArgumentError
from operad.graph import Entry
from operad.ndarray import real_number
from operad.symbol.compose import apply

if TYPE_CHECKING:
    from operad.symbol.symbol import Symbol


_HINTS: Final = {
    "elemwise_add": "_plus", "elemwise_sub": "_minus", "elemwise_mul": "_mul", "elemwise_div": "_div",
    "_plus_scalar": "_plusscalar", "_minus_scalar": "_minusscalar", "_rminus_scalar": "_rminusscalar",
    "_mul_scalar": "_mulscalar", "_div_scalar": "_divscalar", "_rdiv_scalar": "_rdivscalar",
    "_mod_scalar": "_modscalar", "_rmod_scalar": "_rmodscalar", "_power_scalar": "_powerscalar",
}  # fmt: skip
"""What automatic names begin with, where MXNet 1.x has older names for the operators."""


class SymbolArithmetic:
    """Mixed into `Symbol`."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy_scalar * symbol is ours to compose

    def _apply(self, op: str, *others: Any, **params: Any) -> Symbol:
        prop = registry.get(op)(**params)
        inputs = {}
        for name, symbol in zip(prop.list_arguments(), (self, *others), strict=True):
            entries = cast("Symbol", symbol).entries
            if len(entries) != 1:
                raise ArgumentError(f"{op}: {name} has {len(entries)} outputs, expected one; index it")
            inputs[name] = entries[0]
        node = apply(prop, inputs, hint=_HINTS.get(op, op), said=params)
        return type(cast("Symbol", self))([Entry(node)])

    def _binary(self, op: str, scalar_op: str, other: Any) -> Symbol:
        if isinstance(other, SymbolArithmetic):
            return self._apply(op, other)
        if isinstance(other, numbers.Number):
            return self._apply(scalar_op, scalar=real_number(other))
        return NotImplemented  # type: ignore[no-any-return]  # Python then asks the other operand

    def __add__(self, other: Any) -> Symbol:
        return self._binary("elemwise_add", "_plus_scalar", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return self._binary("elemwise_sub", "_minus_scalar", other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._binary("elemwise_sub", "_rminus_scalar", other)

    def __mul__(self, other: Any) -> Symbol:
        return self._binary("elemwise_mul", "_mul_scalar", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self._binary("elemwise_div", "_div_scalar", other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._binary("elemwise_div", "_rdiv_scalar", other)

    def __mod__(self, other: Any) -> Symbol:
        return self._binary("_mod", "_mod_scalar", other)

    def __rmod__(self, other: Any) -> Symbol:
        return self._binary("_mod", "_rmod_scalar", other)

    def __pow__(self, other: Any) -> Symbol:
        return self._binary("_power", "_power_scalar", other)

    def __rpow__(self, other: Any) -> Symbol:
        return self._binary("_power", "_rpower_scalar", other)

    def __neg__(self) -> Symbol:
        return self._apply("_mul_scalar", scalar=-1.0)

    def __abs__(self) -> Symbol:
        return self._apply("abs")

    def __eq__(self, other: object) -> Any:
        return self._binary("_equal", "_equal_scalar", other)

    def __ne__(self, other: object) -> Any:
        return self._binary("_not_equal", "_not_equal_scalar", other)

    def __gt__(self, other: Any) -> Symbol:
        return self._binary("_greater", "_greater_scalar", other)

    def __ge__(self, other: Any) -> Symbol:
        return self._binary("_greater_equal", "_greater_equal_scalar", other)

    def __lt__(self, other: Any) -> Symbol:
        return self._binary("_lesser", "_lesser_scalar", other)

    def __le__(self, other: Any) -> Symbol:
        return self._binary("_lesser_equal", "_lesser_equal_scalar", other)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise ArgumentError("a symbol has no truth value before it is bound; compare names, or evaluate it")
