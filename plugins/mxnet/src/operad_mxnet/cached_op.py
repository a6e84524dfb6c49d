"""`nd.CachedOp`: a symbol as a function of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

from operad import NDArray, Symbol, nd
from operad.errors import ArgumentError
from operad.graph import OpNode


@final
class CachedOp:
    """A symbol, called with an array for each of its inputs: arguments and auxiliary states, in their order.

    Its operators run one after another, as if each was called, so that `autograd` records them.

    >>> import operad as od
    >>> od.nd.CachedOp(od.sym.square(od.sym.var("x") + 1))(od.nd.array([1, 2])).asnumpy()
    array([4., 9.], dtype=float32)

    Args:
        sym: The symbol.
        flags: Pairs of MXNet's settings, which mean nothing here.

    Source: CachedOp, python/mxnet/_ctypes/ndarray.py. Differs: nothing is planned for the graph as a whole;
    what `Symbol.bind` makes is.
    """

    def __init__(self, sym: Symbol, flags: Iterable[tuple[str, Any]] = ()) -> None:
        self._graph = sym.graph
        self._inputs = sym.list_inputs()

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
        given, values = iter(args), dict[Any, Any]()
        for node in self._graph.nodes:
            if not isinstance(node, OpNode):
                values[node] = [next(given)]
                continue
            inputs = [values[entry.node][entry.index] for entry in node.inputs]
            found = getattr(nd, node.op.name)(*inputs, **node.op.get_params())
            values[node] = found if isinstance(found, list) else [found]
        outputs = [values[entry.node][entry.index] for entry in self._graph.outputs]
        if out is not None:
            targets = out if isinstance(out, list) else [out]
            outputs = [one.copyto(to) for one, to in zip(outputs, targets, strict=True)]
        return outputs[0] if len(outputs) == 1 else outputs
