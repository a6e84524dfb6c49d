"""Writing a symbol and its parameters as an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast, final

import numpy as np
import onnx
from onnx import helper, numpy_helper

import operad
from operad.boundary import boundary
from operad.dtypes import as_dtype
from operad.errors import ArgumentError, OperadError, UnsupportedError
from operad.graph import Entry, Graph, OpNode, Variable, infer_shapes, infer_types
from operad.symbol import Symbol
from operad_onnx.element_types import number_of
from operad_onnx.export_node import ExportNode, Sink, Spec
from operad_onnx.model_file import write_model
from operad_onnx.rules import Rule, Rules, applied, rules
from operad_onnx.traced import is_traceable, translated

OPSET: Final = 17
"""Version of the standard that is written where none is named."""

LEAST_OPSET: Final = 17
EXTERNAL_ABOVE_BYTES: Final = 256 * 2**20
"""Models with more weights than this have them in a file beside them."""

Shapes = Mapping[str, Sequence[int | str | None]]

_PROBES: Final = ((6, 8), (10, 14), (22, 26), (34, 38))
"""Lengths for those that differ from run to run: what a rule sees as fixed is what is alike for both."""


def newest_opset() -> int:
    """The newest version of the standard that the installed onnx knows."""
    return int(onnx.defs.onnx_opset_version())


@boundary
def export(
    symbol: Symbol,
    params: Mapping[str, Any],
    shapes: Shapes,
    path: str | os.PathLike[str] | None = None,
    *,
    opset: int = OPSET,
    types: Mapping[str, Any] | None = None,
    external_above: int = EXTERNAL_ABOVE_BYTES,
) -> onnx.ModelProto:
    """Write a symbol and its parameters as an ONNX model, for inference.

    Args:
        symbol: Its outputs become the model's, by their names. Losses become what they compute in inference.
        params: Arguments and auxiliary states by name, as arrays; `arg:` and `aux:` before a name, as in
            checkpoints, are left out.
        shapes: Shapes of the other arguments by name. A length that differs from run to run is given as text,
            its name in the model, or as None: `{"data": ("N", 1, 28, 28)}`.
        path: The file; None: it is only returned.
        opset: Version of the standard, from 17 on.
        types: Element types of the arguments in `shapes`; float32 where left out.
        external_above: Bytes of weights above which they stand in a file beside it, `path` with `.data`.
    Returns:
        The model.
    Raises:
        UnsupportedError: An operator has no counterpart; the message names node, operator and package.
        ArgumentError: A name is none of the symbol's, or the opset is not known.
        ShapeError: Shapes do not follow from those given.
    """
    if not isinstance(symbol, Symbol):
        raise ArgumentError(f"export: the first argument is {type(symbol).__name__}, expected a Symbol")
    if not LEAST_OPSET <= opset <= newest_opset():
        raise ArgumentError(
            f"export: opset is {opset!r}, expected {LEAST_OPSET} to {newest_opset()}, the newest that "
            f"onnx {onnx.__version__} knows"
        )
    model = _Writer(symbol.graph, _plain(params), shapes, types or {}, opset).model()
    if path is not None:
        write_model(model, path, external_above)
    return model


def _plain(params: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    arrays = {}
    for name, array in params.items():
        value = array.asnumpy() if hasattr(array, "asnumpy") else np.asarray(array)
        arrays[name.removeprefix("arg:").removeprefix("aux:")] = value
    return arrays


@final
class _Writer:
    """The walk over a graph."""

    def __init__(
        self,
        graph: Graph,
        params: Mapping[str, np.ndarray[Any, Any]],
        shapes: Shapes,
        types: Mapping[str, Any],
        opset: int,
    ) -> None:
        self._graph = graph
        names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
        if unknown := [name for name in shapes if name not in names]:
            raise ArgumentError(f"export: {unknown[0]!r} is no argument; they are {', '.join(names)}")
        self._params = {name: params[name] for name in names if name in params and name not in shapes}
        self._rules = rules()
        self._sink = Sink(opset, self._params)
        self._lengths = _probed(shapes)
        self._symbols = {pair: name for name, pair in self._lengths.items()}
        self._specs = self._inferred(shapes, types)
        self._values: dict[Entry, str] = {}
        self._read: set[str] = set()

    def model(self) -> onnx.ModelProto:
        """The whole model, checked by onnx."""
        for node in self._graph.nodes:
            if isinstance(node, Variable):
                self._values[Entry(node)] = self._sink.unique(node.name)
                self._note_lengths(node)
        for node in self._graph.op_nodes:
            self._write(node)
        outputs = [self._output(entry) for entry in self._graph.outputs]
        self._read.update(name for node in self._sink.nodes for name in node.input)
        graph = helper.make_graph(
            self._sink.nodes, "operad", list(self._inputs()), outputs, list(self._initializers())
        )
        domains = [("", self._sink.opset), *((name, 1) for name in sorted(self._sink.domains) if name)]
        opsets = [helper.make_opsetid(name, version) for name, version in domains]
        return helper.make_model(
            graph,
            producer_name="operad",
            producer_version=operad.__version__,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets, ignore_unknown=True),
        )

    def _inferred(self, shapes: Shapes, types: Mapping[str, Any]) -> list[Spec]:
        tables = []
        for probe in (0, 1):
            known: dict[str, Any] = {name: array.shape for name, array in self._params.items()}
            for name, shape in shapes.items():
                lengths = _names(name, shape)
                known[name] = tuple(self._lengths[n][probe] if isinstance(n, str) else n for n in lengths)
            tables.append(infer_shapes(self._graph, known))
        dtypes: dict[str, Any] = {name: array.dtype for name, array in self._params.items()}
        dtypes |= {name: np.dtype(np.float32) for name in shapes}
        dtypes |= {name: as_dtype(dtype) for name, dtype in types.items()}
        found = infer_types(self._graph, dtypes, np.dtype(np.float32))
        for entry, known_shape, dtype in zip(
            self._graph.entries, tables[0].values, found.values, strict=True
        ):
            if known_shape is None or None in known_shape or dtype is None:
                raise ArgumentError(
                    f"export: the shape of {entry.name!r} does not follow from those given; give it in "
                    "shapes, or its array in params"
                )
        pairs = zip(tables[0].values, tables[1].values, strict=True)
        both = [tuple(zip(cast("Any", one), cast("Any", other), strict=True)) for one, other in pairs]
        return [Spec(one, cast("Any", dtype)) for one, dtype in zip(both, found.values, strict=True)]

    def _spec(self, entry: Entry) -> Spec:
        return self._specs[self._graph.entry_id(entry)]

    def _note_lengths(self, node: Variable) -> None:
        if node.name in self._params:
            return
        for axis, length in enumerate(self._spec(Entry(node)).lengths):
            if length in self._symbols:
                self._sink.sources.setdefault(length, (node.name, axis))

    def _write(self, node: OpNode) -> None:
        what = f"export: node {node.name!r} ({node.op.name})"
        rule = _rule_of(node, self._rules, what)
        visible = node.entries[: node.op.num_visible_outputs or 1]
        seen = ExportNode(
            node.op,
            node.name,
            [self._values[entry] for entry in node.inputs],
            [self._spec(entry) for entry in node.inputs],
            [self._spec(entry) for entry in visible],
            self._sink,
        )
        before = len(self._sink.nodes)
        try:
            made = applied(rule, seen)
        except UnsupportedError as error:
            raise UnsupportedError(f"{what}: {error} (rule {rule})") from error
        except OperadError:
            raise
        except Exception as error:
            raise UnsupportedError(
                f"{what}: its rule {rule} failed with {type(error).__name__}: {error}"
            ) from error
        for own in self._sink.nodes[before:]:
            if made[0] in own.output:
                own.name = node.name
        for entry, name in zip(visible, made, strict=False):
            self._values[entry] = self._named(name, entry.name, before)

    def _named(self, value: str, wanted: str, before: int) -> str:
        """Give a value that nodes since `before` have made its name in the symbol."""
        own = self._sink.nodes[before:]
        if not any(value in node.output for node in own):
            return value
        name = self._sink.unique(wanted)
        for node in own:
            for names in (node.input, node.output):
                names[:] = [name if old == value else old for old in names]
        return name

    def _output(self, entry: Entry) -> onnx.ValueInfoProto:
        value = self._values.get(entry)
        if value is None:
            raise UnsupportedError(f"export: the output {entry.name!r} has no counterpart in ONNX")
        made = {name for node in self._sink.nodes for name in node.output}
        wanted = entry.name
        if value != wanted or value not in made:
            wanted = self._sink.unique(wanted)
            self._sink.nodes.append(helper.make_node("Identity", [value], [wanted], f"{wanted}_identity"))
        return self._value_info(wanted, self._spec(entry))

    def _value_info(self, name: str, spec: Spec) -> onnx.ValueInfoProto:
        lengths = [a if a == b else self._symbols.get((a, b)) for a, b in spec.lengths]
        return helper.make_tensor_value_info(name, number_of(spec.dtype), lengths)

    def _inputs(self) -> Iterable[onnx.ValueInfoProto]:
        for node in self._graph.nodes:
            if isinstance(node, Variable) and node.name not in self._params and node.name in self._read:
                yield self._value_info(node.name, self._spec(Entry(node)))

    def _initializers(self) -> Iterable[onnx.TensorProto]:
        for name, array in self._params.items():
            if name in self._read:
                yield numpy_helper.from_array(np.ascontiguousarray(array), name)
        yield from self._sink.constants.values()


def _rule_of(node: OpNode, known: Rules, what: str) -> Rule:
    rule = known.exports.get(node.op.name)
    if rule is not None:
        return rule
    reason = known.absent.get(node.op.name)
    if reason is None:
        provider = operad.registry.provider(node.op.name)
        if is_traceable(node.op):
            return Rule(translated, str(provider))
        reason = f"{provider} brings no rule for it (entry point operad.onnx)"
    raise UnsupportedError(f"{what} cannot be written as ONNX: {reason}")


def _names(name: str, shape: Sequence[int | str | None]) -> list[int | str]:
    return [f"{name}_{axis}" if length is None else length for axis, length in enumerate(shape)]


def _probed(shapes: Shapes) -> dict[str, tuple[int, int]]:
    """Two lengths for each that differs from run to run."""
    named = dict.fromkeys(
        n for name, shape in shapes.items() for n in _names(name, shape) if isinstance(n, str)
    )
    if len(named) > len(_PROBES):
        raise ArgumentError(
            f"export: shapes have {len(named)} variable lengths, expected at most {len(_PROBES)}; "
            "give numbers for the others"
        )
    return dict(zip(named, _PROBES, strict=False))
