"""Inference of shapes and of types through subgraphs: the common part, and the difference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, final

from operad.errors import DTypeError
from operad.operator import unify_shapes
from operad_control_flow.subgraph import Subgraph


class Rules(ABC):
    """Inference of one kind of facts of arrays, shapes or types; an unknown one is None."""

    @abstractmethod
    def of(self, part: Subgraph, known: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Facts of inputs and outputs of a subgraph, from what is known of its inputs."""

    @abstractmethod
    def same(self, first: Any, second: Any, what: str) -> Any:
        """The fact that agrees with both.

        Raises:
            ShapeError: They are shapes and differ; `what` says of what.
            DTypeError: They are types and differ.
        """

    @abstractmethod
    def of_slice(self, whole: Any) -> Any:
        """The fact of a slice along the first axis."""

    @abstractmethod
    def of_sliced(self, row: Any, whole: Any, length: int | None) -> Any:
        """The fact of what has `length` such slices, of which `whole` is known."""

    @abstractmethod
    def of_stack(self, one: Any, length: int | None) -> Any:
        """The fact of `length` such arrays along a new first axis."""

    @abstractmethod
    def length_of(self, whole: Any) -> int | None:
        """The length of the first axis, where a shape says it."""


@final
class _Shapes(Rules):
    def of(self, part: Subgraph, known: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return part.infer_shapes(known)

    def same(self, first: Any, second: Any, what: str) -> Any:
        return unify_shapes(first, second, what)

    def of_slice(self, whole: Any) -> Any:
        # As `x[0]` of an array of one axis: there are no arrays without axes.
        return None if whole is None else whole[1:] or (1,)

    def of_sliced(self, row: Any, whole: Any, length: int | None) -> Any:
        if whole is not None and len(whole) == 1:
            return (length,)
        return None if whole is None and row == (1,) else self.of_stack(row, length)

    def of_stack(self, one: Any, length: int | None) -> Any:
        return None if one is None else (length, *one)

    def length_of(self, whole: Any) -> int | None:
        length: int | None = whole[0] if whole else None
        return length


@final
class _Types(Rules):
    def of(self, part: Subgraph, known: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return part.infer_types(known)

    def same(self, first: Any, second: Any, what: str) -> Any:
        if first is not None and second is not None and first != second:
            raise DTypeError(f"{what} is {first}, expected {second}")
        return second if first is None else first

    def of_slice(self, whole: Any) -> Any:
        return whole

    def of_sliced(self, row: Any, whole: Any, length: int | None) -> Any:
        return row

    def of_stack(self, one: Any, length: int | None) -> Any:
        return one

    def length_of(self, whole: Any) -> int | None:
        return None


SHAPES: Final = _Shapes()
TYPES: Final = _Types()
