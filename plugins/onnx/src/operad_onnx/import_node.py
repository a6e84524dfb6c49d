"""Node of a model that is being read, as the rule of its ONNX operator sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, final

import numpy as np
import onnx
from onnx import helper

import operad
from operad.errors import UnsupportedError
from operad.graph import Entry, OpNode
from operad.symbol import Symbol
from operad_onnx.element_types import dtype_of
from operad_onnx.model_file import array_of

_NUM_PROBES: Final = 2

Lengths = tuple[int | None, ...]


@final
class Facts(NamedTuple):
    """Shapes of a value for two sets of lengths that differ from run to run, and its element type."""

    shapes: tuple[tuple[int, ...], ...]
    dtype: np.dtype[Any]


@final
class Value:
    """A value of a model: numbers that are known, a symbol, or numbers that became one.

    Attributes:
        name: In the model.
        array: The numbers, where they are known.
    """

    __slots__ = ("_symbol", "array", "name")

    def __init__(
        self, name: str, array: np.ndarray[Any, Any] | None = None, symbol: Symbol | None = None
    ) -> None:
        self.name = name
        self.array = array
        self._symbol = symbol

    def symbol(self, scope: Scope) -> Symbol:
        """The value as a symbol; numbers become a parameter."""
        if self._symbol is None:
            assert self.array is not None
            self._symbol = scope.parameter(self.name, self.array)
        return self._symbol


@final
class Scope:
    """Everything that is known of the symbol so far.

    Attributes:
        params: Arrays of its parameters.
    """

    def __init__(self) -> None:
        self.params: dict[str, np.ndarray[Any, Any]] = {}
        self._facts: dict[Entry, Facts] = {}
        self._names: set[str] = set()

    def unique(self, name: str) -> str:
        """A name that no node has yet, like `name`."""
        made, count = name, 0
        while made in self._names:
            count += 1
            made = f"{name}_{count}"
        self._names.add(made)
        return made

    def parameter(self, name: str, array: np.ndarray[Any, Any]) -> Symbol:
        """A variable whose array is known."""
        self.params[name] = array
        return self.variable(name, Facts((array.shape,) * _NUM_PROBES, array.dtype))

    def variable(self, name: str, facts: Facts) -> Symbol:
        """A variable."""
        self._names.add(name)
        symbol = operad.sym.var(name)
        self._facts[symbol.entries[0]] = facts
        return symbol

    def facts(self, symbol: Symbol) -> Facts:
        """Shapes and type of a symbol's first output."""
        return self._facts[symbol.entries[0]]

    def note(self, symbol: Symbol) -> None:
        """Infer shapes and types of a symbol that was just made of known ones."""
        node = symbol.entries[0].node
        assert isinstance(node, OpNode)
        self._infer(node)

    def _infer(self, node: OpNode) -> None:
        given = [self._facts.get(entry) for entry in node.args]
        shapes = [node.op.infer_shape([f and f.shapes[probe] for f in given]) for probe in range(_NUM_PROBES)]
        types: Any = node.op.infer_type([f and f.dtype for f in given])
        for entry in node.entries:
            found: Any = tuple(shape[1][entry.index] for shape in shapes)
            if any(shape is None or None in shape for shape in found) or types[1][entry.index] is None:
                raise UnsupportedError(
                    f"the shape of {entry.name!r} does not follow; give shapes of the inputs"
                )
            self._facts[entry] = Facts(found, np.dtype(types[1][entry.index]))


@final
class Windows(NamedTuple):
    """Windows that go over the axes behind the channels.

    Attributes:
        kernel: Their size.
        stride: The distance of neighbours.
        dilate: The distance of a window's elements.
        before: What is added before each axis.
        after: What is added behind each axis, so that all windows are whole.
        given_after: Padding behind each axis, without what only completes the last window.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilate: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    given_after: tuple[int, ...]

    @property
    def is_even(self) -> bool:
        """Whether as much is added before as behind."""
        return self.before == self.after

    @property
    def is_plain(self) -> bool:
        """Whether it is even, only padding, and not dilated."""
        return self.is_even and self.after == self.given_after and set(self.dilate) == {1}


class NeedsValueError(UnsupportedError):
    """A rule needs the numbers of an input that is known only when the model runs.

    Attributes:
        inputs: The inputs of the model that it is computed from.
    """

    def __init__(self, message: str, inputs: Sequence[str]) -> None:
        super().__init__(message)
        self.inputs = inputs


@final
class ImportNode:
    """An ONNX node, and the way to make symbols for it.

    Attributes:
        op_type: The ONNX operator.
        name: Of the node, or of its first output.
        opset: Version of the operator's domain in the model.
        num_inputs: Number of inputs, those that are left out among them.
        num_outputs: Number of outputs.
    """

    def __init__(
        self, proto: onnx.NodeProto, inputs: Sequence[Value | None], scope: Scope, opset: int
    ) -> None:
        self.op_type = proto.op_type
        self.name = node_name(proto)
        self.opset = opset
        self.num_inputs = len(inputs)
        self.num_outputs = len(proto.output)
        self._attrs: Mapping[str, Any] = {a.name: _attribute(a) for a in proto.attribute}
        self._inputs = inputs
        self._scope = scope
        self._count = 0

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or `default`."""
        return self._attrs.get(name, default)

    def tensor(self, name: str, default: Any = None) -> Any:
        """An attribute that is a tensor, as an array."""
        found = self._attrs.get(name)
        return default if found is None else array_of(found, f"the attribute {name!r} of {self.name!r}", None)

    def has(self, index: int) -> bool:
        """Return whether an input is given."""
        return index < len(self._inputs) and self._inputs[index] is not None

    def has_output(self, index: int) -> bool:
        """Return whether an output is asked for."""
        return index < self.num_outputs

    def sym(self, index: int = 0) -> Any:
        """An input as a symbol."""
        return self._value(index).symbol(self._scope)

    def syms(self, start: int = 0) -> list[Any]:
        """The inputs from `start` on, as symbols."""
        return [self.sym(index) for index in range(start, self.num_inputs) if self.has(index)]

    def is_const(self, index: int) -> bool:
        """Return whether the numbers of an input are known."""
        return self.has(index) and self._value(index).array is not None

    def value(self, index: int, default: Any = None) -> Any:
        """The numbers of an input; `default` where it is left out.

        Raises:
            NeedsValueError: They are known only when the model runs.
        """
        if not self.has(index):
            return default
        value = self._value(index)
        if value.array is None:
            names = [n for n in self.sym(index).list_inputs() if n not in self._scope.params]
            raise NeedsValueError(
                f"input {index} ({value.name!r}) must be known when the model is read, for it becomes a "
                f"parameter; it follows from {', '.join(map(repr, names))}: give values= or shapes= of these",
                names,
            )
        return value.array

    def scalar(self, index: int, default: Any = None) -> Any:
        """The number of an input with one element, as Python has it."""
        found = self.value(index, None)
        return default if found is None else np.asarray(found).reshape(-1)[0].item()

    def ints(self, name: str, index: int | None = None, default: Any = None) -> Any:
        """Whole numbers: an attribute in older versions, an input in newer ones."""
        if name in self._attrs:
            found = self._attrs[name]
            return tuple(found) if isinstance(found, (list, tuple)) else found
        found = None if index is None else self.value(index)
        return default if found is None else tuple(int(n) for n in np.asarray(found).reshape(-1))

    def lengths(self, index: int = 0) -> Lengths:
        """Shape of an input; None for a length that differs from run to run."""
        value = self._value(index)
        return value.array.shape if value.array is not None else self.lengths_of(self.sym(index))

    def lengths_of(self, symbol: Any) -> Lengths:
        """As `lengths`, of a symbol."""
        one, other = self._scope.facts(symbol).shapes
        return tuple(n if n == m else None for n, m in zip(one, other, strict=True))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Shape of an input, all of it.

        Raises:
            UnsupportedError: A length differs from run to run.
        """
        return self.whole(self.lengths(index), f"input {index}")

    def whole(self, lengths: Lengths, what: str = "a value") -> tuple[int, ...]:
        """Lengths that must all be known."""
        if None in lengths:
            self.refuse(
                f"{what} has the shape {lengths}; give the shapes of the model's inputs in numbers: shapes="
            )
        return tuple(length for length in lengths if length is not None)

    def rank(self, index: int = 0) -> int:
        """Number of axes of an input."""
        return len(self.lengths(index))

    def dtype(self, index: int = 0) -> np.dtype[Any]:
        """Element type of an input."""
        value = self._value(index)
        return value.array.dtype if value.array is not None else self.dtype_of(self.sym(index))

    def dtype_of(self, symbol: Any) -> np.dtype[Any]:
        """As `dtype`, of a symbol."""
        return self._scope.facts(symbol).dtype

    def dtype_named(self, number: int) -> np.dtype[Any]:
        """The element type of a number of ONNX's."""
        return dtype_of(number, f"the node {self.name!r}")

    def is_weight(self, index: int) -> bool:
        """Return whether an input is a parameter, or known."""
        return self.is_const(index)

    def axis(self, default: int, index: int = 0) -> int:
        """The attribute `axis`, from 0 on."""
        return int(self.attr("axis", default)) % max(self.rank(index), 1)

    def call(self, operator: str, *symbols: Any, **params: Any) -> Any:
        """An operator of operad, applied to symbols."""
        self._count += 1
        name = self._scope.unique(f"{self.name}_{self._count}")
        made = getattr(operad.sym, operator)(*symbols, name=name, **params)
        self._scope.note(made)
        return made

    def const(self, array: Any, dtype: Any = None) -> Any:
        """Numbers as a symbol."""
        self._count += 1
        name = self._scope.unique(f"{self.name}_const{self._count}")
        return self._scope.parameter(name, np.asarray(array, dtype))

    def cast(self, symbol: Any, dtype: Any) -> Any:
        """A symbol in another element type; itself where it has that."""
        if self.dtype_of(symbol) == np.dtype(dtype):
            return symbol
        return self.call("Cast", symbol, dtype=np.dtype(dtype).name)

    def reshape(self, symbol: Any, shape: Sequence[int]) -> Any:
        """A symbol in another shape; 0 keeps a length, -1 is what remains."""
        return self.call("Reshape", symbol, shape=tuple(shape))

    def windows(self, kernel: Sequence[int]) -> Windows:
        """Windows of a convolution or pool, from the attributes."""
        count = len(kernel)
        stride, dilate = (tuple(self.attr(key) or (1,) * count) for key in ("strides", "dilations"))
        auto, pads = self.attr("auto_pad", "NOTSET"), tuple(self.attr("pads") or (0,) * 2 * count)
        before, after = list(pads[:count]), list(pads[count:])
        given = list(after)
        for i in range(count):
            length, reach = self.lengths()[2 + i], dilate[i] * (kernel[i] - 1) + 1
            if auto in ("SAME_UPPER", "SAME_LOWER"):
                length = self.whole((length,))[0]
                total = max((-(-length // stride[i]) - 1) * stride[i] + reach - length, 0)
                small, large = total // 2, total - total // 2
                before[i], after[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
                given[i] = after[i]
            elif self.attr("ceil_mode", 0):
                length = self.whole((length,))[0] + before[i] + after[i]
                number = -(-(length - reach) // stride[i]) + 1
                if (number - 1) * stride[i] >= length - given[i]:  # it would begin in the padding behind
                    number -= 1
                after[i] += max((number - 1) * stride[i] + reach - length, 0)
        return Windows(tuple(kernel), stride, dilate, tuple(before), tuple(after), tuple(given))

    def padded(self, windows: Windows, value: float, *, always: bool = False, symbol: Any = None) -> Any:
        """The data, or `symbol`, and what an operator is to pad it by: nothing where that is done here."""
        data = self.sym() if symbol is None else symbol
        if windows.is_even and not always:
            return data, windows.before
        pads = [(0, 0), (0, 0), *zip(windows.before, windows.after, strict=True)]
        return self.pad(data, pads, value), (0,) * len(windows.kernel)

    def pad(self, symbol: Any, pads: Sequence[tuple[int, int]], value: float) -> Any:
        """A symbol with as much of a number before and behind each axis; less than 0 takes off."""
        for axis, (before, after) in enumerate(pads):
            if before < 0 or after < 0:
                end = after if after < 0 else None
                symbol = self.call("slice_axis", symbol, axis=axis, begin=max(-before, 0), end=end)
            parts = [self._full(symbol, axis, n, value) if n > 0 else None for n in (before, after)]
            joined = [part for part in (parts[0], symbol, parts[1]) if part is not None]
            symbol = self.call("Concat", *joined, dim=axis) if len(joined) > 1 else symbol
        return symbol

    def _full(self, symbol: Any, axis: int, count: int, value: float) -> Any:
        one = self.call("zeros_like", self.call("slice_axis", symbol, axis=axis, begin=0, end=1))
        one = self.call("_plus_scalar", one, scalar=value) if value else one
        rank = len(self.lengths_of(symbol))
        return self.call("tile", one, reps=tuple(count if each == axis else 1 for each in range(rank)))

    def refuse(self, reason: str) -> NoReturn:
        """Say why this node cannot be read.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(reason)

    def _value(self, index: int) -> Value:
        value = self._inputs[index] if index < len(self._inputs) else None
        if value is None:
            self.refuse(f"input {index} is missing")
        return value


def node_name(proto: onnx.NodeProto) -> str:
    """Name of the node that stands for an ONNX node: its output without `_output`, or its own."""
    output = str(proto.output[0]) if proto.output else ""
    if output.endswith("_output"):
        return output.removesuffix("_output")
    return str(proto.name) or output or str(proto.op_type)


def _attribute(attribute: onnx.AttributeProto) -> Any:
    value = helper.get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value
