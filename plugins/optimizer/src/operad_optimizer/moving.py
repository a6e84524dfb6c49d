"""Ways in which an optimizer may move weights: by elements, several at once, by one call of an operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Final

_MOVING: Final = {"step", "step_call", "step_several", "update", "update_multi_precision"}


class Moving:
    """Facts of an optimizer that follow from the methods that its class, or a program's subclass, defines.

    Attributes:
        elementwise: Whether `step` moves every element as if it were alone; a class with a `step` says so.
        aggregate_num: How many weights one call of `step_several` moves; below 2: `step` moves each.
    """

    elementwise: ClassVar[bool] = False
    aggregate_num: int = 0

    def is_aggregating(self, index: int | str | Sequence[int | str]) -> bool:
        """Return whether one call moves several weights, and `index` names several.

        It does not if a subclass overrides how one weight moves.
        """
        if not isinstance(index, (list, tuple)) or self.aggregate_num < 2:
            return False
        for each in type(self).__mro__:  # the class that has the last word on any of these
            if "step_several" in (own := each.__dict__):
                return True
            if "step" in own or "step_call" in own or "update" in own:
                return False
        return False

    @property
    def is_one_call(self) -> bool:
        """True if `step_call` says all that moves a weight, and no subclass moves it otherwise."""
        of = _last_to_define(type(self), _MOVING - {"step_several"})
        return "step_call" in vars(of) and "update" not in vars(of)

    @property
    def is_elementwise(self) -> bool:
        """True if moving a weight in parts, each with its part of the state, gives the same bits."""
        of = _last_to_define(type(self), {*_MOVING, "elementwise"})
        return bool(vars(of).get("elementwise", False))


def _last_to_define(cls: type[Any], names: Collection[str]) -> type[Any]:
    """The class that has the last word on any of the names."""
    return next(each for each in cls.__mro__ if not vars(each).keys().isdisjoint(names))
