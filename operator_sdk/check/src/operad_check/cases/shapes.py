"""Shapes that an operator with given parameters accepts.

From a spec line, shapes follow from sizes for its free names. Where there is none, they are searched
for: the first argument gets a shape, the operator's own inference says what it can of the others,
and what it leaves open is tried, until inference accepts all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any, final

from hypothesis import strategies as st

from operad.errors import OperadError
from operad.operator import OperatorProperty, PartialShape, Shape, is_known
from operad_check.cases.attempts import Attempts
from operad_check.cases.goal import GivenSize
from operad_check.cases.kinds import CaseKind
from operad_check.trials.cause import is_own
from operad_check.trials.subject import Subject
from operad_check.trials.violation import OperatorRaised
from operad_sdk.declare.shaped import ShapedProperty
from operad_sdk.errors import call_declared

_TRIES = 6
_OF_AUTHORS = 2
"""Sizes that are chosen first where an author's function chooses; others may be numbers of axes."""


_MOST_AXES = 32
"""Axes that arrays of all releases of NumPy may have: an author may choose their number as a size."""


@final
class _Sizes:
    """Draws the sizes for one attempt; one of the sizes may be given."""

    def __init__(self, draw: st.DrawFn, kind: CaseKind, given: GivenSize | None) -> None:
        self._draw = draw
        self._sizes, self._ranks = st.sampled_from(kind.sizes), st.sampled_from(kind.ranks)
        self._given = given
        self._count = 0

    def size(self) -> int:
        """Draw the next size."""
        return self._next(self._sizes)

    def of(self, offered: Sequence[int]) -> int:
        """Draw the next size among those that an author offers."""
        return self._next(st.sampled_from(list(offered)))

    def shape(self) -> Shape:
        """Draw sizes for any number of axes."""
        return tuple(self.size() for _ in range(self._draw(self._ranks)))

    def _next(self, sizes: st.SearchStrategy[int]) -> int:
        self._count += 1
        if self._given is not None and self._given.place == self._count - 1:
            return self._given.length
        if self._given is not None and self._given.beside and self._given.place == self._count - 2:
            return self._given.beside
        if self._given is not None and self._given.others is not None:
            return self._given.others
        return self._draw(sizes)

    def choose(self, name: str, is_sequence: bool) -> Any:
        """Draw the value of a name in a spec line: a shape for a sequence, else one size."""
        return self.shape() if is_sequence else self.size()


def argument_shapes(
    draw: st.DrawFn,
    subject: Subject,
    prop: OperatorProperty,
    kind: CaseKind,
    given: GivenSize | None,
    attempts: Attempts,
) -> list[Shape] | None:
    """Shapes of the arguments; None if none were found.

    Args:
        given: A size that is not drawn, where sizes can be chosen.
        attempts: Told how the operator refuses shapes.
    """
    declared = subject.contract.shapes
    if declared is not None:
        try:
            choose = _Sizes(draw, kind, given).of
            found = call_declared("Contract.shapes", declared, prop, choose, gives=Iterable)
            # `map`, as a comprehension's frame would be the harness's own.
            chosen: list[Shape] = list(map(tuple, found))
        except Exception as error:
            if isinstance(error, OperadError) or is_own(error, outside=1):
                raise
            raise OperatorRaised("the declared shapes", error) from error
        if max(map(len, chosen), default=0) > _MOST_AXES:
            return None
        return _accepted(prop, chosen, attempts)
    if getattr(prop, "is_elementwise", False):
        return [_Sizes(draw, kind, given).shape()] * len(prop.list_arguments())
    has_spec = getattr(prop, "spec", None) is not None
    for attempt in range(_TRIES):
        # a property may want more than its spec line says, so that most examples of the line are refused
        is_from_spec = has_spec and attempt % 2 == 0
        sizes = _Sizes(draw, kind, given)
        found = (
            _from_spec(prop, sizes.choose, attempts)
            if is_from_spec
            else _searched(draw, prop, sizes, attempts)
        )
        if found is not None:
            return found
    return None


def most_elements(prop: OperatorProperty, kind: CaseKind) -> int:
    """Largest number of elements of all arguments: more than the kind's where the line wants more."""
    least = _from_spec(prop, smallest, Attempts()) if getattr(prop, "spec", None) is not None else None
    return max(kind.max_elements, 2 * sum(map(prod, least or ())))


def smallest(name: str, is_sequence: bool) -> Any:
    """The smallest value of a name in a spec line that leaves elements; tests of the line may want more."""
    return () if is_sequence else 1


def fitting_shapes(subject: Subject, prop: OperatorProperty) -> list[list[Shape]]:
    """Shapes of few small sizes that fit a shape line which alone says what is accepted; else none."""
    cls = type(prop)
    is_of_line = getattr(prop, "spec", None) is not None and cls.infer_shape is ShapedProperty.infer_shape
    if not is_of_line or getattr(prop, "functions", None) or subject.contract.shapes is not None:
        return []
    tried = (_from_spec(prop, partial(_of_one_size, size), Attempts()) for size in range(1, 6))
    return [shapes for shapes in tried if shapes is not None]


def _of_one_size(size: int, name: str, is_sequence: bool) -> Any:
    return (size,) if is_sequence else size


def num_sizes(subject: Subject, prop: OperatorProperty) -> int:
    """Number of sizes that are chosen for a case; of a name for any number of axes, one."""
    count = 0

    def choose(name: str, is_sequence: bool) -> Any:
        nonlocal count
        count += 1
        return (2,) if is_sequence else 2

    if subject.contract.shapes is not None:
        return _OF_AUTHORS
    if getattr(prop, "spec", None) is not None:
        _from_spec(prop, choose, Attempts())
    return max(count, 1)


def _from_spec(
    prop: OperatorProperty, choose: Callable[[str, bool], Any], attempts: Attempts
) -> list[Shape] | None:
    try:
        shapes: list[Shape] = prop._bound.example(choose)  # type: ignore[attr-defined]  # the toolkit's own
    except OperadError as error:  # these sizes and parameters do not go together
        attempts.refused(error)
        return None
    return _accepted(prop, shapes, attempts)


def _searched(
    draw: st.DrawFn, prop: OperatorProperty, sizes: _Sizes, attempts: Attempts
) -> list[Shape] | None:
    """One attempt: fill the arguments one after another, and infer after each."""
    count = len(prop.list_arguments())
    shapes: list[PartialShape] = [None] * count
    doubted = draw(st.integers(0, count))  # a place at which a guess may hide what else is accepted
    for place in range(count):
        if not all(map(is_known, shapes)):
            inferred = _inferred(prop, shapes) or shapes  # what raises for a part may accept the whole
            shapes = [given if is_known(given) else new for given, new in zip(shapes, inferred, strict=True)]
        if place and place == doubted and is_known(shapes[place]):
            shapes[place] = draw(st.sampled_from(in_place_of(shapes[place] or ())))
        if is_known(shapes[place]):
            continue
        known = shapes[place]
        if known is not None:
            shapes[place] = tuple(sizes.size() if s is None else s for s in known)
        else:
            shapes[place] = draw(st.sampled_from(_relatives(shapes[:place]))) if place else None
            shapes[place] = shapes[place] if shapes[place] is not None else sizes.shape()
    found = [tuple(size or 0 for size in shape or ()) for shape in shapes]  # all known by now
    return _accepted(prop, found, attempts)


def _relatives(before: Sequence[PartialShape]) -> list[PartialShape]:
    """Shapes that often go with those before: the same, its ends, one with ones, or another (None)."""
    first = next((s for s in before if s), ())
    found: list[PartialShape] = [first, None]
    if first:
        found += [first[:1], first[1:], first[:-1], first[-1:], first[::-1]]
        found += [tuple(1 for _ in first), (1, *first[1:]), (*first[:-1], 1)]
    return list(dict.fromkeys(found))


def in_place_of(guess: tuple[int | None, ...]) -> list[PartialShape]:
    """Shapes that an operator may also accept for an argument with the inferred shape `guess`."""
    found: list[PartialShape] = [guess, (*guess[:-1], 1), (1, *guess[1:]), (1,), guess[:1], guess[1:]]
    return list(dict.fromkeys(found))


def _inferred(prop: OperatorProperty, shapes: Sequence[PartialShape]) -> list[PartialShape] | None:
    try:
        return list(prop.infer_shape(list(shapes))[0])
    except Exception:  # noqa: BLE001 - whatever refuses these shapes; F206 looks at how
        return None


def _accepted(prop: OperatorProperty, shapes: Sequence[Shape], attempts: Attempts) -> list[Shape] | None:
    try:
        prop.infer_shape(list(shapes))
    except Exception as error:  # noqa: BLE001 - as above
        attempts.refused(error)
        return None
    return list(shapes)


def has_own_inference_from_outputs(cls: type[OperatorProperty]) -> bool:
    """Return whether a class infers shapes from outputs by a method of its author's, not by a shape line."""
    given = (OperatorProperty, ShapedProperty)
    return all(cls.infer_shape_backward is not one.infer_shape_backward for one in given)
