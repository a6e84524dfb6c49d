"""The scalar forms of an operator: those that were found, for all lengths of a pattern.

Functions are traced by `operad_sdk.declare.traced_form`, which is imported where no process has traced them
before (`operad_sdk.declare.kept_answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final, TypeVar

from operad.dtypes import DType
from operad.errors import OperadError
from operad.first_use import import_module
from operad.interrupts import raise_of_handler
from operad.operator import ScalarForm, Shape
from operad_sdk.declare.kept_answers import kept_answer

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

Pairs = tuple[tuple[int, int], ...]
LENGTHS: Final = ((6, 23), (7, 19), (8, 17), (9, 13), (11, 7), (13, 8), (17, 10), (19, 9))
"""Lengths that stand for those of a signature in either trace; few are numbers that parameters have.

A number is taken for a product of lengths that changes by the same factor, so no two products do from one
trace to the other, nor does a product stay.
"""

SHORT: Final = ((6, 9), (7, 11), (8, 10), (9, 7), (11, 8), (13, 6))
"""The same for arrays of many axes."""

_MAX_FORMS: Final = 4096
"""Signatures of one operator whose forms are kept, as many as `compiled` keeps: a check has a thousand."""

MODES: Final = "what it computes depends on the mode"

F = TypeVar("F")


def scalar_form(
    prop: OperatorProperty,
    part: str,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    cache: dict[Any, Any],
) -> ScalarForm | str:
    """Scalar form of a part; see `OperatorProperty.scalar_form` of the core.

    Args:
        cache: By signature, in which lengths do not count, but for 1, those that parameters say, and for
            which are equal.
    """
    about = (part, *prop.get_params().items())

    def found(shapes: Sequence[Shape], fixed: frozenset[int]) -> tuple[ScalarForm | str, bool]:
        question = ("form", *about, prop.traced_modes, *in_types, sorted(fixed), *_pattern(shapes, fixed))
        return kept_answer(prop, question, partial(_traced, prop, part, shapes, in_types, fixed))

    def find(fixed: frozenset[int]) -> ScalarForm | str:
        # A trace with lengths that all differ serves all patterns of equal ones, if it holds there.
        apart = _apart(prop, in_shapes, fixed)
        find_apart = partial(found, apart)
        form, is_told = kept(prop, ("apart", *about), apart, in_types, cache, find_apart)
        holds = not is_told and (isinstance(form, ScalarForm) or form == MODES)
        if holds or _pattern(apart, fixed) == _pattern(in_shapes, fixed):
            return form
        return found(in_shapes, fixed)[0]

    return kept(prop, about, in_shapes, in_types, cache, find)


def _traced(*about: Any) -> tuple[ScalarForm | str, bool]:
    traced: Any = import_module("operad_sdk.declare.traced_form")
    return traced.form_and_notes(*about)  # type: ignore[no-any-return]


def _apart(prop: OperatorProperty, in_shapes: Sequence[Shape], fixed: frozenset[int]) -> list[Shape]:
    """Shapes of which no two axes are as long as one another unless they have to be; else the same ones."""
    found: list[Shape] = []
    fresh = count(max((1, *chain.from_iterable(in_shapes))) + 1)
    try:
        for number, shape in enumerate(in_shapes):
            left = [None] * (len(in_shapes) - number)
            known = prop.infer_shape([*found, *left])[0][number] or (None,) * len(shape)
            given = [n if n == 1 or n in fixed else own for n, own in zip(shape, known, strict=True)]
            found.append(tuple([next(fresh) if n is None else n for n in given]))
        return found if prop.infer_shape(found)[0] == found else [*in_shapes]
    except Exception as error:  # noqa: BLE001 - the author's rule, of arguments that are not all known
        raise_of_handler(error)
        return [*in_shapes]


def in_mode(prop: OperatorProperty, is_train: bool) -> OperatorProperty:
    """A copy whose scalar forms are those of training, or of prediction, alone."""
    made = copy(prop)
    made.traced_modes = (is_train,)
    return made


def kept(
    prop: OperatorProperty,
    about: tuple[Any, ...],
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    cache: dict[Any, Any],
    find: Callable[[frozenset[int]], F],
) -> F:
    """Result of `find` for a signature, which is asked once."""
    params = (about, tuple(in_types), prop.epoch, prop.traced_modes)
    asked = (*params, tuple(in_shapes))
    found: F | None = cache.get(asked)
    if found is None:
        if len(cache) >= _MAX_FORMS:
            cache.clear()
        # Lengths that parameters fixed in other shapes: what holds of a pattern with these holds here.
        said: dict[Any, frozenset[int]] = cache.setdefault((tuple(prop.get_params().items()), prop.epoch), {})
        for fixed in dict.fromkeys([*said.values()]):
            found = cache.get((*params, _pattern(in_shapes, fixed)))
            if found is not None:
                break
        else:
            shapes = tuple(in_shapes)  # all parts and types ask
            if shapes not in said:
                said[shapes] = _said_by_parameters(prop, in_shapes)
            fixed = said[shapes]
            pattern = (*params, _pattern(in_shapes, fixed))
            found = cache.get(pattern)
            if found is None:
                found = cache[pattern] = find(fixed)
        cache[asked] = found
    return found


def _pattern(shapes: Sequence[Shape], fixed: frozenset[int]) -> tuple[Shape, ...]:
    """Shapes in which numbers below 0 stand for lengths that are not fixed; a length of 1 may be repeated."""
    instead = {length: length for length in (*fixed, 1)}
    return tuple([tuple([instead.setdefault(n, -len(instead)) for n in shape]) for shape in shapes])


def _said_by_parameters(prop: OperatorProperty, in_shapes: Sequence[Shape]) -> frozenset[int]:
    """Lengths that the parameters fix: with other lengths they refuse these shapes."""
    fixed = frozenset[int]()
    if _are_allowed(prop, in_shapes, fixed):
        return fixed
    fixed = frozenset(length for shape in in_shapes for length in shape)
    for length in sorted(fixed):
        if _are_allowed(prop, in_shapes, fixed - {length}):
            fixed -= {length}
    return fixed


def _are_allowed(prop: OperatorProperty, in_shapes: Sequence[Shape], fixed: frozenset[int]) -> bool:
    """Return whether the parameters accept other lengths in place of all but the fixed ones."""
    every = [renumbered(in_shapes, LENGTHS, which, fixed) for which in (0, 1)]
    try:
        return all(prop.infer_shape(shapes)[0] == shapes for shapes in every)
    except OperadError:
        return False


def renumbered(
    shapes: Sequence[Shape], pairs: Pairs, which: int, fixed: frozenset[int] = frozenset()
) -> list[Shape]:
    """Shapes with other lengths in place of their own; a length of 1 stays, as it may be repeated."""
    instead = {length: length for length in (*fixed, 1)}
    most = max(map(max, pairs))
    every = chain(pairs, ((most + 2 * i, most + 2 * i + 3) for i in count(1)))
    # A pair stays one: lengths of either trace that stand in other places may be the same.
    free = (pair[which] for pair in every if fixed.isdisjoint(pair))
    different = dict.fromkeys(length for shape in shapes for length in shape if length not in instead)
    instead |= zip(different, free, strict=False)
    return [tuple(instead[length] for length in shape) for shape in shapes]
