"""Node of a symbol that is being written, as the rule of its operator sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, final

import numpy as np
import onnx
from onnx import helper

import operad
from operad.errors import UnsupportedError
from operad.operator import OperatorProperty
from operad_onnx.element_types import number_of
from operad_onnx.sink import Lengths, Sink, Spec, Value

_AXES_AS_INPUT: Final = {"ReduceSum": 13}
"""Version of the standard since which a reduction's axes are an input; 18 for the others."""


@final
class ExportNode:
    """An operator's node, and the way to write ONNX nodes for it.

    Attributes:
        op: The operator with its parameters: `node.op.axis`.
        name: Of the node.
        inputs: Names of the values that it reads, states last; "" for one that is not written.
        shapes: Shapes of the inputs, None for a length that differs from run to run.
        dtypes: Element types of the inputs.
        out_shapes: As `shapes`, of the outputs.
        out_dtypes: Element types of the outputs.
        opset: Version of the standard that is written.
        ins: Shapes and types of the inputs, with what differs from run to run.
        outs: Those of the outputs.
        sink: The model so far.
    """

    def __init__(
        self,
        op: OperatorProperty,
        name: str,
        inputs: Sequence[str],
        ins: Sequence[Spec],
        outs: Sequence[Spec],
        sink: Sink,
    ) -> None:
        self.op: Any = op
        self.name = name
        self.inputs = list(inputs)
        self.shapes = [spec.shape for spec in ins]
        self.dtypes = [spec.dtype for spec in ins]
        self.out_shapes = [spec.shape for spec in outs]
        self.out_dtypes = [spec.dtype for spec in outs]
        self.ins, self.outs = ins, outs
        self.opset = sink.opset
        self.sink = sink

    def add(self, op_type: str, *inputs: str, outputs: int = 1, domain: str = "", **attrs: Any) -> Any:
        """Write a node; returns the name of its output, or the names.

        Args:
            inputs: Names of values, "" for one that is left out.
            outputs: Number of outputs.
            domain: Of an operator outside the standard.
            attrs: Attributes; those that are None are left out.
        """
        names = [self.sink.unique(f"{self.name}_{op_type.lower()}") for _ in range(outputs)]
        given = {key: value for key, value in attrs.items() if value is not None}
        read = list(inputs)
        while read and not read[-1]:
            read.pop()
        self.sink.nodes.append(helper.make_node(op_type, read, names, names[0], domain=domain, **given))
        self.sink.domains.add(domain)
        return names[0] if outputs == 1 else tuple(names)

    def const(self, value: Any, dtype: Any = None) -> str:
        """A constant, of the first input's element type unless another is given."""
        dtype = dtype if dtype is not None else self.dtypes[0] if self.dtypes else np.float32
        return self.sink.constant(
            np.ascontiguousarray(value, dtype).reshape(np.shape(value)), f"{self.name}_const"
        )

    def ints(self, *values: int) -> str:
        """Constant of integers, as shapes, axes and positions are."""
        return self.const(values, np.int64)

    def ints_scalar(self, value: int) -> str:
        """An integer without axes."""
        return self.const(value, np.int64)

    # Graphs inside the operator.

    def value(self, index: int) -> Value:
        """An input, with its shape and type."""
        return Value(self.inputs[index], self.ins[index])

    def inline(self, graph: Any, values: Sequence[Value]) -> list[Value]:
        """Write the nodes of a graph here, whose variables are values; its outputs."""
        return self.sink.write(graph, values, self.sink)

    def graph(
        self, name: str, inputs: Sequence[Value], write: Callable[[list[Value]], Sequence[Value]]
    ) -> onnx.GraphProto:
        """A graph as an attribute of a node that is added next; it reads values around it by their names.

        Args:
            inputs: What its inputs are called, and their shapes and types.
            write: Writes its nodes; it gets the inputs and gives the outputs.
        """
        return self.sink.graph(f"{self.name}_{name}", inputs, write)

    def cast(self, value: str, dtype: Any) -> str:
        """A value in another element type."""
        return str(self.add("Cast", value, to=number_of(dtype)))

    def fixed(self, index: int = 0) -> tuple[int, ...]:
        """Whole shape of an input; raises as `fixed_lengths`."""
        return self.fixed_lengths(index, 0)

    def fixed_lengths(self, index: int | None, start: int) -> tuple[int, ...]:
        """Lengths of an input, or of the first output for None, from the axis `start` on.

        Raises:
            UnsupportedError: One differs from run to run.
        """
        shape = (self.out_shapes[0] if index is None else self.shapes[index])[start:]
        if None in shape:
            self.refuse(
                f"it needs its lengths from axis {start} on, and they are {shape}; export it with numbers"
            )
        return tuple(length for length in shape if length is not None)

    def reshape(self, value: str, shape: Lengths | None = None, like: Lengths | None = None) -> str:
        """A value in another shape, that of the first output unless another is given.

        Args:
            like: Shape that the value has, where that is not the first input's: with it more than one length
                may differ from run to run.
        """
        wanted = self.out_shapes[0] if shape is None else shape
        old = self.shapes[0] if like is None else like
        same = [i < len(old) and old[i] is None and n is None for i, n in enumerate(wanted)]
        lengths = [0 if kept else -1 if n is None else n for n, kept in zip(wanted, same, strict=True)]
        if lengths.count(-1) > 1 and shape is None:
            return str(self.add("Reshape", value, self.out_shape()))
        if lengths.count(-1) > 1:
            self.refuse(
                f"of the new shape {wanted} several lengths differ from run to run; export it with numbers"
            )
        if 0 in [n for n, kept in zip(lengths, same, strict=True) if not kept]:
            self.refuse("it has no elements")
        return str(self.add("Reshape", value, self.ints(*lengths)))

    def refuse(self, reason: str) -> NoReturn:
        """Say why this node cannot be written.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(reason)

    def out_shape(self, index: int = 0) -> str:
        """The shape of an output as a value; lengths that differ from run to run follow from the inputs'."""
        lengths = self.outs[index].lengths
        if all(first == second for first, second in lengths):
            return self.ints(*(first for first, _ in lengths))
        return str(self.add("Concat", *map(self._length, lengths), axis=0))

    def _length(self, length: tuple[int, int]) -> str:
        first, second = length
        if first == second:
            return self.ints(first)
        for (one, other), (name, axis) in self.sink.sources.items():
            factor = first // one
            if factor * one == first and factor * other == second:
                found = self.add("Shape", name, start=axis, end=axis + 1)
                return str(found if factor == 1 else self.add("Mul", found, self.ints(factor)))
        return self.refuse(
            "a length of its output is no multiple of one of the inputs'; export it with numbers"
        )

    # What rules of many packages need, with what differs between versions of the standard.

    def compare(self, kind: str, one: str, other: str, *, negate: bool = False) -> str:
        """A comparison, 0 or 1 in the output's element type."""
        made = self.add(kind, one, other)
        return self.cast(self.add("Not", made) if negate else made, self.out_dtypes[0])

    def truth(self, value: str) -> str:
        """A mask of the elements that are other than 0."""
        return self.cast(value, np.bool_)

    def logical(self, kind: str, *values: str) -> str:
        """And, Or, Xor or Not of what is other than 0, in the output's element type."""
        return self.cast(self.add(kind, *map(self.truth, values)), self.out_dtypes[0])

    def floor_mod(self, one: str, other: str) -> str:
        """The remainder with the sign of `other`."""
        if self.out_dtypes[0].kind != "f":
            return str(self.add("Mod", one, other))
        whole = self.add("Floor", self.add("Div", one, other))
        return str(self.add("Sub", one, self.add("Mul", other, whole)))

    def hypot(self, one: str, other: str) -> str:
        """`sqrt(one^2 + other^2)`."""
        squares = [self.add("Mul", value, value) for value in (one, other)]
        return str(self.add("Sqrt", self.add("Add", *squares)))

    def reduce(self, kind: str, value: str, axes: Sequence[int] | None = None, keepdims: bool = True) -> str:
        """A reduction over axes, all for None."""
        keep = int(keepdims)
        if axes is None:
            return str(self.add(kind, value, keepdims=keep))
        if self.opset >= _AXES_AS_INPUT.get(kind, 18):
            return str(self.add(kind, value, self.ints(*axes), keepdims=keep))
        return str(self.add(kind, value, axes=tuple(axes), keepdims=keep))

    def slice(self, value: str, starts: Any, ends: Any, axes: Any, steps: Any = ()) -> str:
        """A part along axes."""
        more = [self.ints(*steps)] if steps else []
        return str(self.add("Slice", value, self.ints(*starts), self.ints(*ends), self.ints(*axes), *more))

    def squeeze(self, value: str, *axes: int) -> str:
        """A value without axes of length 1."""
        return str(self.add("Squeeze", value, self.ints(*axes)))

    def unsqueeze(self, value: str, *axes: int) -> str:
        """A value with new axes."""
        return str(self.add("Unsqueeze", value, self.ints(*axes)))

    def split(self, value: str, lengths: Sequence[int], axis: int) -> tuple[str, ...]:
        """Parts along an axis."""
        made = self.add("Split", value, self.ints(*lengths), outputs=len(lengths), axis=axis)
        return (made,) if isinstance(made, str) else tuple(made)

    def swap_last(self, value: str, rank: int) -> str:
        """A value with its last two axes exchanged."""
        return str(self.add("Transpose", value, perm=(*range(rank - 2), rank - 1, rank - 2)))

    def array(self, index: int) -> np.ndarray[Any, Any]:
        """The array of an input that is a parameter, or computed of parameters alone.

        Raises:
            UnsupportedError: It depends on an input of the model.
        """
        found = self.sink.known(self.inputs[index])
        if found is None:
            self.refuse(f"input {index} ({self.inputs[index]!r}) must be among the parameters")
        return found

    def of_shapes(self) -> str:
        """The output of an operator that reads shapes alone, as a constant."""
        pairs = zip(self.shapes, self.dtypes, strict=True)
        zeros = [operad.nd.zeros(tuple(n or 1 for n in shape), dtype=dtype) for shape, dtype in pairs]
        params = {name: value for name, value in self.op.get_params().items() if value not in ("None", "")}
        return self.const(getattr(operad.nd, self.op.name)(*zeros, **params).asnumpy(), self.out_dtypes[0])
