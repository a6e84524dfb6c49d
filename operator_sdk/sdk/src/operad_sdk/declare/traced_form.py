"""Tracing an operator's own functions for their scalar forms.

A form is to hold for all lengths and values, and in both modes. So each part is traced with two sets of
lengths and values, and where it may depend on the mode in either one, which must give the same. What differs
between these is no constant; a number may be a multiple of lengths (`operad_sdk.differentiate.form`). Where
training and prediction differ, each has a form (`in_mode`), which kernels alone ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, Final

from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.interrupts import raise_of_handler
from operad.operator import ScalarForm, Shape
from operad_sdk.declare.binding import functions_of
from operad_sdk.declare.names import EXTRA, SELF, WORDS, Slot
from operad_sdk.declare.recorded import OF_MODE, TracedNumbers, check_traceable, no_form, recorded
from operad_sdk.declare.scalar_form import LENGTHS, MODES, SHORT, Pairs, renumbered
from operad_sdk.differentiate import FORM, TraceError, form_of, merged
from operad_sdk.differentiate.lengths import told_apart
from operad_sdk.differentiate.numbers import NumberTrace

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_MOST_ELEMENTS: Final = 1 << 22
"""Of an array that is traced: eight axes of the lengths above have hundreds of millions."""

_MOST_BEGUN: Final = 16
"""Traces of one operator that are kept until the forms of both modes are there."""

_ITSELF: Final = Slot(EXTRA, WORDS.index(SELF))


def form_and_notes(
    prop: OperatorProperty,
    part: str,
    shapes: Sequence[Shape],
    in_types: Sequence[DType],
    fixed: frozenset[int],
) -> tuple[ScalarForm | str, bool]:
    """The form, and whether lengths that differ were distinguished; arguments as for `traced_form`."""
    token = told_apart.set([])
    try:
        return traced_form(prop, part, shapes, in_types, fixed)[0], bool(told_apart.get())
    finally:
        told_apart.reset(token)


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
                _traced(prop, part, renumbered(in_shapes, pairs, which, fixed), in_types, is_train, given)
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


def _lengths(prop: OperatorProperty, in_shapes: Sequence[Shape], fixed: frozenset[int]) -> Pairs:
    """Lengths for two traces with which no argument or result has too many elements.

    Raises:
        TraceError: There are too many axes.
    """
    for pairs in (LENGTHS, SHORT):
        every = [renumbered(in_shapes, pairs, which, fixed) for which in (0, 1)]
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
