"""`nd.CachedOp`: a symbol as a function of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import operad as od
from operad import NDArray, Symbol
from operad.compiled import evaluate
from operad.errors import ArgumentError
from operad.graph import Variable
from operad.imperative import TRACING, find_invoker, local
from operad.operator import OperatorProperty


@final
class CachedOp:
    """A symbol, called with an array for each of its inputs: arguments and auxiliary states, in their order.

    It is compiled, as by `operad.compile`: a planned program for each kind of call, one node for `autograd`.

    >>> import operad as od
    >>> od.nd.CachedOp(od.sym.square(od.sym.var("x") + 1))(od.nd.array([1, 2])).asnumpy()
    array([4., 9.], dtype=float32)

    Args:
        sym: The symbol.
        flags: Pairs of MXNet's settings, which mean nothing here: memory is planned and shapes are fixed for
            each kind of call.

    Source: CachedOp, python/mxnet/_ctypes/ndarray.py.
    """

    def __init__(self, sym: Symbol, flags: Iterable[tuple[str, Any]] = ()) -> None:
        self._graph, self._sym = sym.graph, sym
        self._nodes = [node for node in self._graph.nodes if isinstance(node, Variable)]
        self._inputs = sym.list_inputs()
        self._hook: tuple[Any, bool] | None = None
        self._compiled = od.compile(self._outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._sym,)  # what was compiled is made again

    def __call__(self, *args: NDArray, out: Any = None, **_: Any) -> Any:
        """The output, or a list of several.

        Args:
            args: An array for each input.
            out: An array, or a list of them, that the outputs are copied into.
        Raises:
            ArgumentError: There are more arrays than inputs, or fewer.
        """
        if len(args) != len(self._inputs):
            raise ArgumentError(
                f"CachedOp: got {len(args)} arrays, expected {len(self._inputs)}: {', '.join(self._inputs)}"
            )
        is_seen = self._hook and local.state.mode < TRACING
        outputs = self._outputs(*args, hook=self._hook) if is_seen else self._compiled(*args)
        if out is not None:
            targets = out if isinstance(out, list) else [out]
            outputs = [one.copyto(to) for one, to in zip(outputs, targets, strict=True)]
        return outputs[0] if len(outputs) == 1 else outputs

    def _register_op_hook(self, callback: Any, monitor_all: bool = False) -> None:
        """Call `callback(name, operator, array)` for each result inside; see `CompiledFunction`."""
        self._hook = None if callback is None else (callback, monitor_all)

    def _outputs(self, *args: NDArray, hook: Any = None) -> list[NDArray]:
        """The graph as a function of arrays, to be traced."""
        return evaluate(self._graph, dict(zip(self._nodes, args, strict=True)), hook, self._completed(args))

    def _completed(self, args: Iterable[NDArray]) -> dict[str, OperatorProperty]:
        """Operators that make arrays of shapes with axes of length 0, with the lengths that others tell."""
        partial = [
            x for x in self._graph.op_nodes if not x.inputs and 0 in (getattr(x.op, "shape", None) or ())
        ]
        if not partial:
            return {}
        internals = self._sym.get_internals()
        given = {name: array.shape for name, array in zip(self._inputs, args, strict=True)}
        shapes = dict(zip(internals.list_outputs(), internals.infer_shape_partial(**given)[1], strict=True))
        return {
            x.name: find_invoker(type(x.op), {**x.op.get_params(), "shape": shapes[f"{x.name}_output"]})[
                0
            ].prop
            for x in partial
        }
