"""One function of an operator under the requests of one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol, final

import numpy as np

from operad.dtypes import DType
from operad.operator import ArgumentSlot, Array, CallTemplate, OpReq, Shape
from operad_sdk.declare.function import Bound
from operad_sdk.declare.names import ABSENT, AUX, EXTRA, IN_GRAD, IS_TRAIN, OUT_GRAD, WORDS, Slot
from operad_sdk.declare.targets import add, store, sum_to, truncated
from operad_sdk.errors import DeclarationError

Values = list[Any]
"""The value of everything that a function can name, in one list."""

OVERWRITES: Final = (OpReq.WRITE, OpReq.INPLACE)

_MOST_KEPT_BYTES: Final = 1 << 20
"""Size of the largest array that is kept for a target that nobody asks for."""


class Surroundings(Protocol):
    """Members of an operator that its runners use."""

    xp: ModuleType

    def like(self, group: str, position: int) -> tuple[Shape, DType]:
        """Shape and type of a target, even if there is no array for it."""


@final
class ValuePositions(NamedTuple):
    """Positions of arrays among a function's values.

    Attributes:
        firsts: Where each group begins.
        group: The group of the targets.
        typed: Positions in `in_data` of arguments with a type of their own, such as indices.
        broadcast: Positions of targets whose returned values are summed to their shape.
        names: Names of the targets by position.
        train_only: Positions of targets that may stay unwritten in prediction.
        is_pointwise: Whether the targets are a head gradient times slopes, element by element.
    """

    firsts: Mapping[str, int]
    group: str
    typed: frozenset[int]
    broadcast: frozenset[int]
    names: Sequence[str]
    train_only: frozenset[int] = frozenset()
    is_pointwise: bool = False

    def is_state(self, position: int) -> bool:
        """Return whether the value at a position is an auxiliary state."""
        return self.firsts[AUX] <= position < self.firsts[EXTRA]


@final
class FunctionRunner:
    """A bound function with the positions of its values.

    Attributes:
        targets: Positions of what it computes.
    """

    __slots__ = (
        "_around", "_bound", "_first", "_function", "_head", "_layout", "_positions", "_reads", "_unasked",
        "_wide", "targets",
    )  # fmt: skip

    def __init__(
        self, around: Surroundings, bound: Bound, layout: ValuePositions, wide: Mapping[DType, DType]
    ) -> None:
        self._around = around
        self._bound = bound
        self._layout = layout
        self._wide = wide
        self._first = layout.firsts[layout.group]
        # Alike for all shapes; `in_data` begins at 0.
        key = (layout.group, *layout.firsts.values(), layout.typed, layout.is_pointwise)
        found: _Positions | None = bound.positions.get(key)
        if found is None:
            found = bound.positions[key] = _found_positions(bound, layout)
        self._positions, self._reads, self._head, lengths = found
        self._function = (
            bound.function if lengths is None else partial(_call_grouped, bound.function, lengths)
        )
        self.targets = bound.targets
        # By position, what stood for a target that nobody asks for.
        # invariant: it is in no table while a call uses it, so that threads never share it.
        self._unasked: dict[int, Array] = {}

    def wanted(self, req: Sequence[OpReq]) -> frozenset[str]:
        """Names of the targets that are asked for."""
        names = self._layout.names
        return frozenset(names[position] for position in self.targets if req[position] is not OpReq.NULL)

    def template(
        self, req: Sequence[OpReq], types: Sequence[DType | None], extras: Sequence[Any]
    ) -> CallTemplate:
        """Call of the function in which only arrays are missing.

        Args:
            req: One request for each array of the targets' group.
            types: The type of each array among the values.
            extras: The values of the group `EXTRA`, which are the last.
        """
        bound = self._bound
        wide = self._widened(req, types)
        positions = list(map(ArgumentSlot, range(len(types))))
        args = self._picked([*positions, *extras])
        if not wide and not bound.accumulate:
            if not bound.returned and all(req[position] in OVERWRITES for position in bound.filled):
                return CallTemplate(self._function, args)
            if not bound.filled and len(bound.returned) == 1 and isinstance(bound.returned[0].position, int):
                position = bound.returned[0].position
                if (
                    bound.returned[0] is not ABSENT
                    and req[position] in OVERWRITES
                    and not self._sums(position)
                ):
                    target = positions[self._first + position]
                    return CallTemplate(_store_result, (self._function, target, *args))
        return CallTemplate(self._run, (wide, req, extras, *positions))

    def _picked(self, values: Values) -> tuple[Any, ...]:
        """Arguments of the function among all values, in the function's order and without groups."""
        return tuple([values[position] for position in self._positions])

    def _sums(self, position: int) -> bool:
        return position in self._layout.broadcast

    def _widened(self, req: Sequence[OpReq], types: Sequence[DType | None]) -> dict[DType, DType]:
        """Types that are computed in a wider type: the declared ones, and integers that have gradients."""
        given = [self._first + position for position in self.targets if req[position] is not OpReq.NULL]
        targets = {dtype for position in given if (dtype := types[position]) is not None}
        found = targets.union(dtype for position, _ in self._reads if (dtype := types[position]) is not None)
        wide = {dtype: self._wide[dtype] for dtype in found if dtype in self._wide}
        if self._layout.group == IN_GRAD:
            wide |= {dtype: _DOUBLE for dtype in targets if dtype.kind in "iu"}
        return wide

    def _run(
        self, wide: Mapping[DType, DType], req: Sequence[OpReq], extras: Sequence[Any], *arrays: Array | None
    ) -> None:
        """Run the general case: conversions before, and sums, conversions and additions after."""
        bound, first = self._bound, self._first
        values = [*arrays, *extras]
        targets = arrays[first : first + len(req)]
        head = None
        if self._head is not None and getattr(values[self._head], "dtype", _DOUBLE).kind in "iu":
            # Slopes are rounded to integers before they meet the head gradient, as in MXNet.
            head, values[self._head] = values[self._head], self._around.xp.ones(values[self._head].shape)
        states: list[tuple[Array, Array]] = []
        for position, is_typed in self._reads:
            array = values[position]
            if array is not None and array.dtype in wide and not (is_typed and array.dtype != _HALF):
                values[position] = array.astype(wide[array.dtype])
                if self._layout.is_state(position):
                    states.append((array, values[position]))
        scratch: dict[int, Array] = {}
        for position in bound.filled:
            values[first + position] = self._target(position, req[position], targets[position], wide, scratch)
        result = self._function(*self._picked(values))
        for state, value in states:
            state[...] = value
        for position, value in scratch.items():
            self._put(position, value, req[position], targets[position], head)
            if (
                targets[position] is None
                and isinstance(value, np.ndarray)
                and value.nbytes <= _MOST_KEPT_BYTES
            ):
                self._unasked[position] = value
        if bound.returned:
            is_train = values[self._layout.firsts[EXTRA] + WORDS.index(IS_TRAIN)]
            self._store_returned(result, self._asked(req, is_train, result), targets, head)

    def _asked(self, req: Sequence[OpReq], is_train: bool, result: Any) -> Sequence[OpReq]:
        """Requests, without those for results that may be missing in prediction and are missing."""
        if is_train or not self._layout.train_only:
            return req
        results = result if isinstance(result, tuple) else (result,)
        missing = {
            slot.position for slot, value in zip(self._bound.returned, results, strict=False) if value is None
        }
        return [
            OpReq.NULL if position in missing and position in self._layout.train_only else r
            for position, r in enumerate(req)
        ]

    def _target(
        self,
        position: int,
        req: OpReq,
        target: Array | None,
        wide: Mapping[DType, DType],
        scratch: dict[int, Array],
    ) -> Array:
        """Array that the function fills: the target, or scratch memory that is added to or copied into it."""
        accumulates = self._bound.accumulate
        if target is not None and target.dtype not in wide and req is not OpReq.NULL:
            if accumulates and req is not OpReq.ADD:
                target.fill(0)
            if accumulates or req is not OpReq.ADD:
                return target
        if target is not None:
            shape, dtype = target.shape, target.dtype
        elif not accumulates and (kept := self._unasked.pop(position, None)) is not None:
            scratch[position] = kept
            return kept
        else:
            shape, dtype = self._around.like(self._layout.group, position)
        make = self._around.xp.zeros if accumulates else self._around.xp.empty
        scratch[position] = make(shape, wide.get(dtype, dtype))
        return scratch[position]

    def _store_returned(
        self, result: Any, req: Sequence[OpReq], targets: Sequence[Array | None], head: Array | None
    ) -> None:
        returned = self._bound.returned
        results = result if len(returned) > 1 else (result,)
        if not isinstance(results, (tuple, list)) or len(results) != len(returned):
            raise DeclarationError(
                f"{self._bound.what} returned {_described(result)}, expected a tuple of {len(returned)}: "
                f"{', '.join(map(self._shown, returned))}"
            )
        for slot, value in zip(returned, results, strict=True):
            if slot is ABSENT:
                continue
            items = value if isinstance(slot.position, tuple) else (value,)
            if len(items) != len(slot.positions):
                raise DeclarationError(
                    f"{self._bound.what} returned {len(items)} arrays, expected {len(slot.positions)}: "
                    f"{self._shown(slot)}"
                )
            for position, item in zip(slot.positions, items, strict=True):
                self._put(position, item, req[position], targets[position], head)

    def _put(self, position: int, value: Any, req: OpReq, target: Array | None, head: Array | None) -> None:
        if req is OpReq.NULL:
            return
        if value is None:
            raise DeclarationError(
                f"{self._bound.what} neither fills nor returns {self._layout.names[position]}, "
                "which is asked for"
            )
        assert target is not None
        if self._truncates(target):
            value = truncated(value, target.dtype)  # before sums, as in MXNet
        if head is not None:
            value = value * head
        if self._sums(position) and hasattr(value, "shape"):
            value = sum_to(value, target.shape)
        (add if req is OpReq.ADD else store)(target, value)

    def _truncates(self, target: Array) -> bool:
        is_wide = target.dtype in self._wide or self._layout.group == IN_GRAD
        return is_wide and target.dtype.kind in "iub"

    def _shown(self, slot: Slot) -> str:
        return (
            ", ".join(self._layout.names[position] for position in slot.positions)
            if slot is not ABSENT
            else "None"
        )


_Positions = tuple[list[int], list[tuple[int, bool]], int | None, list[int | None] | None]


def _found_positions(bound: Bound, layout: ValuePositions) -> _Positions:
    """Positions among all values: of arguments, of arrays that are read, and of the head gradient.

    Each array that is read has whether its type is its own. Last are lengths of arguments, if any is a tuple.
    """
    firsts = layout.firsts
    positions = [firsts[slot.group] + position for slot in bound.slots for position in slot.positions]
    lengths = [None if isinstance(slot.position, int) else len(slot.position) for slot in bound.slots]
    reads = [
        (firsts[slot.group] + position, slot.group == "in_data" and position in layout.typed)
        for slot in bound.slots
        if slot.group not in (EXTRA, layout.group)
        for position in slot.positions
    ]
    heads = [entry.index for entry in bound.reads if entry.kind == OUT_GRAD]
    head = firsts[OUT_GRAD] + heads[0] if layout.is_pointwise and len(heads) == 1 else None
    return positions, reads, head, None if all(length is None for length in lengths) else lengths


def widened_types(half: str | None, integers: str | None) -> dict[DType, DType]:
    """Wider type by type computed in it: half precision, and integers and bool."""
    wide = {} if half is None else {_HALF: np.dtype(half)}
    return wide if integers is None else wide | dict.fromkeys(_INTEGERS, np.dtype(integers))


_HALF: Final[DType] = np.dtype(np.float16)
_INTEGERS: Final = tuple(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
_DOUBLE: Final[DType] = np.dtype(np.float64)


def _described(value: Any) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, (tuple, list)) else type(value).__name__


def _store_result(function: Callable[..., Any], target: Array, *values: Any) -> None:
    value = function(*values)
    if value is None:
        raise DeclarationError(
            f"{getattr(function, '__qualname__', function)} neither fills nor returns its result"
        )
    store(target, value)


def _call_grouped(function: Callable[..., Any], lengths: Sequence[int | None], *values: Any) -> Any:
    """Call a function, some of whose arguments are tuples of the given lengths."""
    rest = iter(values)
    return function(*[next(rest) if n is None else tuple(islice(rest, n)) for n in lengths])
