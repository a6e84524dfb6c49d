"""Values of run-time parameters, such as a scalar or a learning rate, on their way to an operator.

Their values differ from call to call, so no plan has them in its key, and they are checked without
the machinery that parses other parameters where they are plain numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign
from operator import call
from typing import Any, Final, final

from operad.engine.thread import local
from operad.errors import ParamError
from operad.op import Operator, OperatorProperty, Param


class _Absent:
    """Stands for an argument that a call did not give."""

    _spec = None  # as an array: there is none

    def __repr__(self) -> str:
        return "<not given>"


ABSENT: Final[Any] = _Absent()


@final
class RunTime:
    """The run-time parameters of one operator, and the values that came last.

    Args:
        prop: The operator's property.

    Attributes:
        last: Values that came last, what `converted` gave for them, and whether values that are equal to
            them mean the same.
    """

    __slots__ = ("_is_number", "_known", "_name", "_names", "last")

    def __init__(self, prop: OperatorProperty) -> None:
        declared = type(prop).params
        self._name = prop.name
        # By name, since one declaration may serve several operators under several names.
        self._names = declared.run_time
        found = [declared[name] for name in self._names]
        # Each with its default, and whether any float will do.
        self._known = tuple((param, param.default, _takes_any_float(param)) for param in found)
        # The usual case: one number, of which any will do.
        self._is_number = len(found) == 1 and self._known[0][2]
        # One tuple, replaced whole, so that threads that share a plan agree on what they see.
        self.last: tuple[tuple[Any, ...], tuple[Any, ...] | None, bool] = ((), None, False)

    def __len__(self) -> int:
        return len(self._names)

    def are_alike(self, last: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
        """Return whether two sets of values are surely the same: one object, or equal floats of a sign."""
        if self._is_number:
            return _is_alike(last[0], given[0])
        return all(map(_is_alike, last, given))

    def converted(self, given: tuple[Any, ...], operator: Operator) -> tuple[Any, ...]:
        """The values as `operator.direct_with_values` takes them.

        Args:
            given: One value per parameter, in declared order; `ABSENT` stands for the default.
        Raises:
            ParamError: A value does not fit.
        """
        last, found, _ = self.last
        if found is not None and self.are_alike(last, given):
            return found
        if self._is_number and given[0].__class__ is float:
            parsed, tells = given, given[0] != 0
        else:
            parsed, tells = self._parsed(given)
        thread = local.state
        run = call if thread.inside else thread.run  # with NumPy's error state of operators
        found = run(operator.run_time_values, parsed)
        self.last = (given, found, tells)
        return found

    def named(self, given: tuple[Any, ...]) -> Mapping[str, Any]:
        """The values that were given, by name."""
        named = zip(self._names, given, strict=True)
        return {name: value for name, value in named if value is not ABSENT}

    def _parsed(self, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
        """The values as the parameters take them, and whether whatever equals them means the same.

        Zeros do not, which have two signs, and neither do values of other types than Python's numbers.
        """
        parsed, tells = [], True
        for value, (param, default, takes_any_float) in zip(given, self._known, strict=True):
            if value is ABSENT:
                parsed.append(default)
                continue
            kind = value.__class__
            tells = tells and (kind is float or kind is int) and value != 0
            if kind is float and takes_any_float:
                parsed.append(value)
                continue
            try:
                parsed.append(param.parse(value))
            except ParamError as error:
                raise ParamError(f"{self._name}: {error}") from error.__cause__
        return tuple(parsed), tells


def _is_alike(one: Any, other: Any) -> bool:
    if one is other:
        return True
    are_floats = one.__class__ is other.__class__ is float
    return are_floats and one == other and (one != 0 or copysign(1, one) == copysign(1, other))


def _takes_any_float(param: Param) -> bool:
    return param.type is float and not param.bounds and not param.choices
