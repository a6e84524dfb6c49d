"""Reading an ONNX model as a symbol and its parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import onnx

import operad
from operad.boundary import boundary
from operad.errors import ArgumentError, FormatError, OperadError, UnsupportedError
from operad.graph import OpNode
from operad.symbol import Symbol
from operad_onnx.element_types import dtype_of
from operad_onnx.folding import folded
from operad_onnx.functions import Calls, called, definition, is_defined
from operad_onnx.import_node import ImportNode, node_name
from operad_onnx.model import Model
from operad_onnx.model_file import array_of, parsed, read_model
from operad_onnx.providers import package_for
from operad_onnx.rows import are_filled
from operad_onnx.rules import Rule, rules
from operad_onnx.scope import Facts, NeedsValueError, Scope, Value

_STANDARD: Final = ("", "ai.onnx")
_PROBES: Final = ((6, 8), (10, 14), (22, 26), (34, 38), (46, 58), (62, 74), (82, 86), (94, 106))
"""Lengths for those that differ from run to run: what follows alike from both is fixed."""


@boundary
def load(
    source: str | os.PathLike[str] | bytes | onnx.ModelProto,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Model:
    """Read an ONNX model.

    Args:
        source: A file, its bytes, or a model.
        shapes: Shapes of inputs by name, where the model leaves lengths open and a node needs them.
        values: Arrays of inputs by name that become constants: shapes and axes that operators here have as
            parameters.
    Returns:
        The symbol and the parameters.
    Raises:
        FormatError: It is no model, it is damaged, or it points out of its folder.
        LimitError: It is larger than `OPERAD_MAX_FILE_BYTES`.
        UnsupportedError: A node has no counterpart; the message names node, operator, rule and package.
    """
    folder = None
    if isinstance(source, onnx.ModelProto):
        model, what = source, "the ONNX model"
    elif isinstance(source, bytes):
        model, what = parsed(source, "the ONNX model"), "the ONNX model"
    else:
        model, what = read_model(source), f"the ONNX file {os.fspath(source)!r}"
        folder = str(Path(source).parent)
    return _Reader(model, what, folder, shapes or {}, values or {}).model()


@final
class _Reader:
    """The walk over a model."""

    def __init__(
        self,
        model: onnx.ModelProto,
        what: str,
        folder: str | None,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, Any],
    ) -> None:
        self._graph = model.graph
        self._what = self._where = what
        self._folder = folder
        self._opsets = {entry.domain: entry.version for entry in model.opset_import}
        self._rules = rules().imports
        self._scope = Scope()
        self._values: dict[str, Value | None] = {}
        self._lengths: dict[str, tuple[int, int]] = {}
        self._functions = {(one.domain, one.name): one for one in model.functions}
        self._calls = Calls()
        self._read_tensors()
        self._read_inputs(shapes, values)

    def model(self) -> Model:
        """Symbol and parameters."""
        for proto in self._graph.node:
            self._read_node(proto)
        if not self._graph.output:
            raise FormatError(f"{self._what}: its graph has no outputs")
        outputs = [self._output(info.name) for info in self._graph.output]
        symbol = outputs[0] if len(outputs) == 1 else operad.sym.Group(outputs)
        used = {*symbol.list_arguments(), *symbol.list_auxiliary_states()}
        params = {
            name: operad.nd.array(array, dtype=array.dtype)
            for name, array in self._scope.params.items()
            if name in used
        }
        return Model(symbol, params)

    def _read_tensors(self) -> None:
        if self._graph.sparse_initializer:
            raise UnsupportedError(f"{self._what}: it has sparse tensors, and arrays here are dense")
        for tensor in self._graph.initializer:
            where = f"{self._what}: the tensor {tensor.name!r}"
            self._define(tensor.name, Value(tensor.name, array_of(tensor, where, self._folder)))

    def _read_inputs(self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, Any]) -> None:
        names = [info.name for info in self._graph.input]
        if unknown := [name for name in (*shapes, *values) if name not in names]:
            raise ArgumentError(f"{self._what}: {unknown[0]!r} is no input; they are {', '.join(names)}")
        for info in self._graph.input:
            if info.name in values:
                given = values[info.name]
                array = given.asnumpy() if hasattr(given, "asnumpy") else np.asarray(given)
                self._values[info.name] = Value(info.name, array)
            elif info.name not in self._values:
                facts = self._declared(info, shapes.get(info.name))
                self._define(info.name, Value(info.name, symbol=self._scope.variable(info.name, facts)))

    def _declared(self, info: onnx.ValueInfoProto, shape: Sequence[int] | None) -> Facts:
        where = f"{self._what}: the input {info.name!r}"
        if info.type.WhichOneof("value") != "tensor_type":
            raise UnsupportedError(f"{where} is a {info.type.WhichOneof('value')}, expected a tensor")
        tensor = info.type.tensor_type
        dtype = dtype_of(tensor.elem_type, where)
        if shape is not None:
            return Facts((tuple(shape), tuple(shape)), dtype)
        if not tensor.HasField("shape"):
            raise UnsupportedError(f"{where} has no shape; give it: shapes={{{info.name!r}: ...}}")
        lengths = []
        for axis, length in enumerate(tensor.shape.dim):
            if length.HasField("dim_value") and length.dim_value > 0:
                lengths.append((length.dim_value, length.dim_value))
            else:
                lengths.append(self._open_length(length.dim_param or f"{info.name}_{axis}", where))
        return Facts((tuple(a for a, _ in lengths), tuple(b for _, b in lengths)), dtype)

    def _open_length(self, name: str, where: str) -> tuple[int, int]:
        if name not in self._lengths:
            if len(self._lengths) == len(_PROBES):
                raise UnsupportedError(f"{where}: more than {len(_PROBES)} lengths are open; give shapes")
            self._lengths[name] = _PROBES[len(self._lengths)]
        return self._lengths[name]

    def _define(self, name: str, value: Value) -> None:
        if name in self._values:
            raise FormatError(f"{self._what}: two values are called {name!r}")
        self._values[name] = value

    def _read_node(self, proto: onnx.NodeProto) -> None:
        what = f"{self._where}: node {node_name(proto)!r} ({proto.op_type})".removeprefix(": ")
        inputs = [
            self._values[name] if name in self._values else self._undefined(name, what)
            for name in proto.input
        ]
        domain = "" if proto.domain in _STANDARD else proto.domain
        graph, values, scope = self._graph, self._values, self._scope
        node = ImportNode(
            proto, inputs, scope, self._opset(domain, what), self._read_inner,
            lambda rows, most: are_filled(graph, rows, most, values, scope),
        )  # fmt: skip
        constants = folded(proto, inputs, node, what)
        if constants is not None:
            for name, array in zip(proto.output, constants, strict=True):
                if name:
                    self._define(name, Value(name, array))
            return
        full_name = f"{domain}::{proto.op_type}" if domain else proto.op_type
        rule = self._rules.get(full_name)
        if (own := self._functions.get((proto.domain, proto.op_type))) is not None:
            rule = Rule(lambda _: self._read_function(own, proto, inputs), "the model")
        elif rule is None and is_defined(proto.op_type, node.opset, domain):
            rule = Rule(
                lambda node: self._read_function(definition(proto, node, domain), proto, inputs),
                "the standard",
            )
        elif rule is None:
            raise UnsupportedError(f"{what}: {package_for(full_name)}")
        for name, made in zip(proto.output, self._made(rule, node, what), strict=False):
            if name:
                self._define(name, _as_value(name, made))

    def _read_inner(self, graph: onnx.GraphProto, inputs: Sequence[Value]) -> list[Value]:
        """The outputs of a graph inside a node, which reads values around it."""
        outer = self._graph, self._values, self._where
        self._graph, self._values, self._where = graph, dict(self._values), ""
        try:
            for value in inputs:
                self._values[value.name] = value
            for tensor in graph.initializer:
                where = f"{self._what}: the tensor {tensor.name!r}"
                array = array_of(tensor, where, self._folder)
                self._values[tensor.name] = Value(tensor.name, array)
            for proto in graph.node:
                self._values = {k: v for k, v in self._values.items() if k not in proto.output}
                self._read_node(proto)
            found = [(info.name, self._values.get(info.name)) for info in graph.output]
            return [value or self._lost(name) for name, value in found]
        finally:
            self._graph, self._values, self._where = outer

    def _read_function(
        self, function: onnx.FunctionProto, proto: onnx.NodeProto, inputs: Sequence[Value | None]
    ) -> list[Value | None]:
        """The outputs of a function, which reads nothing around it; None for one that is not asked for."""
        outer = self._values, self._opsets
        self._opsets = {**self._opsets, **{entry.domain: entry.version for entry in function.opset_import}}
        self._values = dict.fromkeys(function.input) | dict(zip(function.input, inputs, strict=False))
        try:
            self._calls.enter(function)
            made = iter(self._read_inner(called(function, proto), []))
            return [next(made) if name else None for name in proto.output]
        finally:
            self._calls.leave()
            self._values, self._opsets = outer

    def _lost(self, name: str) -> Value:
        raise FormatError(f"{self._what}: no node makes the output {name!r} of a graph inside a node")

    def _opset(self, domain: str, what: str) -> int:
        names = _STANDARD if not domain else (domain,)
        versions = [self._opsets[name] for name in names if name in self._opsets]
        if not versions:
            raise FormatError(
                f"{what}: the model does not say which version of the domain {domain!r} it uses"
            )
        return int(versions[0])

    def _undefined(self, name: str, what: str) -> Value | None:
        if not name:
            return None
        made_later = any(name in other.output for other in self._graph.node)
        reason = (
            "only later nodes make it: the nodes form a cycle, or are not in order"
            if made_later
            else "nothing"
        )
        raise FormatError(f"{what} reads {name!r}, which {reason if made_later else 'nothing makes'}")

    def _made(self, rule: Rule, node: ImportNode, what: str) -> list[Any]:
        try:
            made = _applied(rule, node)
        except NeedsValueError as error:
            raise NeedsValueError(f"{what}: {error} (rule {rule})", error.inputs) from error
        except UnsupportedError as error:
            raise UnsupportedError(f"{what}: {error} (rule {rule})") from error
        except OperadError as error:
            error.add_note(f"in {what}, by its rule {rule}")
            raise
        except Exception as error:
            raise FormatError(
                f"{what}: its rule {rule} failed with {type(error).__name__}: {error}"
            ) from error
        own = made[0].entries[0].node if isinstance(made[0], Symbol) else None
        if isinstance(own, OpNode) and own.name.startswith(f"{node.name}_"):
            own.name = self._scope.unique(node.name)
        return made

    def _output(self, name: str) -> Symbol:
        value = self._values.get(name) or self._undefined(name, f"{self._what}: an output")
        if value is None:
            raise FormatError(f"{self._what}: an output has no name")
        symbol = value.symbol(self._scope)
        if isinstance(symbol.entries[0].node, OpNode):
            return symbol
        made: Symbol = operad.sym.identity(symbol, name=self._scope.unique(name))
        return made


def _as_value(name: str, made: Any) -> Value:
    """A value of what a rule made: a symbol, or numbers that are known."""
    if isinstance(made, np.ndarray):
        return Value(name, made)
    return made if isinstance(made, Value) else Value(name, symbol=made)


def _applied(rule: Rule, node: ImportNode) -> list[Any]:
    if isinstance(rule.rule, str):
        return [node.call(rule.rule, *node.syms())]
    made = rule.rule(node)
    return list(made) if isinstance(made, (list, tuple)) else [made]
