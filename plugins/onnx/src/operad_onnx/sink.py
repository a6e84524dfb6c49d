"""Model that is being written: its nodes, constants and names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast, final

import numpy as np
import onnx
from onnx import helper, numpy_helper

import operad
from operad.graph import Graph
from operad_onnx.element_types import number_of
from operad_onnx.names import unique

Lengths = tuple[int | None, ...]


@final
class Spec(NamedTuple):
    """Shape and element type of a value.

    Attributes:
        lengths: Each length, as it follows from two sets of lengths for what differs from run to run.
    """

    lengths: tuple[tuple[int, int], ...]
    dtype: np.dtype[Any]

    @property
    def shape(self) -> Lengths:
        """The lengths, None for those that differ."""
        return tuple(first if first == second else None for first, second in self.lengths)


@final
class Value(NamedTuple):
    """A value of the model, its shape and type."""

    name: str
    spec: Spec


GraphWriter = Callable[[Graph, Sequence[Value], "Sink"], list[Value]]
"""Writes the nodes of a graph, whose variables are values; gives its outputs."""


@final
class Sink:
    """Nodes and constants of the model so far.

    Attributes:
        nodes: In order; of a graph inside a node while that is written.
        constants: By name; graphs inside nodes read them too.
        arrays: The parameters, by name.
        sources: An input and its axis, for each length that differs from run to run.
        symbols: The names of such lengths.
        computed: Operator, inputs and number of the output, for each value that a node of the symbol makes.
        write: Writer of graphs inside operators.
    """

    def __init__(
        self,
        opset: int,
        arrays: Mapping[str, np.ndarray[Any, Any]],
        symbols: Mapping[tuple[int, int], str],
        write: GraphWriter,
    ) -> None:
        self.opset = opset
        self.arrays = arrays
        self.symbols = symbols
        self.write = write
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.domains: set[str] = set()
        self.sources: dict[tuple[int, int], tuple[str, int]] = {}
        self.computed: dict[str, tuple[Any, Sequence[str], int]] = {}
        self._names: dict[str, int] = {}
        self._of_contents: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def unique(self, name: str) -> str:
        """A name that no value has, like `name`."""
        return unique(name, self._names)

    def constant(self, value: np.ndarray[Any, Any], hint: str) -> str:
        """Name of a constant; equal ones are kept once."""
        key = (value.dtype.name, value.shape, value.tobytes())
        if key not in self._of_contents:
            name = self._of_contents[key] = self.unique(hint)
            self.constants[name] = numpy_helper.from_array(value, name)
        return self._of_contents[key]

    def known(self, name: str) -> np.ndarray[Any, Any] | None:
        """A value that depends on no input of the model."""
        if name in self.arrays or name not in self.computed:
            return self.arrays.get(name)
        op, inputs, number = self.computed[name]
        arrays = [self.known(each) for each in inputs]
        if not arrays or any(array is None for array in arrays):
            return None
        params = {key: value for key, value in op.get_params().items() if value not in ("None", "")}
        given = [operad.nd.array(array, dtype=array.dtype) for array in arrays if array is not None]
        found: Any = getattr(operad.nd, op.name)(*given, **params)
        return cast("np.ndarray[Any, Any]", (found[number] if isinstance(found, list) else found).asnumpy())

    def prune(self, outputs: Iterable[str]) -> None:
        """Leave out nodes that lead to no output: rules may have computed their values."""
        read, kept = set(outputs), list[onnx.NodeProto]()
        for node in reversed(self.nodes):
            if not read.isdisjoint(node.output):
                kept.append(node)
                read |= {name for each in every_node([node]) for name in each.input}
                read |= {
                    out.name for each in every_node([node]) for a in each.attribute for out in a.g.output
                }
        self.nodes = kept[::-1]

    def info(self, value: Value) -> onnx.ValueInfoProto:
        """Name, shape and type of a value, as the inputs and outputs of graphs have them."""
        lengths = [a if a == b else self.symbols.get((a, b)) for a, b in value.spec.lengths]
        return helper.make_tensor_value_info(value.name, number_of(value.spec.dtype), lengths)

    def output(self, name: str, wanted: str) -> str:
        """A value that a node of this graph makes and no other output is, called `wanted` where it is new."""
        if name == wanted and any(name in node.output for node in self.nodes):
            return name
        made = self.unique(wanted)
        self.nodes.append(helper.make_node("Identity", [name], [made], f"{made}_identity"))
        return made

    def graph(
        self, name: str, inputs: Sequence[Value], write: Callable[[list[Value]], Sequence[Value]]
    ) -> onnx.GraphProto:
        """A graph inside a node; `write` gets its inputs, which are named like those given."""
        outer, self.nodes = self.nodes, []
        try:
            own = [Value(self.unique(name), spec) for name, spec in inputs]
            made = dict[str, Value]()
            for value, spec in write(own):
                kept = self.output(value, f"{value}_copy" if value in made else value)
                made[kept] = Value(kept, spec)
            ins, outs = [self.info(value) for value in own], [self.info(value) for value in made.values()]
            return helper.make_graph(self.nodes, self.unique(name), ins, outs)
        finally:
            self.nodes = outer


def every_node(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of graphs inside them."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from every_node(attribute.g.node)
