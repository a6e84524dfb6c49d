"""A line of the shape language for one set of parameter values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple, final

from operad.dtypes import DType, as_dtype
from operad.errors import DTypeError, ShapeError
from operad.operator import InferredShapes, InferredTypes, PartialShape, Shape
from operad_sdk.errors import SpecError
from operad_sdk.shapes.expressions import Expression, GivenTuple
from operad_sdk.shapes.grammar import Axis, Item, Spec, names_of, parse
from operad_sdk.shapes.solver import complete, solve

_ANY: Final = "any"
_ABSENT: Final = object()
_MOST_SHAPES: Final = 64
"""Number of argument shapes whose inferred shapes are kept."""
_FARTHEST: Final = 1024
"""Distance up to which an example looks for a size that passes the tests of the line."""
_FEW: Final = 16
"""Sizes that are tried where others, which come later, have to fit them."""


@final
class Tensor(NamedTuple):
    """One argument, auxiliary state or output that exists for the parameters."""

    name: str
    axes: tuple[Axis, ...]
    type: DType | str
    shape_text: str
    is_state: bool = False


Sized = tuple[Tensor, PartialShape]


@final
class BoundSpec:
    """Names, shapes and types of one operator with given parameters.

    Attributes:
        operator: The operator's name, for messages.
        inputs: Arguments and auxiliary states in call order.
        arguments: The inputs that are no states; `auxiliary` are the states.
        outputs: Hidden ones last.
        groups: The names of each repeated item's tensors, by its name.
        num_visible_outputs: How many outputs are not hidden.
        env: Values of the parameters that the line names.
        sequences: Names that stand for any number of axes.
        joint_axes: Starred axes of several names, which therefore have one length.
    """

    __slots__ = (
        "_bounds",
        "_is_alike",
        "_known",
        "arguments",
        "auxiliary",
        "env",
        "groups",
        "inputs",
        "joint_axes",
        "num_visible_outputs",
        "operator",
        "outputs",
        "sequences",
    )

    def __init__(self, operator: str, spec: Spec, env: dict[str, Any]) -> None:
        self._known: dict[tuple[PartialShape, ...], InferredShapes] = {}
        self._bounds = spec.bounds
        self.operator = operator
        self.env = env
        self.groups: dict[str, tuple[str, ...]] = {}
        self.inputs = self._tensors(spec.inputs)
        self.arguments = tuple(tensor for tensor in self.inputs if not tensor.is_state)
        self.auxiliary = tuple(tensor for tensor in self.inputs if tensor.is_state)
        self.outputs = self._tensors(spec.outputs)
        self.sequences = (spec.sequences | self._numbered_sequences()) - env.keys()
        self.joint_axes = [
            (tensor, axis)
            for tensor in self.arguments + self.auxiliary + self.outputs
            for axis in tensor.axes
            if axis.is_starred and len(axis.expression.indexed) > 1
        ]
        self.num_visible_outputs = len(self._tensors([item for item in spec.outputs if not item.is_hidden]))
        texts = {tensor.shape_text for tensor in (*self.inputs, *self.outputs)}
        self._is_alike = texts == {"(...)"} and not self._bounds

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Complete shapes from the arguments'; lengths that do not follow stay unknown.

        Raises:
            ShapeError: Shapes contradict the line or each other.
        """
        shapes = tuple(in_shapes)
        try:
            arguments, outputs, states = self._known[shapes]
        except KeyError:
            arguments, outputs, states = inferred = self._inferred(shapes)
            if len(self._known) >= _MOST_SHAPES:
                self._known.clear()
            self._known[shapes] = inferred
            if not [one for one in (*arguments, *outputs, *states) if one is None or None in one]:
                self._known[tuple(arguments)] = inferred  # from which nothing more follows
        except TypeError:  # a list, which is no key
            return self._inferred(shapes)
        return arguments.copy(), outputs.copy(), states.copy()

    def _inferred(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        first: Any = in_shapes[0] if self._is_alike and in_shapes else None
        if type(first) is tuple and None not in first and min(first, default=0) >= 0:
            groups = self.arguments, self.outputs, self.auxiliary
            if in_shapes == (first,) * len(groups[0]):  # most calls of operators of elements
                return [first] * len(groups[0]), [first] * len(groups[1]), [first] * len(groups[2])
        inputs = list(zip(self.arguments, in_shapes, strict=True))
        others = [(tensor, None) for tensor in (*self.outputs, *self.auxiliary)]
        found = self._completed(inputs, [*inputs, *others])
        outputs, states = len(inputs), len(inputs) + len(self.outputs)
        return found[:outputs], found[outputs:states], found[states:]

    def _completed(self, known: Sequence[Sized], wanted: Sequence[Sized]) -> list[PartialShape]:
        """Shapes of the wanted tensors, as far as they follow from those that are known."""
        try:
            env = solve(self, known)
            self._check_bounds(env)
            return [complete(self, tensor, env, given) for tensor, given in wanted]
        except ShapeError as error:
            raise self._named(error) from error.__cause__

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Shapes of the arguments from all known shapes."""
        inputs = list(zip(self.arguments, in_shapes, strict=True))
        return self._completed([*inputs, *zip(self.outputs, out_shapes, strict=True)], inputs)

    def _check_bounds(self, env: Mapping[str, Any]) -> None:
        """Raise ShapeError if sizes that are known fail a test of the line."""
        for test, text in self._bounds:
            sizes = {name: env.get(name) for name in sorted(test.names)}
            if None not in sizes.values() and not test.value(env, None):
                words = " and ".join(f"{name} is {size}" for name, size in sizes.items())
                axes = [
                    t.name
                    for t in self.arguments
                    if {n for a in t.axes for n in a.expression.names} & {*sizes}
                ]
                raise ShapeError(f"{self.operator}: axes of {', '.join(axes)}: expected {text}, and {words}")

    def _named(self, error: ShapeError) -> ShapeError:
        """`error`, with the operator's name before it, which functions of shapes do not know."""
        text = str(error)
        return error if text.startswith(f"{self.operator}:") else ShapeError(f"{self.operator}: {text}")

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Complete element types.

        Raises:
            DTypeError: Arguments of one type variable differ, or one lacks the type the line wants.
        """
        found: dict[str, DType] = {}
        for tensor, dtype in zip(self.arguments, in_types, strict=True):
            if dtype is None or tensor.type == _ANY:
                continue
            expected = found.setdefault(tensor.type, dtype) if isinstance(tensor.type, str) else tensor.type
            if dtype != expected:
                raise DTypeError(self._type_clash(tensor, dtype, expected, in_types))

        def completed(tensor: Tensor, given: DType | None) -> DType | None:
            if given is not None or tensor.type == _ANY:
                return given
            return found.get(tensor.type) if isinstance(tensor.type, str) else tensor.type

        arguments = [completed(t, given) for t, given in zip(self.arguments, in_types, strict=True)]
        outputs = [completed(tensor, None) for tensor in self.outputs]
        return arguments, outputs, [completed(tensor, None) for tensor in self.auxiliary]

    def example(self, choose: Callable[[str, bool], Any]) -> list[Shape]:
        """Argument shapes that fit the line, for tests that make up inputs.

        Args:
            choose: `choose(name, is_sequence)` gives a size for a free name, or a tuple of sizes
                where any number will do. A size that a test of the line refuses is replaced by one near it.
        Raises:
            ShapeError: The sizes chosen make an axis negative.
        """
        names = {name for tensor in self.arguments for axis in tensor.axes for name in axis.expression.names}
        free = sorted(names - self.env.keys())
        env = solve(self, [])
        for name in free:
            items = env.get(name)
            env[name] = (
                choose(name, name in self.sequences)
                if items is None
                else tuple(choose(name, False) for _ in items)
            )
        env = self._fitting(env) if self._bounds else env
        shapes = [complete(self, tensor, env, None) for tensor in self.arguments]
        return [tuple(axis for axis in shape if axis is not None) for shape in shapes if shape is not None]

    def _fitting(self, env: Mapping[str, Any]) -> dict[str, Any]:
        """The sizes, or the nearest larger ones, then smaller ones, that pass the tests of the line.

        Sizes that a test joins are tried together, a few of each before the last. If none fit, they stay.
        """
        names = frozenset[str]().union(*(test.names for test, _ in self._bounds)) - self.env.keys()
        tested = sorted(name for name in names if type(env.get(name)) is int)
        known = {name: value for name, value in env.items() if name not in tested}
        return {**env, **(self._chosen(tested, known, env) or {})}

    def _chosen(
        self, names: list[str], known: dict[str, Any], wish: Mapping[str, Any]
    ) -> dict[str, int] | None:
        if not names:
            return {}
        name, *rest = names
        tests = [test for test, _ in self._bounds if name in test.names and not test.names & {*rest}]
        size, is_joined = (
            wish[name],
            any(name in test.names and test.names & {*rest} for test, _ in self._bounds),
        )
        fits = (
            n
            for n in (*range(size, size + _FARTHEST), *range(size - 1, -1, -1))
            if all(_passes(test, {**known, name: n}) for test in tests)
        )
        for n in islice(fits, _FEW if is_joined else 1):
            found = self._chosen(rest, {**known, name: n}, wish)
            if found is not None:
                return {name: n, **found}
        return None

    def _tensors(self, items: Sequence[Item]) -> tuple[Tensor, ...]:
        turns: list[list[list[Tensor]]] = []
        for item in items:
            if item.condition is not None and not item.condition.value(self.env, None):
                continue
            if not item.takes_turns:
                turns.append([])
            turns[-1].append(self._tensors_of(item))
        return tuple(tensor for groups in turns for turn in zip(*groups, strict=True) for tensor in turn)

    def _tensors_of(self, item: Item) -> list[Tensor]:
        dtype = self._type(item)
        if item.repeat is None:
            return [Tensor(item.name, item.axes, dtype, item.shape_text, item.is_state)]
        count = item.repeat.value(self.env, None)
        names = self.groups[item.name] = tuple(f"{item.name}{i}" for i in range(count))
        each = [item.numbered(i) if item.is_each_its_own else item.axes for i in range(count)]
        return [
            Tensor(name, axes, dtype, item.shape_text, item.is_state)
            for name, axes in zip(names, each, strict=True)
        ]

    def _numbered_sequences(self) -> frozenset[str]:
        """The names that `S[i]` stands for, which are sequences where they are starred."""
        axes = [axis for tensor in self.inputs + self.outputs for axis in tensor.axes if axis.is_starred]
        return frozenset(name for axis in axes for name in axis.expression.indexed if "__" in name)

    def _type(self, item: Item) -> DType | str:
        value = self.env.get(item.type, _ABSENT)
        if value is None:
            return ""
        if value is not _ABSENT:
            return as_dtype(value)
        if item.type in ("", _ANY) or item.type[0].isupper():
            return item.type
        try:
            return as_dtype(item.type)
        except DTypeError:
            raise SpecError(
                f"{self.operator}: {item.text!r}: {item.type!r} is neither an element type nor a parameter; "
                "a type variable starts with a capital"
            ) from None

    def _type_clash(
        self, tensor: Tensor, dtype: DType, expected: DType, in_types: Sequence[DType | None]
    ) -> str:
        if not isinstance(tensor.type, str):
            return f"{self.operator}: {tensor.name} is {dtype}, expected {expected}; cast with astype"
        alike = zip(self.arguments, in_types, strict=True)
        pairs = ", ".join(
            f"{other.name}: {given}" for other, given in alike if given and other.type == tensor.type
        )
        return f"{self.operator}: arguments must have one element type, got {pairs}; cast with astype"


def _passes(test: Expression, env: Mapping[str, Any]) -> bool:
    try:
        return bool(test.value(env, None))
    except ShapeError:  # a division by a size of 0
        return False


def bind(spec: Spec, operator: str, parameters: Mapping[str, Any]) -> BoundSpec:
    """`spec` for the values in `parameters`; other names are sizes to be found.

    The same line and values are bound once.

    Raises:
        SpecError: A condition or count depends on a name that is no parameter, or a bound on one that is no
            size either.
    """
    try:
        return _bound_once(spec.text, operator, tuple((n, type(v), v) for n, v in parameters.items()))
    except TypeError:  # a value that is no key
        return _bound(spec, operator, parameters)


@lru_cache(4096)
def _bound_once(line: str, operator: str, parameters: tuple[tuple[str, type, Any], ...]) -> BoundSpec:
    return _bound(parse(line), operator, {name: value for name, _, value in parameters})


def _bound(spec: Spec, operator: str, parameters: Mapping[str, Any]) -> BoundSpec:
    for item in spec.items:
        parts = [part.names for part in (item.repeat, item.condition) if part]
        parts += [axis.expression.tests for axis in item.axes]
        unknown = sorted(frozenset[str]().union(*parts) - parameters.keys())
        if unknown:
            raise SpecError(
                f"{operator}: {item.text!r} depends on {unknown[0]!r}, which is no parameter; "
                f"it has {', '.join(parameters) or 'none'}"
            )
        own = frozenset[str]().union(*(axis.expression.functions for axis in item.axes)) - parameters.keys()
        if own:
            raise SpecError(
                f"{operator}: {item.text!r} calls {min(own)!r}, which is no function of the shape language; "
                "give it as one of the operator's `functions`"
            )
    sizes = names_of(spec.items)
    for test, text in spec.bounds:
        unknown = sorted(test.names - sizes - parameters.keys())
        if unknown:
            raise SpecError(
                f"{operator}: {text!r} behind the outputs: {unknown[0]!r} is neither a size of the line nor "
                f"a parameter; it has {', '.join(parameters) or 'none'}"
            )
    env = {
        name: GivenTuple(value) if type(value) is tuple and None in value else value
        for name, value in parameters.items()
        if name in spec.names | spec.functions
    }
    return BoundSpec(operator, spec, env)
