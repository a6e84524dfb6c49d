"""Blocks of a symbol, as of a file.

Source: SymbolBlock, python/mxnet/gluon/block.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, final

import numpy as np

import operad as od
from operad import Symbol
from operad_gluon.block.hybrid_block import HybridBlock
from operad_gluon.block.nested import flatten, regroup
from operad_gluon.errors import ParameterError
from operad_gluon.parameter import Parameter, ParameterDict


@final
class SymbolBlock(HybridBlock):
    """A symbol as a block; its arguments but the inputs are the parameters.

    >>> import operad as od
    >>> x = od.sym.var("x")
    >>> block = od.gluon.SymbolBlock(od.sym.FullyConnected(x, num_hidden=2, name="fc"), [x])
    >>> block.initialize()
    >>> block(od.nd.ones((1, 3))).shape
    (1, 2)

    Args:
        outputs: A symbol, or a nested list of some.
        inputs: The variables that are inputs.
        params: Parameters to share, by name.
    """

    def __init__(self, outputs: Any, inputs: Any, params: Any = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix, self._name = "", self._name
        self._params = ParameterDict("", _dictionary(params))
        given, self._in_format = flatten(inputs if isinstance(inputs, (list, tuple)) else [inputs], "input")
        found, self._out_format = flatten(outputs, "output")
        symbol = found[0] if len(found) == 1 else od.sym.Group(found)
        names = set()
        for one in given:
            if len(one.list_inputs()) != 1 or one.list_inputs() != [one.name]:
                raise ParameterError(
                    f"Input symbols must be variable, but {one!r} is an output of operators; name the "
                    "variables"
                )
            names.add(one.name)
        self._make_parameters(symbol, names)
        self._cached_graph = given, symbol
        length = _common_length(list(self._params))
        self._reg_params = {name[length:]: param for name, param in self._params.items()}

    def _make_parameters(self, symbol: Symbol, inputs: set[str]) -> None:
        states, types = symbol.list_auxiliary_states(), _types(symbol)
        for name in [*symbol.list_arguments(), *states]:
            if name not in inputs:
                request = {"grad_req": "null"} if name in states else {}
                self._params.get(name, allow_deferred_init=True, dtype=types.get(name, np.float32), **request)

    @staticmethod
    def imports(
        symbol_file: str,
        input_names: str | Sequence[str],
        param_file: str | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """Block of the files that `HybridBlock.export` writes.

        Args:
            symbol_file: The file of the symbol.
            input_names: Names of the inputs in it.
            param_file: The file of the parameters; without it they are to be initialized.
            ctx: Context or contexts of the parameters.
            allow_missing: Whether the file may lack parameters.
            ignore_extra: Whether it may have more.
        """
        symbol = od.sym.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        made = SymbolBlock(symbol, [od.sym.var(name) for name in names])
        if param_file is not None:
            made.collect_params().load(
                param_file, ctx, allow_missing, ignore_extra, cast_dtype=True, dtype_source="saved"
            )
        return made

    def __repr__(self) -> str:
        inputs, symbol = self._graph_of(())
        return f"{type(self).__name__}(\n{symbol!r} : {len(inputs)} -> {len(symbol.list_outputs())}\n)"

    def _clear_cached_op(self) -> None:
        self._cached_op = None  # the graph is what the block is

    def forward(self, x: Any, *args: Any) -> Any:
        """The outputs for arrays, compiled; or for symbols."""
        if not isinstance(x, Symbol):
            return self._call_cached_op(x, *args)
        inputs, symbol = self._graph_of(())
        leaves = flatten((x, *args), "input")[0]
        made = symbol(**{str(each.name): leaf for each, leaf in zip(inputs, leaves, strict=True)})
        return made if self._out_format == 0 else regroup(list(made), self._out_format)

    def cast(self, dtype: Any) -> None:
        """Convert parameters to another type."""
        super().cast(dtype)
        if np.dtype(dtype) == np.float16:  # as MXNet does for the statistics of normalization
            for name, param in self.params.items():
                if name.endswith(("gamma", "beta", "running_mean", "running_var")):
                    param.cast("float32")

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other contexts."""
        self.collect_params().reset_ctx(ctx)


def _dictionary(params: Mapping[str, Parameter] | ParameterDict | None) -> ParameterDict | None:
    if params is None or isinstance(params, ParameterDict):
        return params
    made = ParameterDict()
    made._params = dict(params)
    return made


def _types(symbol: Symbol) -> dict[str, Any]:
    """Types of the arguments and states, where the symbol alone tells them."""
    attributes = symbol.attr_dict()
    return {
        name: od.nd._DTYPE_MX_TO_NP[int(attributes[name]["__dtype__"])]
        for name in symbol.list_inputs()
        if "__dtype__" in attributes.get(name, {})
    }


def _common_length(names: Sequence[str]) -> int:
    """Length of the beginning that all names have."""
    alike = (len(set(letters)) == 1 for letters in zip(*names, strict=False))
    return sum(1 for _ in takewhile(bool, alike))
