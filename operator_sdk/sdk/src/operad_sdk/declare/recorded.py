"""Records of an author's functions at work on arrays: for scalar forms and for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from operad.context import cpu
from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.first_use import import_module
from operad.interrupts import raise_of_handler
from operad.operator import FORWARD, BackwardArrays, ForwardArrays, KernelCall, OpReq, Shape
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.binding import functions_of
from operad_sdk.declare.function import Bound
from operad_sdk.declare.names import EXTRA, IN_DATA, IS_TRAIN, OP_CTX, OUT_DATA, OUT_GRAD, WORDS, Slot
from operad_sdk.declare.surroundings import reason_against_tracing
from operad_sdk.declare.traced_gradient import Positions, TracingContext
from operad_sdk.differentiate import PROGRAM, Namespace, Node, Traced, TraceError, behind, constant
from operad_sdk.differentiate.errors import lasting_refusals, limited_steps, line_text, raising_line
from operad_sdk.differentiate.made_up import zeros
from operad_sdk.differentiate.namespace import in_namespace
from operad_sdk.differentiate.numbers import NumberTrace
from operad_sdk.errors import NoForm

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_CURES: Final = {
    "decides by the lengths": "compute with lengths and decide by parameters, or use numpy.where",
    "values a form does not know": "choose elements by numpy.where, and keep arrays arrays",
    "random numbers": "draw in an operator of its own, and take what was drawn as an argument",
    "parts of an array": "take whole arrays as arguments, and leave parts to an operator before or behind",
    "no argument": "make the array an argument, or compute it from arguments",
    "depends on the mode or": "let a parameter say what training and prediction do apart",
    "as a factor or divisor": "use lengths, or lengths less 1 or 2, as factors and divisors alone",
    "is read in another shape": "leave the reshape to an operator before it",
    "reduces along an axis": "reduce along axes that the results or other arguments have",
    "another value later": "make it a parameter, or a constant by its name, in capitals",
    "from call to call": "take what differs as an argument or as a parameter",
    "keep a state": "keep states in the shape line, as `state name:(...)`",
    "lives on after the call": "keep states in the shape line, as `state name:(...)`",
    "not element-wise": "use element-wise functions and sums, or operad_sdk.loops.CompiledLoops",
    "no rule for": "use element-wise functions and sums, or operad_sdk.loops.CompiledLoops",
    "Python number of one that changes": "compute with it by functions of NumPy, and decide by comparisons",
    "changes meets lengths": "compute with arrays and lengths first, and with the number then",
    "cannot be traced": "use functions of NumPy that take any array, and no attributes of plain arrays",
}
"""Advice, by words of the reason why there is no form."""

_MOST_STEPS: Final = 8000
"""Steps of a trace for a program, which keeps a quarter of them at most; some compute what is not wanted."""

OF_MODE: Final = frozenset(Slot(EXTRA, WORDS.index(word)) for word in (OP_CTX, IS_TRAIN))
"""Slots of what tells a function the mode."""

Named = list[tuple[str, Traced]]


class TracedNumbers(NamedTuple):
    """Parameters of a trace, those of run-time as numbers that change, and the property that has them."""

    trace: NumberTrace
    params: tuple[Any, ...]
    prop: OperatorProperty


def no_form(reason: str, error: Exception) -> NoForm:
    """A reason with the author's line and advice."""
    line = getattr(error, "line", None) or raising_line(error.__traceback__)
    cure = next((cure for words, cure in _CURES.items() if words in reason), "")
    return NoForm(reason, line_text(line), cure)


def traced_program(
    call: KernelCall, parts: Sequence[str], is_train: bool
) -> tuple[list[Traced], list[tuple[str, Traced]]] | NoForm:
    """The functions that compute some parts, traced for these very shapes; or why they cannot be.

    Returns:
        The arrays given: arguments, or for gradients the entries that they read together, and states; and
        what was computed, by name.
    """
    prop = call.prop
    try:
        if prop.is_stateful or prop.is_shaped_by_values or type(prop).params.run_time:
            raise TraceError("it keeps a state, has run-time parameters, or its shapes depend on values")
        check_traceable(prop, parts, call.in_shapes)
        shapes = list(call.in_shapes)
        with limited_steps(_MOST_STEPS):
            inputs, results = recorded(prop, parts, shapes, call.in_types, is_train, PROGRAM, None)
        return [cell for _, cell in inputs], results
    except OperadError as error:
        return no_form(str(error), error)
    except Exception as error:  # noqa: BLE001 - the author's function, which then runs as it is
        raise_of_handler(error)
        return no_form(f"it cannot be traced ({type(error).__name__}: {error})", error)


def check_traceable(prop: OperatorProperty, parts: Sequence[str], in_shapes: Sequence[Shape]) -> None:
    """Make sure that the functions of some parts depend on their arrays alone.

    Raises:
        TraceError: They do not.
    """
    _expect_no_resources(prop, parts, in_shapes)
    for bound in functions_of(prop, parts):
        if (reason := reason_against_tracing(bound.function)) is not None:
            raise TraceError(reason)


def _expect_no_resources(prop: OperatorProperty, parts: Sequence[str], shapes: Sequence[Shape]) -> None:
    if (prop.forward_resource if FORWARD in parts else prop.backward_resource)(shapes):
        raise TraceError("it asks for random numbers or for scratch memory")


def recorded(
    prop: OperatorProperty,
    parts: Sequence[str],
    shapes: list[Shape],
    in_types: Sequence[DType],
    is_train: bool,
    level: int,
    numbers: TracedNumbers | None,
) -> tuple[Named, Named]:
    """The functions of some parts at work on arrays of some shapes: what they were given, and results."""
    context: Any = TracingContext(cpu(), is_train, Namespace(np, level))
    try:
        inferred = prop.infer_shape(shapes), prop.infer_type(in_types)
    except ShapeError:
        raise TraceError("its parameters say how long axes are") from None
    if inferred[0][0] != shapes:
        raise TraceError("its shapes do not follow from the number of axes")
    specs = [list(zip(*pair, strict=True)) for pair in zip(*inferred, strict=True)]
    _expect_no_resources(prop, parts, shapes)  # for these lengths, which are others

    def run(bind: Callable[[Bound], Bound]) -> tuple[Named, Named]:
        forward, gradients = bind(prop.binding.forward), list(map(bind, prop.binding.traced))
        operator = BoundOperator(prop, cpu(), shapes, in_types, forward=forward, gradients=gradients)
        operator.xp = context.xp
        if numbers is not None:
            operator = operator.with_params(numbers.params, numbers.prop)
        cells = _Cells(level, shapes)
        with np.errstate(all="ignore"), lasting_refusals():
            if FORWARD in parts:
                return _forward(prop, partial(operator.forward, context), specs, cells)
            return _gradients(prop, parts, partial(operator.backward, context), specs, cells)

    try:
        return run(lambda bound: bound)
    except TraceError as error:
        if numbers is not None or "plain array" not in str(error):
            raise
    return run(lambda bound: bound.called(in_namespace(bound.function, context.xp)))


def _forward(
    prop: OperatorProperty, run: Callable[..., None], specs: Any, cells: _Cells
) -> tuple[Named, Named]:
    arguments, states = map(cells.given, specs[0::2])
    inputs = [Traced(array.node) for array in (*arguments, *states)]
    outputs = cells.unwritten(specs[1])
    before = [cell.node for cell in outputs]
    run(ForwardArrays(arguments, [OpReq.WRITE] * len(outputs), outputs, states))
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


def _gradients(
    prop: OperatorProperty, parts: Sequence[str], run: Callable[..., None], specs: Any, cells: _Cells
) -> tuple[Named, Named]:
    names = {
        IN_DATA: prop.list_arguments(),
        OUT_DATA: [prop.tensors.output_name(n) for n in prop.list_outputs()],
    }
    names[OUT_GRAD] = [f"{name}_grad" for name in names[OUT_DATA]]
    wanted = [f"{name}_grad" in parts for name in names[IN_DATA]]
    entries = prop.backward_dependency(wanted)
    every: Mapping[str, Any] = {IN_DATA: specs[0], OUT_DATA: specs[1], OUT_GRAD: specs[1]}
    arrays = cells.given([every[kind][index] for kind, index in entries])
    states = cells.given(specs[2])
    inputs = [Traced(array.node) for array in (*arrays, *states)]
    groups = Positions(entries, (), {kind: len(every[kind]) for kind in every}).filled(arrays)
    filled = cells.unwritten(specs[0])
    targets = [cell if flag else None for cell, flag in zip(filled, wanted, strict=True)]
    found = [(names[IN_DATA][i], cell) for i, cell in enumerate(targets) if cell is not None]
    before = [cell.node for _, cell in found]
    requests = [OpReq.WRITE if flag else OpReq.NULL for flag in wanted]
    run(BackwardArrays(**groups, req=requests, in_grad=targets, aux_states=states))
    if any(state.node is not was.node for state, was in zip(states, inputs[len(arrays) :], strict=True)):
        raise TraceError("a gradient changes a state")
    results = [(f"{name}_grad", cell) for name, cell in found]
    _expect_written([name for name, _ in results], [cell for _, cell in results], before)
    read = [names[kind][index] for kind, index in entries]
    if cells.level == PROGRAM:
        read += prop.list_auxiliary_states()
    elif not behind([cell.node for _, cell in results]).isdisjoint(state.node for state in states):
        raise TraceError("it reads a state, which is no argument of a form")
    return list(zip(read, inputs[: len(read)], strict=True)), results


@final
class _Cells:
    """Makes the arrays of a trace."""

    def __init__(self, level: int, shapes: Sequence[Shape]) -> None:
        self.level = level
        self._rng = import_module("numpy.random").default_rng([n for shape in shapes for n in shape])

    def given(self, specs: Sequence[tuple[Shape, DType]]) -> list[Traced]:
        """Arguments of functions: in a trace for forms made-up numbers."""
        values = starmap(zeros if self.level == PROGRAM else self._made_up, specs)
        return [Traced(Node(self.level, value, is_input=True)) for value in values]

    def unwritten(self, specs: Sequence[tuple[Shape, DType]]) -> list[Traced]:
        """Targets of functions, which nothing was written into."""
        values = starmap(_one_number if self.level == PROGRAM else _poison, specs)
        return [constant(self.level, value) for value in values]

    def _made_up(self, shape: Shape, dtype: DType) -> Any:
        values = self._rng.uniform(0.25, 1.75, shape) if dtype.kind == "f" else np.ones(shape)
        return values.astype(dtype)


def _one_number(shape: Shape, dtype: DType) -> Any:
    return np.broadcast_to(np.zeros((), dtype), shape)


def _poison(shape: Shape, dtype: DType) -> Any:
    return np.full(shape, np.nan if dtype.kind == "f" else 0).astype(dtype)


def _expect_written(names: Sequence[str], cells: Sequence[Traced], before: Sequence[Node]) -> None:
    for name, cell, was in zip(names, cells, before, strict=True):
        if cell.node is was:
            raise TraceError(f"{name} is not written")
