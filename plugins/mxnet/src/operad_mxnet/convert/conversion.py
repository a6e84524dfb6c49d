"""From a model's files to what they hold, and to the files of today."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import operad
from operad import Symbol, nd, sym
from operad.dtypes import from_type_flag
from operad.errors import FormatError
from operad_mxnet.convert.changes import changes
from operad_mxnet.convert.files import ModelFiles, read_document, version_of
from operad_mxnet.convert.report import Conversion, Tensor
from operad_mxnet.convert.upgrade import attributes, upgraded, with_hidden_attributes
from operad_mxnet.convert.usage import used_operators
from operad_mxnet.convert.weights import Weights, is_parameter, misfits, sorted_out


def converted(found: ModelFiles, out: str | None = None) -> Conversion:
    """Describe a model and convert its files; the new ones are written where `out` says.

    Raises:
        FormatError: A file is damaged.
    """
    if found.symbol is not None:
        return _converted_model(found.symbol, found, out)
    assert found.params is not None
    return _converted_arrays(found.params, out)


def _converted_arrays(params: Path, out: str | None) -> Conversion:
    """Parameters alone keep the names that they have."""
    arrays = nd.load(str(params))
    named = arrays if isinstance(arrays, Mapping) else {str(i): one for i, one in enumerate(arrays)}
    if out is not None:
        nd.save(out, arrays)
    written = [] if out is None else [out]
    return Conversion([str(params)], parameters=_parameters(sorted_out(named, [])), written=written)


def _converted_model(symbol_path: Path, found: ModelFiles, out: str | None) -> Conversion:
    document = read_document(symbol_path)
    present = upgraded(document)
    operators = used_operators(present)
    is_usable = all(op.problem is None for op in operators)
    symbol = _loaded(present, symbol_path) if is_usable else None
    weights = _weights(found.params, symbol)
    problems = misfits(symbol, weights) if symbol is not None and found.params is not None else []
    variables = _without_value(document, symbol, {*weights.arguments, *weights.states})
    written = [] if out is None or symbol is None or problems else _write(found, out, symbol, weights)
    return Conversion(
        files=[str(path) for path in (symbol_path, found.params) if path is not None],
        mxnet_version=version_of(document),
        operators=operators,
        inputs=[one for one in variables if not is_parameter(one.name)],
        outputs=[] if symbol is None else symbol.list_outputs(),
        parameters=_parameters(weights) + [one for one in variables if is_parameter(one.name)],
        install=operad.registry.install_line(op.name for op in operators if op.install is not None),
        changes=[] if symbol is None else changes(document, json.loads(symbol.tojson())),
        problems=problems,
        written=written,
    )


def _loaded(document: Mapping[str, Any], path: Path) -> Symbol:
    try:
        return with_hidden_attributes(sym.load_json(json.dumps(document)))
    except FormatError as error:
        raise FormatError(f"{str(path)!r}: {error}") from error


def _weights(params: Path | None, symbol: Symbol | None) -> Weights:
    arrays = {} if params is None else nd.load(str(params))
    if not isinstance(arrays, Mapping):
        raise FormatError(f"{str(params)!r} holds a list of arrays, expected them by their names")
    return sorted_out(arrays, [] if symbol is None else symbol.list_auxiliary_states())


def _write(found: ModelFiles, out: str, symbol: Symbol, weights: Weights) -> list[str]:
    symbol_path, params_path = found.written(out)
    symbol.save(symbol_path)
    if found.params is None:
        return [symbol_path]
    nd.save(params_path, weights.named)
    return [symbol_path, params_path]


def _without_value(
    document: Mapping[str, Any], symbol: Symbol | None, known: Collection[str]
) -> list[Tensor]:
    """The variables of which the file of parameters knows nothing."""
    said = {node["name"]: attributes(node) for node in document["nodes"] if node["op"] == "null"}
    names = list(said) if symbol is None else symbol.list_inputs()
    return [_variable(name, said.get(name, {})) for name in names if name not in known]


def _variable(name: str, attrs: Mapping[str, str]) -> Tensor:
    flag = attrs.get("__dtype__", "")
    dtype = from_type_flag(int(flag)).name if flag.isdecimal() else None
    return Tensor(name, _shape(attrs.get("__shape__", "")), dtype, 0)


def _shape(text: str) -> list[int] | None:
    try:
        axes = ast.literal_eval(text.replace("L", ""))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    is_shape = isinstance(axes, (tuple, list)) and all(type(axis) is int for axis in axes)
    return list(axes) if is_shape else None


def _parameters(weights: Weights) -> list[Tensor]:
    return [
        Tensor(name, list(one.shape), one.dtype.name, one.size * one.dtype.itemsize)
        for arrays in (weights.arguments, weights.states)
        for name, one in arrays.items()
    ]
