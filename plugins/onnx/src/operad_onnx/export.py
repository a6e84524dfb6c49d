"""Writing a symbol and its parameters as an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
import onnx
from onnx import helper, numpy_helper

import operad
from operad.boundary import boundary
from operad.dtypes import as_dtype
from operad.errors import ArgumentError
from operad.graph import Entry, Graph, Variable
from operad.symbol import Symbol
from operad_onnx.graph_writer import inferred, write_inner, written
from operad_onnx.model_file import write_model
from operad_onnx.sink import Sink, Spec, Value, every_node

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
    """The symbol's own graph, its inputs and its parameters."""

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
        lengths = _probed(shapes)
        symbols = {pair: name for name, pair in lengths.items()}
        self._sink = Sink(opset, self._params, symbols, write_inner)
        self._specs = self._inferred(shapes, types, lengths)

    def model(self) -> onnx.ModelProto:
        """The whole model, checked by onnx."""
        sink, inputs = self._sink, list[Value]()
        variables = [node for node in self._graph.nodes if isinstance(node, Variable)]
        for node in variables:
            value = Value(sink.unique(node.name), self._specs[self._graph.entry_id(Entry(node))])
            inputs.append(value)
            for axis, length in enumerate(value.spec.lengths):
                if node.name not in self._params and length in sink.symbols:
                    sink.sources.setdefault(length, (node.name, axis))
        made = written(self._graph, self._specs, [name for name, _ in inputs], sink, "export: ")
        outputs = [
            sink.info(Value(sink.output(value.name, entry.name), value.spec))
            for entry, value in zip(self._graph.outputs, made, strict=True)
        ]
        sink.prune([output.name for output in outputs])
        read = {name for node in every_node(sink.nodes) for name in node.input}
        free = [sink.info(value) for value in inputs if value.name in read - self._params.keys()]
        graph = helper.make_graph(sink.nodes, "operad", free, outputs, list(self._initializers(read)))
        domains = [("", sink.opset), *((name, 1) for name in sorted(sink.domains) if name)]
        opsets = [helper.make_opsetid(name, version) for name, version in domains]
        return helper.make_model(
            graph,
            producer_name="operad",
            producer_version=operad.__version__,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets, ignore_unknown=True),
        )

    def _inferred(
        self, shapes: Shapes, types: Mapping[str, Any], lengths: Mapping[str, tuple[int, int]]
    ) -> list[Spec]:
        tables: list[dict[str, Any]] = []
        for probe in (0, 1):
            tables.append({name: array.shape for name, array in self._params.items()})
            for name, shape in shapes.items():
                each = _names(name, shape)
                tables[-1][name] = tuple(lengths[n][probe] if isinstance(n, str) else n for n in each)
        dtypes: dict[str, Any] = {name: array.dtype for name, array in self._params.items()}
        dtypes |= {name: np.dtype(np.float32) for name in shapes}
        dtypes |= {name: as_dtype(dtype) for name, dtype in types.items()}
        return inferred(self._graph, tables, dtypes)

    def _initializers(self, read: set[str]) -> Iterable[onnx.TensorProto]:
        for name, array in self._params.items():
            if name in read:
                yield numpy_helper.from_array(np.ascontiguousarray(array), name)
        yield from (tensor for name, tensor in self._sink.constants.items() if name in read)


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
