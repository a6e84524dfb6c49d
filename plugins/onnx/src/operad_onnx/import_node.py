"""Node of a model that is being read, as the rule of its ONNX operator sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np
import onnx
from onnx import helper

import operad
from operad.errors import UnsupportedError
from operad_onnx.element_types import dtype_of
from operad_onnx.model_file import array_of
from operad_onnx.scope import Facts, NeedsValueError, Scope, Value
from operad_onnx.windows import Windows

Lengths = tuple[int | None, ...]


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
        self,
        proto: onnx.NodeProto,
        inputs: Sequence[Value | None],
        scope: Scope,
        opset: int,
        read_graph: Callable[[onnx.GraphProto, Sequence[Value]], list[Value]],
        are_filled: Callable[[str, int], bool],
    ) -> None:
        self.op_type = proto.op_type
        self.name = node_name(proto)
        self.opset = opset
        self.num_inputs = len(inputs)
        self.num_outputs = len(proto.output)
        self._attrs: Mapping[str, Any] = {a.name: _attribute(a) for a in proto.attribute}
        self._inputs = inputs
        self._scope = scope
        self._read_graph = read_graph
        self._rows, self._are_filled = proto.output, are_filled
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
        """Integers: an attribute in older versions, an input in newer ones."""
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

    def graph(self, name: str, *given: Any) -> list[Any]:
        """Outputs of a graph inside the node, called with its inputs; symbols, or arrays that are known."""
        graph = self.attr(name)
        values = [
            Value(info.name, one) if isinstance(one, np.ndarray) else Value(info.name, symbol=one)
            for info, one in zip(graph.input, given, strict=True)
        ]
        made = self._read_graph(graph, values)
        return [one.symbol(self._scope) if one.array is None else one.array for one in made]

    def are_rows_filled(self, index: int, most: int) -> bool:
        """Return whether all readers of an output, if any, fill it up to `most` rows with zeros."""
        return not self._rows[index] or self._are_filled(self._rows[index], most)

    def stands_for(self, variable: Any, symbol: Any, *, is_slice: bool = False) -> Any:
        """A variable of a graph inside, of the shape and type of a symbol, or of its slices along axis 0.

        Loops here have slices of shape (1,) of one axis, where ONNX has numbers without axes.
        """
        shapes, dtype = self._scope.facts(symbol)
        own = tuple(shape[is_slice:] or shape[:0] + (1,) * is_slice for shape in shapes)
        self._scope.know(variable, Facts(own, dtype))
        return self.reshape(variable, ()) if is_slice and len(shapes[0]) == 1 else variable

    def noted(self, made: Any) -> Any:
        """Symbols of one operator that a function made; it gets the node's name."""
        made[0].entries[0].node.name = self._scope.unique(self.name)
        self._scope.note(made[0])
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
