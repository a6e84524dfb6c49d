"""Arrays that record how they were computed.

A function of plain arrays is called with `Traced` values in their place. NumPy hands every call on one of
them back (`__array_ufunc__`, `__array_function__`), so each step is computed as ever and noted as a `Node`.
Reverse accumulation over the nodes then gives derivatives (`reverse`).

Writing. Gradient functions fill arrays and parts of arrays: `np.multiply(a, b, out)`, `out[:, 1:] = a`,
`np.matmul(a, b, out=out.reshape(shape))`. A node never changes; a `Traced` is a cell that holds one node
after another. A view is a cell without a node: it is read through the cell it is a view of, and a write
to it writes there, a new node in which that part is replaced. So every view sees every write, as in memory.

Levels. The value of a node may be a `Traced` of an outer trace: so derivatives of derivatives are the same
function once more. Every trace has a number, its level, and the inner one has the larger; a step belongs to
the innermost trace among its arguments, for which values of outer traces are constants.

Forms. Level 0 is the trace of which scalar forms are made (`form`): every node there knows the step that it
is, whatever is computed from one is traced, a comparison too, and no code may read a value, or decide by the
length of an axis (`lengths`).

Programs. So it is at level -1, for arrays of given lengths, by which code may decide. Nothing is computed
there: a value is zeros of the right shape and type that lie in memory as the array will (`made_up`), which
cost nothing as long as nobody looks at them. A function of NumPy of which nothing is known is a step too.

Source: Maclaurin, "Modeling, Inference and Optimization with Composable Differentiable Procedures", 2016,
chapter 4, for tracing by levels. Differs: arrays can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from operad.errors import TraceError
from operad.first_use import import_module
from operad.operator import ScalarForm
from operad_sdk.differentiate import dispatch
from operad_sdk.differentiate.errors import NoAttributeError, calling_line, count_step, refusal
from operad_sdk.differentiate.lengths import AxisLength, Size, note_apart
from operad_sdk.differentiate.numbers import CallNumber, as_inputs
from operad_sdk.sums import blocked_sum

Pullback = Callable[[Any], Any]
"""Takes the gradient of a node's value to that of one of its parents."""

FORM: Final = 0
"""The level of traces that forms are made of."""
PROGRAM: Final = -1
"""The level of traces that programs are made of."""

_numbers: Final = count()


@final
class Node:
    """One step of a trace.

    Attributes:
        number: Position in the order of computing; larger than that of every parent.
        level: The trace it belongs to.
        value: What came out: a plain array, or a `Traced` of an outer trace.
        parents: The nodes it was computed from, each with its pullback; empty for constants and inputs.
        leads: Whether an input of the trace stands behind it.
        step: In a trace for forms what computed it, and from what: nodes, and values that nothing led to.
        line: In a trace for forms, the author's line that computed it.
        lying: The value as NumPy would lay it out in memory; what is no view lies in one piece in a program.
    """

    __slots__ = ("leads", "level", "line", "lying", "number", "parents", "step", "value")

    def __init__(
        self,
        level: int,
        value: Any,
        parents: Sequence[tuple[Node, Pullback]] = (),
        is_input: bool = False,
        step: AppliedPrimitive | None = None,
    ) -> None:
        self.number = next(_numbers)
        self.level = level
        self.value = self.lying = value
        self.parents = parents
        self.leads = is_input or bool(parents)
        self.step = step
        self.line = calling_line() if step is not None else None


class AppliedPrimitive(NamedTuple):
    """A primitive as it was applied."""

    primitive: Primitive
    args: Sequence[Any]
    options: dict[str, Any]


class View(NamedTuple):
    """Reading of a part of an array, and replacement of that part."""

    read: Callable[[Any], Any]
    replace: Callable[[Any, Any], Any]


class Primitive:
    """A step whose derivative is known.

    Args:
        function: Computes it from plain arrays.
        pullbacks: For each argument by position a function of (gradient, result, *arguments, **options) that
            gives the argument's gradient; None where there is none.
        fits: Whether the arguments broadcast, so that their gradients have to be summed back.
        form: What it is in a scalar form: the name of a rule of `form`, or the form that it applies.
    """

    __slots__ = ("fits", "form", "function", "pullbacks")

    def __init__(
        self,
        function: Callable[..., Any],
        *pullbacks: Callable[..., Any] | None,
        fits: bool = False,
        form: str | ScalarForm | None = None,
    ) -> None:
        if isinstance(form, str) and function.__name__ == "<lambda>":
            function.__name__ = form
        self.function = function
        self.pullbacks = pullbacks
        self.fits = fits
        self.form = form

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result: traced where an argument is."""
        level = max([arg.level for arg in args if isinstance(arg, Traced)], default=None)
        if level is None:
            return self.function(*args, **options)
        if level == PROGRAM:
            return self._noted(args, options)
        args = tuple(as_inputs(self.function, args, is_mapper=isinstance(self.form, ScalarForm)))
        nodes = [arg.node if isinstance(arg, Traced) and arg.level == level else None for arg in args]
        values = [arg if node is None else node.value for arg, node in zip(args, nodes, strict=True)]
        result = self(*values, **options)
        if level == FORM:
            known = [arg if node is None else node for arg, node in zip(args, nodes, strict=True)]
            return Traced(Node(level, result, is_input=True, step=AppliedPrimitive(self, known, options)))
        parents = [
            (node, _pullback(self, pull, position, result, values, options))
            for position, (node, pull) in enumerate(zip(nodes, self.pullbacks, strict=False))
            if node is not None and node.leads and pull is not None
        ]
        return Traced(Node(level, result, parents))

    def _noted(self, args: Sequence[Any], options: dict[str, Any]) -> Traced:
        """The result in a program; arrays may stand in lists and indices too."""
        count_step()
        known = [dispatch.each(arg, lambda one: one.node if isinstance(one, Traced) else one) for arg in args]
        step = AppliedPrimitive(self, known, options)
        return Traced(import_module("operad_sdk.differentiate.made_up").noted(step))


def _pullback(
    primitive: Primitive,
    pull: Callable[..., Any],
    position: int,
    result: Any,
    values: Sequence[Any],
    options: dict[str, Any],
) -> Pullback:
    def pulled(gradient: Any) -> Any:
        found = pull(gradient, result, *values, **options)
        return fitted(found, values[position]) if primitive.fits else found

    return pulled


def fitted(gradient: Any, like: Any) -> Any:
    """A gradient summed to the shape of what was broadcast, in its type."""
    shape = np.shape(plain(like))
    new = len(gradient.shape) - len(shape)
    ones = [new + i for i, n in enumerate(shape) if n == 1 and gradient.shape[new + i] != 1]
    axes = (*range(new), *ones)
    if axes:
        gradient = blocked_sum(gradient, axes, keepdims=True).reshape(shape)
    dtype = plain(like).dtype
    return gradient if gradient.dtype == dtype else gradient.astype(dtype)


def plain(value: Any) -> Any:
    """The array that a value of any level is."""
    while isinstance(value, Traced):
        value = value.node.value
    return value


def in_memory(value: Any) -> Any:
    """The same, as NumPy would lay it out."""
    while isinstance(value, Traced):
        value = value.node.lying
    return value


def value_alone(x: Any) -> Any:
    """Value without its derivative: a plain array, or one in a trace for forms."""
    while isinstance(x, Traced) and x.level > FORM:
        x = x.node.value
    return type(x)(map(value_alone, x)) if type(x) in (list, tuple) else x


def constant(level: int, value: Any) -> Traced:
    """Cell of a trace with a value that does not depend on the traced arguments."""
    return Traced(Node(level, value))


def filled(level: int, value: Any) -> Traced:
    """Cell whose elements all have the number in `value`, held so that a form finds one number."""
    one = np.resize(value[(slice(1),) * value.ndim], ()) if level <= FORM else value
    return constant(level, np.broadcast_to(one, value.shape))


@final
class Traced(NDArrayOperatorsMixin):
    """An array inside a trace: a cell that holds nodes, or a view of another cell."""

    __slots__ = ("_node", "_read", "_view", "_whole")
    __array_priority__ = 1000.0  # CuPy's arrays ask for it before they compute `x * traced`

    def __init__(self, node: Node | None, whole: Traced | None = None, view: View | None = None) -> None:
        self._node = node
        self._whole = whole
        self._view = view
        self._read: tuple[Node, Node] | None = None

    @property
    def node(self) -> Node:
        """Node of the array's present value."""
        if self._whole is None or self._view is None:
            assert self._node is not None
            return self._node
        whole = self._whole.node
        if self._read is None or self._read[0] is not whole:
            part: Traced = self._view.read(Traced(whole))
            self._read = (whole, part.node)
        return self._read[1]

    @property
    def level(self) -> int:
        """Trace that the array belongs to."""
        cell = self
        while cell._whole is not None:
            cell = cell._whole
        assert cell._node is not None
        return cell._node.level

    @property
    def root(self) -> Traced:
        """The cell of which this is a view, or the array itself if it is a cell."""
        return self if self._whole is None else self._whole.root

    def viewed(self, view: View) -> Traced:
        """A view of this cell."""
        return Traced(None, self, view)

    def write(self, value: Any) -> None:
        """Hold `value` from now on, broadcast to the shape and cast to the type of what was here.

        Raises:
            TraceError: The value belongs to an inner trace, which would not see it again.
        """
        level = self.level
        if type(value) is CallNumber:
            value = value.trace.input(value, self.dtype)
        if isinstance(value, Traced) and value.level > level:
            raise refusal("an array of an outer function is written with values that depend on inner ones")
        shape = plain(self).shape
        if np.shape(plain(value)) != shape:
            value = np.broadcast_to(value, shape)
        if plain(value).dtype != self.dtype:
            value = value.astype(self.dtype)
        is_own = isinstance(value, Traced) and value.level == level
        node = value.node if is_own else Node(level, value)
        if self._whole is None or self._view is None:
            self._node = node
        else:
            self._whole.write(self._view.replace(Traced(self._whole.node), Traced(node)))

    @staticmethod
    def without_derivative(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
        """Apply a function to arguments whose derivatives are of no interest."""
        values = [value_alone(arg) for arg in args]
        options = {name: value_alone(option) for name, option in options.items()}
        inside = [x for x in values if not isinstance(x, Traced)]
        if Traced.is_program(args, options):
            return Traced.step(function, args, options)
        if next(dispatch.every(Traced, [inside, *options.values()]), None) is not None:
            raise refusal(f"numpy.{function.__name__} of several arrays is not element-wise")
        return Primitive(function)(*values, **options)

    @staticmethod
    def is_program(args: Sequence[Any], options: dict[str, Any]) -> bool:
        """Return whether all traced arrays among arguments are of the trace of a program."""
        return {one.level for one in dispatch.every(Traced, [*args, *options.values()])} == {PROGRAM}

    @staticmethod
    def step(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
        """The call of any function as one step of a program."""
        if next(dispatch.every(Traced, list(options.values())), None) is not None:
            raise refusal(f"numpy.{function.__name__} takes an array by the name of an argument")
        return Primitive(function)._noted(args, options)

    # What NumPy asks for.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return dispatch.call_ufunc(Traced, ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Iterable[type], args: Sequence[Any], options: dict[str, Any]
    ) -> Any:
        return dispatch.call_function(Traced, function, args, options)

    def __getitem__(self, index: Any) -> Any:
        return dispatch.METHODS["__getitem__"](self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        dispatch.METHODS["__setitem__"](self, index, value)

    def __getattr__(self, name: str) -> Any:
        """Method or property of arrays, out of `dispatch`."""
        if (found := dispatch.PROPERTIES.get(name)) is not None:
            return found(self)
        if (found := dispatch.METHODS.get(name)) is None:
            raise NoAttributeError(f"there is no rule for {name!r} of arrays")
        return partial(found, self)

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise _values_needed("made a plain array of", self.level)

    def __float__(self) -> float:
        raise _values_needed("made a number of", self.level)

    __int__ = __index__ = __complex__ = __float__

    def __bool__(self) -> bool:
        if self.level > FORM and not self.node.leads:  # a constant
            return bool(self.node.value)
        raise _values_needed("asked whether it is true:", self.level)

    # What functions ask of an array.

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis."""
        found: tuple[int, ...] = plain(self).shape
        return tuple(map(AxisLength, found)) if self.level == FORM else found

    @property
    def dtype(self) -> Any:
        """Element type."""
        return plain(self).dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(plain(self).ndim)

    @property
    def size(self) -> int:
        """Number of elements."""
        size = int(plain(self).size)
        return Size(size) if self.level == FORM else size

    @property
    def flags(self) -> Any:
        """The layout of the plain array."""
        return in_memory(self).flags

    @property
    def base(self) -> None:
        """None, as there is no memory to be shared."""
        return

    def __len__(self) -> int:
        note_apart("len")
        return len(plain(self))

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(plain(self))))


def _values_needed(what: str, level: int) -> TraceError:
    if level <= FORM:
        return refusal(f"the function {what} an array, whose values a form does not know")
    return refusal(
        f"the function {what} an array that it computes derivatives of, which would be lost; "
        "use functions of NumPy from end to end"
    )
