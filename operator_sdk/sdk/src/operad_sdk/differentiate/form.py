"""From a trace to the scalar form of what was traced.

The nodes are walked from the results to the inputs. On the way each array's axes are known as *groups*: for
each of its own axes the axes of the iteration space along which it runs, several where they were reshaped
into one, none where its length is 1. So transposed, reshaped and repeated arrays cost no instruction: at an
input the groups are its index map. What is not element-wise, of whole rows or of constants has no
rule here, and no form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partialmethod
from itertools import chain, combinations, islice
from math import nan, prod
from typing import Any, Final, NoReturn, final

import numpy as np

from operad.dtypes import DType
from operad.errors import TraceError
from operad.operator import Axes, Result, ScalarForm, Shape
from operad_sdk.differentiate.form_rules import BITWISE, OF_TRUTH, RULES, labelled
from operad_sdk.differentiate.indexing import is_whole
from operad_sdk.differentiate.tracing import Node, Traced, plain
from operad_sdk.differentiate.walk import behind
from operad_sdk.mapper.builder import Builder

_MOST_POSITIONS: Final = 64
"""Positions in the space that are tried for a result."""

Groups = tuple[tuple[int, ...], ...]

_NAMED: Final = {np.round: "round", np.around: "round"}
"""Rules of functions of NumPy that are no ufuncs."""


def form_of(
    name: str, inputs: Sequence[tuple[str, Traced]], results: Sequence[tuple[str, Traced]]
) -> tuple[ScalarForm, Shape]:
    """The form of a trace, and its iteration space.

    Args:
        name: What messages call the form.
        inputs: Names, and the cells that the traced function was given.
        results: Names, and what it computed.
    Raises:
        TraceError: There is none; the message says why.
    """
    ends = [(name, cell.node) for name, cell in results]
    found = behind([node for _, node in ends])
    read = [cell.node for _, cell in inputs if cell.node in found]
    for node in sorted(found, key=lambda node: node.number):
        _expect_rule(node)
    shapes = [node.value.shape for node in (*(node for _, node in ends), *read)]
    refused: TraceError | None = None
    for space in _spaces(shapes):
        try:
            return _in_space(name, [(name, cell.node) for name, cell in inputs], ends, space), space
        except TraceError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _spaces(shapes: Sequence[Shape]) -> Iterator[Shape]:
    """Candidates for the iteration space: the largest shape, and then the common broadcast shape."""
    yield (largest := max(shapes, key=lambda shape: (len(shape), len(shape) - shape.count(1), prod(shape))))
    with suppress(ValueError):
        if (common := np.broadcast_shapes(*shapes)) != largest:
            yield common


def _in_space(
    name: str, inputs: Sequence[tuple[str, Node]], ends: Sequence[tuple[str, Node]], space: Shape
) -> ScalarForm:
    walk = _Walk(name, inputs, space)
    made = [walk.result(name, node) for name, node in ends]
    form = walk.builder.finish(*made, axes=walk.axes)
    if form.space({name: node.value.shape for name, node in (*inputs, *ends)}) != space:
        _refuse("how long an axis is follows from an argument that no result depends on")
    return form


@final
class _Walk:
    """One trace on its way to a form.

    Attributes:
        builder: Of the form.
        axes: How inputs lie in the space, by position.
    """

    def __init__(self, name: str, inputs: Sequence[tuple[str, Node]], space: Shape) -> None:
        self._space = space
        self._real = next((n.value.dtype for _, n in inputs if n.value.dtype.kind == "f"), np.dtype("f4"))
        self.axes: dict[int, Axes] = {}
        self.builder = Builder(
            name, [own for own, _ in inputs], [self._kind(n.value.dtype) for _, n in inputs]
        )
        self._inputs = {node: index for index, (_, node) in enumerate(inputs)}
        self._known: dict[tuple[Node, Groups], int] = {}
        self._element: tuple[tuple[Any, Node, int], int] | None = None

    def result(self, name: str, node: Node) -> Result:
        """Result, and its position in the space, in which it reads most arguments along their own axes."""
        found: list[tuple[int, Result, dict[int, Axes]]] = []
        refused = TraceError(f"no array that is read or computed has the axes of {name} and of all others")
        before = self.axes
        for groups in self._positions(node.value.shape):
            self.axes, self._known = dict(before), {}
            axes = tuple(group[0] if group else None for group in groups)
            is_all = node.value.shape == self._space
            try:
                made = Result(self._value(node, groups), name, None if is_all else axes)
            except TraceError as error:
                refused = refused if found else error
            else:
                found.append((sum(one is not None for one in self.axes.values()), made, self.axes))
                if not found[-1][0]:
                    break
        if not found:
            raise refused
        _, made, self.axes = min(found, key=lambda one: one[0])
        return made

    def _positions(self, shape: Shape) -> Iterator[Groups]:
        """Positions that an array may have in the space, as NumPy broadcasts first."""
        rank, long = len(self._space), [i for i, n in enumerate(shape) if n != 1]
        usual = tuple(rank - len(shape) + i for i in long)
        others = (axes for axes in combinations(range(rank), len(long)) if axes != usual)
        for axes in islice(chain([usual], others), _MOST_POSITIONS):
            if all(axis >= 0 and self._space[axis] == shape[i] for axis, i in zip(axes, long, strict=True)):
                own = dict(zip(long, axes, strict=True))
                yield tuple((own[i],) if i in own else () for i in range(len(shape)))

    def _kind(self, dtype: DType) -> str:
        return "real" if dtype == self._real else dtype.name

    def _value(self, node: Node, groups: Groups) -> int:
        found = self._known.get((node, groups))
        if found is None:
            try:
                found = self._known[node, groups] = self._made(node, groups)
            except TraceError as error:
                error.line = error.line or node.line  # of the innermost step
                raise
        return found

    def _made(self, node: Node, groups: Groups) -> int:
        if node in self._inputs:
            return self._loaded(self._inputs[node], node.value.shape, groups)
        if node.step is None:
            return self._number(node.value, self._kind(node.value.dtype))
        primitive, args, options = node.step
        if isinstance(primitive.form, ScalarForm):
            return self._mapped(node, groups, primitive.form, args)
        if isinstance(primitive.form, str):
            rule: Callable[..., int] = getattr(self, f"_rule_{primitive.form}")
            return rule(node, groups, *args, **options)
        if primitive.function in _NAMED:
            rule = getattr(self, f"_rule_{_NAMED[primitive.function]}")
            return rule(node, groups, *args, **options)
        assert isinstance(primitive.function, np.ufunc)
        return self._elementwise(node, groups, primitive.function, args)

    def _loaded(self, index: int, shape: Shape, groups: Groups) -> int:
        if any(len(group) > 1 for group in groups):
            _refuse("an argument is read in another shape")
        first = len(self._space) - len(shape)
        is_usual = all(group in ((), (first + i,)) for i, group in enumerate(groups))
        axes = None if is_usual else tuple(group[0] if group else None for group in groups)
        if self.axes.setdefault(index, axes) != axes:
            _refuse(f"{self.builder.inputs[index]} is read along its axes in two orders")
        return index

    def _number(self, value: Any, kind: str) -> int:
        array = np.asarray(value)
        if (array.size > 1 and any(array.strides)) or array.size == 0 or array.dtype.kind not in "biuf":
            _refuse("it reads an array that is no argument")
        number = array.flat[0].item()
        if kind not in ("real", "bool") and np.dtype(kind).kind in "iu" and number != _exact(number, kind):
            _refuse(f"{number!r} is not a number of forms in {kind}")
        return self.builder.cast(self.builder.constant(number, kind if kind != "bool" else "real"), kind)

    def _operand(self, arg: Any, kind: str, shape: Shape, groups: Groups) -> int:
        """Operand of an operation on arrays of `shape`, as a value of a kind."""
        if not isinstance(arg, Node):
            position = self._position_along(plain(arg), shape, groups)
            return self._number(plain(arg), kind) if position is None else self.builder.cast(position, kind)
        own = arg.value.shape
        first = len(shape) - len(own)
        if first < 0:
            _refuse(f"an array of shape {own} meets one of shape {shape}")
        inner = tuple(() if n == 1 else groups[first + i] for i, n in enumerate(own))
        return self.builder.cast(self._value(arg, inner), kind)

    def _position_along(self, array: Any, shape: Shape, groups: Groups) -> int | None:
        """An array that counts along one axis, as `numpy.arange` makes it, as positions; None if it does not.

        Whether it counts by chance is seen in the second trace, whose lengths are others.
        """
        long = [i for i, length in enumerate(np.shape(array)) if length > 1]
        if len(long) != 1 or array.dtype.kind not in "if" or len(shape) < array.ndim:
            return None
        length, group = array.shape[long[0]], groups[len(shape) - array.ndim + long[0]]
        if len(group) != 1 or self._space[group[0]] != length or any(array.ravel() != np.arange(length)):
            return None
        return self.builder.cast(self.builder.position(group[0]), self._kind(array.dtype))

    def _elementwise(self, node: Node, groups: Groups, ufunc: np.ufunc, args: Sequence[Any]) -> int:
        types = [_type_of(arg) for arg in args]
        resolved = ufunc.resolve_dtypes((*types, None))
        kinds = ["bool" if ufunc in OF_TRUTH else self._kind(dtype) for dtype in resolved[: len(args)]]
        if (kinds[0] == "bool") != (ufunc in OF_TRUTH or ufunc in BITWISE):
            _refuse(f"numpy.{ufunc.__name__} of {', '.join(kinds)} is no instruction of forms")
        is_of_integers = ufunc is np.reciprocal and resolved[0].kind != "f"
        if is_of_integers or (ufunc in BITWISE and kinds[0] != "bool"):
            _refuse(f"numpy.{ufunc.__name__} of integers is no instruction of forms")
        shape = node.value.shape
        operands = [self._operand(arg, kind, shape, groups) for arg, kind in zip(args, kinds, strict=True)]
        return RULES[ufunc](self.builder, *operands)

    def _mapped(self, node: Node, groups: Groups, form: ScalarForm, args: Sequence[Any]) -> int:
        if self._kind(node.value.dtype) != "real":
            _refuse(f"mapper {form.name} computes in {node.value.dtype}")
        operands = [self._operand(arg, "real", node.value.shape, groups) for arg in args]
        return self.builder.cast(self.builder.inline(form, operands), "real")

    # Rules, by the name that a primitive has in forms.

    def _rule_where(self, node: Node, groups: Groups, condition: Any, a: Any, b: Any) -> int:
        kind, shape = self._kind(node.value.dtype), node.value.shape
        chosen = self._operand(condition, "bool", shape, groups)
        then, other = (self._operand(x, kind, shape, groups) for x in (a, b))
        return self.builder.select(chosen, then, other)

    def _rule_cast(self, node: Node, groups: Groups, x: Any, dtype: Any) -> int:
        return self._operand(x, self._kind(node.value.dtype), node.value.shape, groups)

    def _rule_reshape(self, node: Node, groups: Groups, x: Node, shape: Any) -> int:
        axes = iter([axis for group in groups for axis in group])
        inner = []
        for length in x.value.shape:
            group: tuple[int, ...] = ()
            while prod(self._space[axis] for axis in group) < length:
                group = (*group, next(axes, -1))
                if group[-1] < 0:
                    break
            if prod(self._space[axis] for axis in group) != length:
                _refuse(f"elements move where {x.value.shape} becomes {node.value.shape}")
            inner.append(group)
        return self._value(x, tuple(inner))

    def _rule_transpose(self, node: Node, groups: Groups, x: Node, axes: Sequence[int]) -> int:
        return self._value(x, tuple(groups[axes.index(i)] for i in range(len(axes))))

    _rule_broadcast = _rule_cast

    def _rule_take(self, node: Node, groups: Groups, x: Any, index: Any) -> int:
        if not isinstance(x, Node) or not is_whole(index, x.value.shape):
            _refuse("it takes parts of an array")
        return self._rule_reshape(node, groups, x, None)

    def _rule_replace(self, node: Node, groups: Groups, whole: Any, part: Any, index: Any) -> int:
        shape, kind = node.value.shape, self._kind(node.value.dtype)
        if (
            self._is_mask(index, shape)
            and np.ndim(part.value if isinstance(part, Node) else plain(part)) == 0
        ):
            count = index.value.ndim
            chosen = self._operand(index, "bool", shape[:count], groups[:count])
            values = [self._operand(x, kind, shape, groups) for x in (part, whole)]
            return self.builder.select(chosen, *values)
        if not is_whole(index, shape):
            _refuse("it writes parts of an array")
        # What is left out, or new, has length 1.
        long = iter([group for group, length in zip(groups, shape, strict=True) if length != 1])
        region = node.value[index].shape
        inner = tuple(() if length == 1 else next(long) for length in region)
        return self._operand(part, self._kind(node.value.dtype), region, inner)

    def _is_mask(self, index: Any, shape: Shape) -> bool:
        """Return whether an index says of each element, or each row, whether it is meant."""
        if not isinstance(index, Node) or index.value.dtype != bool:
            return False
        return bool(index.value.shape == shape[: index.value.ndim])

    def _reduced(
        self, op: str, node: Node, groups: Groups, x: Node, axis: Any = None, keepdims: bool = False
    ) -> int:
        shape = x.value.shape
        gone = set(range(len(shape)) if axis is None else (int(one) % len(shape) for one in np.ravel(axis)))
        left = iter(group for i, group in enumerate(groups) if not (keepdims and i in gone))
        inner: list[tuple[int, ...] | None] = [None if i in gone else next(left) for i in range(len(shape))]
        over: list[int] = []
        for i in sorted(gone):
            taken = {one for group in inner if group for one in group}
            inner[i] = self._free(shape[i], len(self._space) - len(shape) + i, taken)
            over += inner[i] or ()
        kind = self._kind(node.value.dtype)
        value = self.builder.cast(self._value(x, tuple(group or () for group in inner)), kind)
        return self.builder.over_axes(op, value, [one - len(self._space) for one in over])

    def _free(self, length: int, usual: int, taken: set[int]) -> tuple[int, ...]:
        """Axes of the space for a reduced axis: the usual axis if it is free, else axes that nothing uses."""
        if length == 1:
            return ()
        if usual >= 0 and usual not in taken and self._space[usual] == length:
            return (usual,)
        free = [one for one, n in enumerate(self._space) if one not in taken and n != 1]
        runs = (free[first:last] for first, last in combinations(range(len(free) + 1), 2))
        found = next((run for run in runs if prod(self._space[one] for one in run) == length), None)
        if found is None:
            _refuse("it reduces along an axis that what is read and computed does not have")
        return tuple(found)

    def _rule_round(self, node: Node, groups: Groups, x: Any, decimals: int = 0) -> int:
        if decimals != 0 or node.value.dtype.kind != "f":
            _refuse("it rounds to decimals")
        return self.builder.apply(
            "rint", self._operand(x, self._kind(node.value.dtype), x.value.shape, groups)
        )

    _rule_sum = partialmethod(_reduced, "sum")
    _rule_max = _rule_any = partialmethod(_reduced, "max")
    _rule_min = _rule_all = partialmethod(_reduced, "min")

    def _rule_pick(self, node: Node, groups: Groups, x: Node, labels: Node, axis: int) -> int:
        """The element of each row that its label names: the sum of the row, of which no other one counts."""
        if self._element is not None and self._element[0] == (x, labels, axis):
            return self._element[1]
        builder, kind, shape = self.builder, self._kind(node.value.dtype), x.value.shape
        taken = {one for group in groups for one in group}
        along = self._free(shape[axis], len(self._space) - len(shape) + axis, taken)
        is_hit, is_label = self._labelled(node, labels, groups, along)
        value = self._value(x, (*groups[:axis], along, *groups[axis:]))
        picked = builder.select(is_hit, value, builder.constant(-0.0, kind))  # with 0.0, -0.0 would become it
        total = builder.over_axes("sum", picked, [along[0] - len(self._space)])
        return builder.select(is_label, total, builder.constant(nan, kind))

    def _rule_put(self, node: Node, groups: Groups, whole: Any, part: Any, labels: Node, axis: int) -> int:
        """An array with another element in each row where its label names one."""
        builder, kind, shape = self.builder, self._kind(node.value.dtype), node.value.shape
        others, rest = groups[:axis] + groups[axis + 1 :], shape[:axis] + shape[axis + 1 :]
        is_hit, is_label = self._labelled(node, labels, others, groups[axis])
        old = self._operand(whole, kind, shape, groups)
        # What was picked by the same label, to be changed, is the element itself: no sum of a row.
        before = self._known, self._element
        self._known, self._element = {}, ((whole, labels, axis), old)
        new = self._operand(part, kind, rest, others)
        self._known, self._element = before
        return builder.select(is_label, builder.select(is_hit, new, old), builder.constant(nan, kind))

    def _labelled(self, node: Node, labels: Node, groups: Groups, along: tuple[int, ...]) -> tuple[int, int]:
        """Find whether a label names the element, and whether it names any: NaN, where NumPy has an error."""
        if len(along) != 1 or node.value.dtype.kind != "f":
            _refuse("it picks elements along several axes, or no floating ones")
        label = self._operand(labels, "int64", labels.value.shape, groups)
        return labelled(self.builder, label, along[0])


def _refuse(reason: str, node: Node | None = None) -> NoReturn:
    error = TraceError(reason)
    error.line = node.line if node is not None else None
    raise error


def _expect_rule(node: Node) -> None:
    if node.step is None or isinstance(node.step.primitive.form, ScalarForm):
        return
    form, function = node.step.primitive.form, node.step.primitive.function
    if not (function in RULES or function in _NAMED if form is None else hasattr(_Walk, f"_rule_{form}")):
        name = form or getattr(function, "__name__", str(function))
        _refuse(f"numpy.{name} is not element-wise", node)


def _type_of(arg: Any) -> Any:
    value = arg.value if isinstance(arg, Node) else plain(arg)
    return type(value) if type(value) in (int, float) else np.asarray(value).dtype


def _exact(number: Any, kind: str) -> Any:
    """Number as a constant of an integer kind, converted by way of a float; None if it does not fit."""
    try:
        return np.dtype(kind).type(float(number))
    except (OverflowError, ValueError):
        return None
