"""Files of parameters, under names that follow the attributes of blocks, or the prefixes of old.

Source: save_parameters, load_parameters, python/mxnet/gluon/block.py.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import operad as od
from operad.files import parse_json, read_text, write_atomically
from operad_gluon.errors import BlockValueError, ParameterError
from operad_gluon.parameter import Parameter
from operad_gluon.parameter.parameter_dict import brief, take_values


class BlockFiles:
    """Files that a block writes and reads."""

    def _collect_params_with_prefix(self: Any, prefix: str = "") -> dict[str, Parameter]:
        """Parameters by the path of attributes that leads to them, as `features.0.weight`."""
        prefix = prefix + "." if prefix else ""
        found = {prefix + name: param for name, param in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Write all parameters to a file, for `load_parameters` of a block of the same structure.

        Args:
            filename: The file.
            deduplicate: Whether a parameter that several blocks share is written once.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            last = {param: name for name, param in params.items()}
            params = {name: param for param, name in last.items()}
        od.nd.save(filename, {name: param._mean() for name, param in params.items()})

    def load_parameters(
        self: Any,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read parameters from a file: of `save_parameters`, of `export`, or of `collect_params().save`.

        Args:
            filename: The file.
            ctx: Context or contexts of parameters that have no values yet.
            allow_missing: Whether the file may lack parameters.
            ignore_extra: Whether it may have more.
            cast_dtype: Whether values of another type are converted,
            dtype_source: and to whose type: the "current" one, or that of what was "saved".
        Raises:
            ParameterError: The file lacks a parameter, or has another shape or type of it.
            BlockValueError: It has a parameter that the block lacks.
        """
        loaded, params = od.nd.load(filename), self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not any("." in name for name in loaded):  # names by prefix
            self.collect_params().load(
                filename, ctx, allow_missing, ignore_extra, self.prefix, cast_dtype, dtype_source
            )
            return
        shared: dict[Parameter, list[str]] = {}
        for name, param in params.items():
            shared.setdefault(param, []).append(name)
        for name, param in params.items():
            if not allow_missing and not any(one in loaded for one in shared[param]):
                raise ParameterError(
                    f"Parameter '{name}' of {self.name!r} is missing in file '{filename}', which contains "
                    "parameters: "
                    f"{brief(loaded)}; is it a file of this network? Set allow_missing=True to leave it as "
                    "it is"
                )
        take_values(
            params, loaded, f"file '{filename}'", repr(self.name), ctx, ignore_extra, cast_dtype, dtype_source
        )

    def save(self: Any, prefix: str) -> None:
        """Write `prefix-model.json`, how the block is built, and `prefix-model.params`; for `load`.

        As in MXNet, a block that has a graph counts as hybridized.
        """
        described = {self.name: _described(self, [0])}
        write_atomically(f"{prefix}-model.json", json.dumps(described).encode())
        self.save_parameters(f"{prefix}-model.params")

    def load(self: Any, prefix: str) -> None:
        """Read what `save` wrote: parameters, and which blocks are hybridized.

        Raises:
            BlockValueError: The block was of another structure.
        """
        path = Path(f"{prefix}-model.json")
        (described,) = parse_json(read_text(path, "a block's description"), str(path)).values()
        _restore(self, described, str(path))
        self.load_parameters(f"{prefix}-model.params")

    def save_params(self: Any, filename: str) -> None:
        """Write all parameters under their names less the prefix; deprecated, use `save_parameters`."""
        warnings.warn("save_params is deprecated. Please use save_parameters.", stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(
        self, filename: str, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False
    ) -> None:
        """Read parameters; deprecated, use `load_parameters`."""
        warnings.warn("load_params is deprecated. Please use load_parameters.", stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)


_OWN = ("orig_name", "in_format", "out_format", "inputs", "symbol", "hybridized", "children")


def _described(block: Any, counted: list[int]) -> dict[str, Any]:
    """Description of a block that `save` writes; children follow under their classes, numbered."""
    found: dict[str, Any] = {"orig_name": block.name}
    graph = getattr(block, "_cached_graph", ())
    if graph:
        inputs, symbol = graph
        found |= {"in_format": block._in_format, "out_format": block._out_format}
        found |= {"inputs": [one.tojson() for one in inputs], "symbol": symbol.tojson()}
    if hasattr(block, "_active"):
        found["hybridized"] = bool(graph)
    found["children"] = {child.name: name for name, child in block._children.items()}
    for child in block._children.values():
        counted[0] += 1
        key = f"{type(child).__name__.lower()}{counted[0]}"
        found[key] = _described(child, counted)
    return found


def _restore(block: Any, described: Mapping[str, Any], path: str) -> None:
    """Hybridize a block and its children as they were."""
    children = [value for key, value in described.items() if key not in _OWN]
    if len(children) != len(block._children):
        raise BlockValueError(
            f"{path} describes a block of {len(children)} children, and {block.name!r} has "
            f"{len(block._children)}; "
            "load it into a block of the same class"
        )
    if described.get("hybridized") and hasattr(block, "_active"):
        block._active = True
    for child, one in zip(block._children.values(), children, strict=True):
        _restore(child, one, path)
