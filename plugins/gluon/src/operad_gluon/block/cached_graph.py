"""A block's graph as a compiled function of its inputs.

Parameters are captured: the program reads their arrays by reference, so that a call names its inputs alone.
Where a parameter gets other arrays, the function is compiled again. What is only predicted goes another way,
see `Predictor`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, final

import operad as od
from operad import Context, NDArray, Symbol
from operad.imperative import TRACING, local
from operad_gluon.block.predictor import Predictor
from operad_gluon.errors import BlockValueError
from operad_gluon.parameter import Parameter, ParameterDict
from operad_gluon.parameter.held_arrays import replacements


@final
class CachedGraph:
    """A symbol whose inputs are arguments, or parameters of a block.

    Args:
        title: Name of the block, for errors.
        inputs: Names of the arguments.
        symbol: The graph.
        params: The parameters.
    """

    def __init__(self, title: str, inputs: Sequence[str], symbol: Symbol, params: ParameterDict) -> None:
        names, used = {name: i for i, name in enumerate(inputs)}, symbol.list_inputs()
        for name in used:
            if name not in names and name not in params:
                raise BlockValueError(
                    f"block {title!r} computes with {name!r}, which is neither an input nor a parameter of "
                    "it; make "
                    "it one by self.params.get"
                )
        self._title, self._op = title, od.nd.CachedOp(symbol)
        self._symbol, self._inputs, self._params = symbol, inputs, params
        self._sources: list[int | Parameter] = [names[x] if x in names else params[x] for x in used]
        self._warn_of_unused(names, params, used)
        self._held: list[list[NDArray]] = []
        self._counted, self._is_shown = -1, False
        self._compiled: Any = None
        self._predictor: Predictor | None = None

    @staticmethod
    def _warn_of_unused(names: dict[str, int], params: ParameterDict, used: Sequence[str]) -> None:
        for name, number in names.items():
            if name not in used:
                what = "input" if len(names) == 1 else f"{number}-th input"
                warnings.warn(
                    f"The {what} to HybridBlock is not used by any computation. Is this intended?",
                    stacklevel=5,
                )
        for name in params:
            if name not in used:
                warnings.warn(
                    f"Parameter {name} is not used by any computation. Is this intended?", stacklevel=5
                )

    def __call__(self, arrays: Sequence[NDArray]) -> list[NDArray]:
        """The outputs, for an array for each argument."""
        if self._counted != replacements():
            self._take_parameters()
        if self._is_shown and local.state.mode < TRACING:
            return self._outputs(*arrays)
        # A mode of 0: neither recorded, nor training, nor traced as a part of another function.
        if not local.state.mode and (predicted := self._predict(arrays)) is not None:
            return predicted
        found: list[NDArray] = self._compiled(*arrays)
        return found

    def register_op_hook(self, callback: Any, monitor_all: bool) -> None:
        """Show values inside; see `HybridBlock.register_op_hook`."""
        self._op._register_op_hook(callback, monitor_all)
        self._is_shown = callback is not None

    def _take_parameters(self) -> None:
        """Compile again if a parameter that is read here has other arrays than before."""
        count = replacements()  # read first: what is replaced meanwhile is seen at the next call
        held = [one.list_data() for one in self._sources if not isinstance(one, int)]
        if self._compiled is None or any(a is not b for a, b in zip(held, self._held, strict=True)):
            self._held, self._compiled = held, od.compile(self._outputs)
            self._predictor = Predictor(self._symbol, self._inputs, self._value)
        self._counted = count

    def _value(self, name: str, ctx: Context) -> NDArray:
        return self._params[name].data(ctx)

    def _predict(self, arrays: Sequence[NDArray]) -> list[NDArray] | None:
        self._check_context(arrays)
        return None if self._predictor is None else self._predictor(arrays)

    def _check_context(self, arrays: Sequence[NDArray]) -> Context:
        """The context of all inputs.

        Raises:
            BlockValueError: There are several.
        """
        ctx = arrays[0].context
        for array in arrays:
            if array.context != ctx:
                found = list(dict.fromkeys(array.context for array in arrays))
                raise BlockValueError(
                    f"block {self._title!r} is hybridized and gets inputs of several contexts, {found}; "
                    "move them to "
                    "one by as_in_context"
                )
        return ctx

    def _outputs(self, *arrays: NDArray) -> list[NDArray]:
        ctx = self._check_context(arrays)
        outputs = self._op(*[arrays[x] if isinstance(x, int) else x.data(ctx) for x in self._sources])
        return outputs if isinstance(outputs, list) else [outputs]

    def why(self) -> str:
        """Report of what was traced and compiled, in lines."""
        return "" if self._compiled is None else str(self._compiled.why())
