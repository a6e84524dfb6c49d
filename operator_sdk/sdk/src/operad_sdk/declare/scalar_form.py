"""The scalar forms of an operator, found by tracing its own functions.

A form is to hold for all lengths and values, and in both modes. So each part is traced with two sets of
lengths and values, and where it may depend on the mode in either one, which must give the same. What differs
between these is no constant; a number may be a multiple of lengths (`operad_sdk.differentiate.form`). Where
training and prediction differ, each has a form (`in_mode`), which kernels alone ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import chain, count
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeVar

from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.interrupts import raise_of_handler
from operad.operator import ScalarForm, Shape
from operad_sdk.declare.names import EXTRA, SELF, WORDS, Slot
from operad_sdk.declare.recorded import (
    OF_MODE,
    TracedNumbers,
    check_traceable,
    functions_of,
    no_form,
    recorded,
)
from operad_sdk.differentiate import FORM, TraceError, form_of, merged
from operad_sdk.differentiate.lengths import told_apart
from operad_sdk.differentiate.numbers import NumberTrace

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_Pairs = tuple[tuple[int, int], ...]
_LENGTHS: Final = ((6, 23), (7, 19), (8, 17), (9, 13), (11, 7), (13, 8), (17, 10), (19, 9))
"""Lengths that stand for those of a signature in either trace; few are numbers that parameters have.

A number is taken for a product of lengths that changes by the same factor, so no two products do from one
trace to the other, nor does a product stay.
"""

_SHORT: Final = ((6, 9), (7, 11), (8, 10), (9, 7), (11, 8), (13, 6))
"""The same for arrays of many axes."""

_MOST_ELEMENTS: Final = 1 << 22
"""Of an array that is traced: eight axes of the lengths above have hundreds of millions."""

_MAX_FORMS: Final = 4096
"""Signatures of one operator whose forms are kept, as many as `compiled` keeps: a check has a thousand."""

_MOST_BEGUN: Final = 16
"""Traces of one operator that are kept until the forms of both modes are there."""

MODES: Final = "what it computes depends on the mode"

F = TypeVar("F")

_ITSELF: Final = Slot(EXTRA, WORDS.index(SELF))


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

    def find(fixed: frozenset[int]) -> ScalarForm | str:
        # A trace with lengths that all differ serves all patterns of equal ones, if it holds there.
        apart = _apart(prop, in_shapes, fixed)
        found, is_told = kept(prop, ("apart", *about), apart, in_types, cache, partial(find_apart, apart))
        holds = not is_told and (isinstance(found, ScalarForm) or found == MODES)
        if holds or _pattern(apart, fixed) == _pattern(in_shapes, fixed):
            return found
        return traced_form(prop, part, in_shapes, in_types, fixed)[0]

    def find_apart(shapes: list[Shape], fixed: frozenset[int]) -> tuple[ScalarForm | str, bool]:
        token = told_apart.set([])
        try:
            return traced_form(prop, part, shapes, in_types, fixed)[0], bool(told_apart.get())
        finally:
            told_apart.reset(token)

    return kept(prop, about, in_shapes, in_types, cache, find)


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
    every = [_renumbered(in_shapes, _LENGTHS, which, fixed) for which in (0, 1)]
    try:
        return all(prop.infer_shape(shapes)[0] == shapes for shapes in every)
    except OperadError:
        return False


def traced_form(
    prop: OperatorProperty,
    part: str,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    fixed: frozenset[int],
    numbers_of: Callable[[], TracedNumbers] | None = None,
) -> tuple[ScalarForm | str, NumberTrace | None]:
    """The form, and what was noted of numbers that change.

    Args:
        numbers_of: Makes those of a trace.

    Raises:
        ArithmeticError: The function raises it for these values, and may not for others.
    """
    traces: list[NumberTrace] = []
    try:
        if prop.is_stateful or prop.is_shaped_by_values:
            raise TraceError("it keeps a state, or its shapes depend on values")
        check_traceable(prop, (part,), in_shapes)
        # There it would have the number before that is in the arrays' type.
        is_typed = numbers_of is not None and "scalar" in type(prop).params.run_time
        if is_typed and any(_ITSELF in bound.slots for bound in functions_of(prop, (part,))):
            raise TraceError("it reads `self`, where its `scalar` is another number")
        pairs = _lengths(prop, in_shapes, fixed)
        found: list[tuple[ScalarForm, Shape]] = []
        # Modes count where a function asks for them, or outputs and states are not written in both.
        slots = {slot for bound in functions_of(prop, (part,)) for slot in bound.slots}
        asks = slots & OF_MODE or prop.train_only_outputs or prop.list_auxiliary_states()
        modes = [(0, is_train) for is_train in (prop.traced_modes if asks else prop.traced_modes[:1])]
        for which, is_train in (*modes, (1, modes[0][1])):
            if which and any(one != found[0][0] for one, _ in found):
                raise TraceError(MODES)
            given = numbers_of() if numbers_of is not None else None
            traces += [given.trace] if given is not None else []
            found.append(
                _traced(prop, part, _renumbered(in_shapes, pairs, which, fixed), in_types, is_train, given)
            )
        (first, space), (second, other) = found[0], found[-1]
        if len({repr((list(trace.inputs), trace.questions)) for trace in traces}) > 1:
            raise TraceError("what it does with run-time parameters depends on the mode or on lengths")
        return merged(first, second, (space, other)), traces[0] if traces else None
    except OperadError as error:
        found_not = no_form(str(error), error)
    except Exception as error:
        raise_of_handler(error)
        if numbers_of is not None and isinstance(error, ArithmeticError):
            raise
        found_not = no_form(f"it cannot be traced ({type(error).__name__}: {error})", error)
    return found_not, traces[-1] if traces else None


def _lengths(prop: OperatorProperty, in_shapes: Sequence[Shape], fixed: frozenset[int]) -> _Pairs:
    """Lengths for two traces with which no argument or result has too many elements.

    Raises:
        TraceError: There are too many axes.
    """
    for pairs in (_LENGTHS, _SHORT):
        every = [_renumbered(in_shapes, pairs, which, fixed) for which in (0, 1)]
        if all(_elements(prop, shapes) <= _MOST_ELEMENTS for shapes in every):
            return pairs
    raise TraceError("its arrays have too many axes to be traced with lengths that can be distinguished")


def _elements(prop: OperatorProperty, shapes: list[Shape]) -> int:
    """Elements of the largest argument or result."""
    try:
        found = [*shapes, *chain.from_iterable(prop.infer_shape(shapes))]
    except ShapeError:  # which tracing will meet, and say
        found = [*shapes]
    return max((prod(length or 0 for length in shape or ()) for shape in found), default=0)


def _traced(
    prop: OperatorProperty,
    part: str,
    shapes: list[Shape],
    in_types: Sequence[DType],
    is_train: bool,
    numbers: TracedNumbers | None,
) -> tuple[ScalarForm, Shape]:
    """The form for some lengths, and its iteration space."""
    # Where the mode counts, the forms of both begin with the traces that showed it.
    begun: dict[Any, tuple[tuple[ScalarForm, Shape], list[str]]] = prop._forms.setdefault("begun", {})
    about = (part, *prop.get_params().items(), *shapes, *in_types, is_train, prop.epoch)
    notes = told_apart.get(None) if numbers is None else None
    if notes is not None and about in begun:
        found, noted = begun[about]
        notes += noted
        return found
    inputs, results = recorded(prop, (part,), shapes, in_types, is_train, FORM, numbers)
    if numbers is not None:
        inputs += [(f"{text} as {dtype}", cell) for (text, dtype), cell in numbers.trace.inputs.items()]
    found = form_of(f"{prop.name}.{part}", inputs, results)
    if notes is not None:
        if len(begun) >= _MOST_BEGUN:
            begun.clear()
        begun[about] = found, [*notes]
    return found


def _renumbered(
    shapes: Sequence[Shape], pairs: _Pairs, which: int, fixed: frozenset[int] = frozenset()
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
