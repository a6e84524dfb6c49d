"""`operad convert`: look into a model's files, and write them as MXNet 1.9.1 and operad read them."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click

import operad
from operad import Symbol, nd, sym
from operad.cli import Listing
from operad.dtypes import from_type_flag
from operad.errors import FormatError
from operad_mxnet.convert import files
from operad_mxnet.convert.changes import changes
from operad_mxnet.convert.report import Conversion, Tensor
from operad_mxnet.convert.upgrade import attributes, upgraded, with_hidden_attributes
from operad_mxnet.convert.usage import used_operators
from operad_mxnet.convert.weights import Weights, is_parameter, misfits, sorted_out


@click.command(cls=Listing, result=Conversion)
@click.argument("file")
@click.option(
    "--epoch", type=int, metavar="N", help="Which parameters of a checkpoint, where it has several."
)
@click.option(
    "-o", "--out", metavar="OUT", help="Write the files anew: a path, or a prefix where FILE is one."
)
def convert(file: str, epoch: int | None, out: str | None) -> Conversion:
    """Say what the model in FILE uses and who provides it; with -o, bring its files up to date.

    FILE is a symbol (model-symbol.json), parameters (model-0001.params), or the prefix of both (model), of
    any version of MXNet. What is written loads here and in MXNet 1.9.1. Exits with 1 where an operator is
    missing or parameters do not fit; nothing is written then.
    """
    found = files.find(file, epoch)
    return converted_arrays(found, out) if found.symbol is None else converted_model(found, out)


def converted_arrays(found: files.ModelFiles, out: str | None) -> Conversion:
    """What is to be said of parameters alone, which are written as they are.

    Raises:
        FormatError: The file is damaged.
    """
    assert found.params is not None
    arrays = nd.load(str(found.params))
    named = arrays if isinstance(arrays, Mapping) else {str(i): one for i, one in enumerate(arrays)}
    weights = sorted_out(named, [])
    written = []
    if out is not None:
        nd.save(out, arrays)
        written.append(out)
    return Conversion(
        files=[str(found.params)],
        mxnet_version=None,
        operators=[],
        inputs=[],
        outputs=[],
        parameters=_parameters(weights),
        install=None,
        changes=[],
        problems=[],
        written=written,
    )


def converted_model(found: files.ModelFiles, out: str | None) -> Conversion:
    """What is to be said of a symbol, with its parameters where there are any.

    Raises:
        FormatError: A file is damaged.
    """
    assert found.symbol is not None
    document = files.read_document(found.symbol)
    present = upgraded(document)
    operators = used_operators(present)
    is_usable = all(op.problem is None for op in operators)
    symbol = _loaded(present, found.symbol) if is_usable else None
    arrays = {} if found.params is None else nd.load(str(found.params))
    if not isinstance(arrays, Mapping):
        raise FormatError(f"{str(found.params)!r} holds a list of arrays, expected them by their names")
    weights = sorted_out(arrays, [] if symbol is None else symbol.list_auxiliary_states())
    problems = misfits(symbol, weights) if symbol is not None and found.params is not None else []
    variables = _without_value(document, symbol, {*weights.arguments, *weights.states})
    written: list[str] = []
    if out is not None and symbol is not None and not problems:
        symbol_path, params_path = found.written(out)
        symbol.save(symbol_path)
        written.append(symbol_path)
        if found.params is not None:
            nd.save(params_path, weights.named())
            written.append(params_path)
    return Conversion(
        files=[str(path) for path in (found.symbol, found.params) if path is not None],
        mxnet_version=files.version_of(document),
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
    except (ValueError, SyntaxError):
        return None
    is_shape = isinstance(axes, (tuple, list)) and all(type(axis) is int for axis in axes)
    return list(axes) if is_shape else None


def _parameters(weights: Weights) -> list[Tensor]:
    return [
        Tensor(name, list(one.shape), one.dtype.name, one.size * one.dtype.itemsize)
        for arrays in (weights.arguments, weights.states)
        for name, one in arrays.items()
    ]
