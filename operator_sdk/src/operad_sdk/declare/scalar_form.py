"""The scalar forms of an operator, found by tracing its own functions.

A form is to hold for all lengths and values, and in both modes. So each part is traced three times: in
either mode with the same lengths, which must give the same, and with other lengths and values. What differs
between these is no constant; a number may be a multiple of lengths (`operad_sdk.differentiate.form`). Where
training and prediction differ, each has a form (`in_mode`), which kernels alone ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import chain, count
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from operad.context import cpu
from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.first_use import import_module
from operad.interrupts import raise_of_handler
from operad.operator import FORWARD, NoForm, OpReq, ScalarForm, Shape
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound
from operad_sdk.declare.names import EXTRA, IN_DATA, OUT_DATA, OUT_GRAD, SELF, WORDS, Slot
from operad_sdk.declare.surroundings import reason_against_tracing
from operad_sdk.declare.traced_gradient import Positions, TracingContext
from operad_sdk.differentiate import FORM, Namespace, Node, Traced, TraceError, constant, form_of, merged
from operad_sdk.differentiate.errors import line_text, raising_line
from operad_sdk.differentiate.numbers import NumberTrace

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_LENGTHS: Final = ((6, 7, 8, 9, 11, 13, 17, 19), (23, 19, 17, 13, 11, 9, 8, 7))
"""Lengths that stand for those of a signature; few are numbers that parameters have.

No two axes keep their ratio, nor most of them their order, from one to the other.
"""

_SHORT: Final = ((6, 7, 8, 9, 11, 13), (13, 8, 11, 6, 9, 7))
"""The same for arrays of many axes: no product of two is the same in both."""

_MOST_ELEMENTS: Final = 1 << 22
"""Of an array that is traced: eight axes of the lengths above have hundreds of millions."""

_BEYOND: Final = 1 << 40
"""Numbers from here on stand for lengths in keys."""

_MAX_FORMS: Final = 4096
"""Signatures of one operator whose forms are kept, as many as `compiled` keeps: a check has a thousand."""

MODES: Final = "what it computes depends on the mode"

_CURES: Final = {
    "decides by the lengths": "compute with lengths and decide by parameters, or use numpy.where",
    "values a form does not know": "choose elements by numpy.where, and keep arrays arrays",
    "random numbers": "draw in an operator of its own, and take what was drawn as an argument",
    "parts of an array": "take whole arrays as arguments, and leave parts to an operator before or behind",
    "no argument": "make the array an argument, or compute it from arguments",
    "depends on the mode or": "let a parameter say what training and prediction do apart",
    "as a factor or divisor": "use lengths as factors and divisors alone",
    "is read in another shape": "leave the reshape to an operator before it",
    "reduces along an axis": "reduce along axes that the results or other arguments have",
    "another value later": "make it a parameter, or a constant by its name, in capitals",
    "from call to call": "take what differs as an argument or as a parameter",
    "keep a state": "keep states in the shape line, as `state name:(...)`",
    "lives on after the call": "keep states in the shape line, as `state name:(...)`",
    "no function of elements": "use functions of elements and sums, or operad_sdk.loops.CompiledLoops",
    "has no derivative": "use functions of elements and sums, or operad_sdk.loops.CompiledLoops",
    "Python number of one that changes": "compute with it by functions of NumPy, and decide by comparisons",
    "changes meets lengths": "compute with arrays and lengths first, and with the number then",
    "cannot be traced": "use functions of NumPy that take any array, and no attributes of plain arrays",
}
"""Advice, by words of the reason why there is no form."""

Named = list[tuple[str, Traced]]

F = TypeVar("F")

_ITSELF: Final = Slot(EXTRA, WORDS.index(SELF))


class TracedNumbers(NamedTuple):
    """Parameters of a trace, those of run-time as numbers that change, and the property that has them."""

    trace: NumberTrace
    params: tuple[Any, ...]
    prop: OperatorProperty


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

    def find(fixed: frozenset[int]) -> ScalarForm | str:
        return traced_form(prop, part, in_shapes, in_types, fixed)[0]

    return kept(prop, (part, *prop.get_params().items()), in_shapes, in_types, cache, find)


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
        fixed = _said_by_parameters(prop, in_shapes)
        pattern = (*params, tuple(_renumbered(in_shapes, (_BEYOND,), fixed)))
        found = cache.get(pattern)
        if found is None:
            found = cache[pattern] = find(fixed)
        cache[asked] = found
    return found


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
    every = [_renumbered(in_shapes, lengths, fixed) for lengths in _LENGTHS]
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
        for bound in _functions(prop, part):
            if (reason := reason_against_tracing(bound.function)) is not None:
                raise TraceError(reason)
            # There it would have the number before that is in the arrays' type.
            is_typed = numbers_of is not None and "scalar" in type(prop).params.run_time
            if is_typed and any(slot == _ITSELF for slot in bound.slots):
                raise TraceError("it reads `self`, where its `scalar` is another number")
        usual, others = _lengths(prop, in_shapes, fixed)
        found = []
        modes = [(usual, is_train) for is_train in prop.traced_modes]
        for lengths, is_train in (*modes, (others, modes[0][1])):
            given = numbers_of() if numbers_of is not None else None
            traces += [given.trace] if given is not None else []
            found.append(
                _traced(prop, part, _renumbered(in_shapes, lengths, fixed), in_types, is_train, given)
            )
        (first, space), (second, other) = found[0], found[-1]
        if any(one != first for one, _ in found[:-1]):
            raise TraceError(MODES)
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


def no_form(reason: str, error: Exception) -> NoForm:
    """A reason with the author's line and advice."""
    line = getattr(error, "line", None) or raising_line(error.__traceback__)
    cure = next((cure for words, cure in _CURES.items() if words in reason), "")
    return NoForm(reason, line_text(line), cure)


def _functions(prop: OperatorProperty, part: str) -> list[Bound]:
    """The author's functions that compute a part."""
    if part == FORWARD:
        return [prop.binding.forward]
    position = prop.list_arguments().index(part.removesuffix("_grad"))
    return [bound for bound in prop.binding.traced if position in bound.targets]


def _lengths(
    prop: OperatorProperty, in_shapes: Sequence[Shape], fixed: frozenset[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Two lists of lengths with which no argument or result has too many elements.

    Raises:
        TraceError: There are too many axes.
    """
    for pair in (_LENGTHS, _SHORT):
        if all(_elements(prop, _renumbered(in_shapes, each, fixed)) <= _MOST_ELEMENTS for each in pair):
            return pair
    raise TraceError("its arrays have too many axes to be traced with lengths that can be told apart")


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
    context: Any = TracingContext(cpu(), is_train, Namespace(np, FORM))
    try:
        inferred = prop.infer_shape(shapes), prop.infer_type(in_types)
    except ShapeError:
        raise TraceError("its parameters say how long axes are") from None
    if inferred[0][0] != shapes:
        raise TraceError("its shapes do not follow from the number of axes")
    specs = [list(zip(*pair, strict=True)) for pair in zip(*inferred, strict=True)]
    rng = import_module("numpy.random").default_rng([length for shape in shapes for length in shape])
    operator = BoundOperator(
        prop, cpu(), shapes, in_types, forward=prop.binding.forward, gradients=prop.binding.traced
    )
    operator.xp = context.xp
    if numbers is not None:
        operator = operator.with_params(numbers.params, numbers.prop)
    trace: Callable[..., tuple[Named, Named]] = _forward if part == "forward" else _gradient
    with np.errstate(all="ignore"):
        inputs, results = trace(prop, part, operator, context, specs, lambda spec: _made_up(rng, *spec))
    if numbers is not None:
        inputs += [(f"{text} as {dtype}", cell) for (text, dtype), cell in numbers.trace.inputs.items()]
    return form_of(f"{prop.name}.{part}", inputs, results)


def _forward(
    prop: OperatorProperty, part: str, operator: Any, context: Any, specs: Any, make: Callable[..., Traced]
) -> tuple[Named, Named]:
    arguments, states = [make(spec) for spec in specs[0]], [make(spec) for spec in specs[2]]
    if prop.forward_resource([array.shape for array in arguments]):
        raise TraceError("it asks for random numbers or for scratch memory")
    given = [*arguments, *states]
    inputs = [Traced(array.node) for array in given]
    outputs = [_unwritten(spec) for spec in specs[1]]
    before = [cell.node for cell in outputs]
    operator.forward(context, arguments, [OpReq.WRITE] * len(outputs), outputs, states)
    _expect_written(prop.list_outputs(), outputs, before)
    changed = [
        (name, state)
        for name, state, was in zip(
            prop.list_auxiliary_states(), states, inputs[len(arguments) :], strict=True
        )
        if state.node is not was.node
    ]
    names = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    return list(zip(names, inputs, strict=True)), [*zip(prop.list_outputs(), outputs, strict=True), *changed]


def _gradient(
    prop: OperatorProperty, part: str, operator: Any, context: Any, specs: Any, make: Callable[..., Traced]
) -> tuple[Named, Named]:
    names = {
        IN_DATA: prop.list_arguments(),
        OUT_DATA: [prop.tensors.output_name(n) for n in prop.list_outputs()],
    }
    names[OUT_GRAD] = [f"{name}_grad" for name in names[OUT_DATA]]
    position = names[IN_DATA].index(part.removesuffix("_grad"))
    if prop.backward_resource([shape for shape, _ in specs[0]]):
        raise TraceError("it asks for random numbers or for scratch memory")
    entries = prop.backward_dependency([i == position for i in range(len(specs[0]))])
    every: Mapping[str, Any] = {IN_DATA: specs[0], OUT_DATA: specs[1], OUT_GRAD: specs[1]}
    arrays = [make(every[kind][index]) for kind, index in entries]
    inputs = [Traced(array.node) for array in arrays]
    groups = Positions(entries, (position,), {kind: len(every[kind]) for kind in every}).filled(arrays)
    target = _unwritten(specs[0][position])
    before = target.node
    requests = [OpReq.WRITE if i == position else OpReq.NULL for i in range(len(specs[0]))]
    targets = [target if i == position else None for i in range(len(specs[0]))]
    states = [make(spec) for spec in specs[2]]
    operator.backward(context, groups[OUT_GRAD], groups[IN_DATA], groups[OUT_DATA], requests, targets, states)
    _expect_written([part], [target], [before])
    read = [names[kind][index] for kind, index in entries]
    return list(zip(read, inputs, strict=True)), [(part, target)]


def _renumbered(
    shapes: Sequence[Shape], lengths: Sequence[int], fixed: frozenset[int] = frozenset()
) -> list[Shape]:
    """Shapes with other lengths in place of their own; a length of 1 stays, as it may be repeated."""
    instead = {length: length for length in (*fixed, 1)}
    free = (length for length in chain(lengths, count(max(lengths) + 2)) if length not in fixed)
    different = dict.fromkeys(length for shape in shapes for length in shape if length not in instead)
    instead |= zip(different, free, strict=False)
    return [tuple(instead[length] for length in shape) for shape in shapes]


def _made_up(rng: np.random.Generator, shape: Shape, dtype: DType) -> Traced:
    values = rng.uniform(0.25, 1.75, shape) if dtype.kind == "f" else np.ones(shape)
    return Traced(Node(FORM, values.astype(dtype), is_input=True))


def _unwritten(spec: tuple[Shape, DType]) -> Traced:
    return constant(FORM, np.full(spec[0], np.nan if spec[1].kind == "f" else 0).astype(spec[1]))


def _expect_written(names: Sequence[str], cells: Sequence[Traced], before: Sequence[Node]) -> None:
    for name, cell, was in zip(names, cells, before, strict=True):
        if cell.node is was:
            raise TraceError(f"{name} is not written")
