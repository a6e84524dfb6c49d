"""`mx.contrib.onnx` and `mx.onnx`: MXNet's functions over `export` and `load`.

Source: python/mxnet/contrib/onnx and python/mxnet/onnx. Differs: an input of an integer type keeps it;
options of MXNet's own converter are taken and mean nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import operad
from operad.boundary import boundary
from operad.errors import ArgumentError
from operad.symbol import Symbol
from operad_onnx.export import export
from operad_onnx.load import load
from operad_onnx.metadata import metadata
from operad_onnx.model_file import read_model

PathLike = str | os.PathLike[str]


@boundary
def export_model(
    sym: Any,
    params: Any,
    in_shapes: Sequence[Sequence[int]] | None = None,
    in_types: Any = np.float32,
    onnx_file_path: PathLike = "model.onnx",
    verbose: bool = False,
    dynamic: bool = False,
    dynamic_input_shapes: Sequence[Sequence[int | str | None]] | None = None,
    run_shape_inference: bool = False,
    input_type: Any = None,
    input_shape: Sequence[Sequence[int]] | None = None,
    large_model: bool = False,
) -> str:
    """Write a symbol and its parameters as an ONNX file; returns its path.

    Args:
        sym: The symbol, or the file of one.
        params: Arrays by name, a list of such (arguments, then states), or a file.
        in_shapes: Of each input, in the order of the symbol's arguments; labels may be left out.
        in_types: Of all inputs, or of each.
        dynamic: Whether lengths in `dynamic_input_shapes` differ from run to run; without that, the first.
        dynamic_input_shapes: Shapes with text or None for such lengths.
        large_model: Put the weights into a file beside it.
    Raises:
        ArgumentError: There are more shapes than inputs, or none.
    """
    symbol = sym if isinstance(sym, Symbol) else operad.sym.load(os.fspath(sym))
    arrays = _arrays(params)
    given: Any = in_shapes if in_shapes is not None else input_shape
    if dynamic:
        given = dynamic_input_shapes or [("batch", *shape[1:]) for shape in given or ()]
    names = [name for name in symbol.list_inputs() if name not in arrays]
    if not given or len(given) > len(names):
        raise ArgumentError(f"export_model: expected shapes of {', '.join(names)}, got {given!r}")
    shapes = dict(zip(names, given, strict=False))
    kinds = in_types if input_type is None else input_type
    each = kinds if isinstance(kinds, (list, tuple)) else [kinds] * len(names)
    types = dict(zip(shapes, each, strict=False))
    model_options: dict[str, Any] = {"external_above": 0} if large_model else {}
    export(symbol, arrays, shapes, onnx_file_path, types=types, **model_options)
    return os.fspath(onnx_file_path)


def _arrays(params: Any) -> dict[str, Any]:
    if isinstance(params, (str, os.PathLike)):
        params = operad.nd.load(os.fspath(params))
    each = params if isinstance(params, (list, tuple)) else [params]
    if not all(isinstance(one, Mapping) for one in each):
        raise ArgumentError("export_model: params has arrays without names, expected a file of named ones")
    arrays = {name: array for one in each for name, array in one.items()}
    return {name.removeprefix("arg:").removeprefix("aux:"): array for name, array in arrays.items()}


@boundary
def import_model(model_file: PathLike) -> tuple[Symbol, dict[str, Any], dict[str, Any]]:
    """The symbol, the arguments and the auxiliary states of an ONNX file."""
    model = load(model_file)
    return model.symbol, model.arg_params, model.aux_params


@boundary
def import_to_gluon(model_file: PathLike, ctx: Any = None) -> Any:
    """A block of Gluon that computes what an ONNX file says, with its weights on one context or several.

    Raises:
        OperadError: operad-gluon is not installed; the message says what to install.
    """
    symbol, args, states = import_model(model_file)
    given = {**args, **states}
    inputs = [operad.sym.var(name) for name in symbol.list_inputs() if name not in given]
    block = operad.gluon.SymbolBlock(symbol, inputs)
    place = operad.current_context() if ctx is None else ctx
    for name, parameter in block.collect_params().items():
        parameter._load_init(given[name], place)
    return block


@boundary
def get_model_metadata(model_file: PathLike) -> dict[str, list[tuple[str, tuple[int | str, ...]]]]:
    """Names and shapes of inputs (`input_tensor_data`) and outputs (`output_tensor_data`) of an ONNX file."""
    found = metadata(read_model(model_file))
    return {"input_tensor_data": found.inputs, "output_tensor_data": found.outputs}
