"""The recorded calls as a graph: MXNet's `autograd.get_symbol`, below symbols.

Source: MXAutogradGetSymbol, src/c_api/c_api_ndarray.cc.
"""

from __future__ import annotations

from collections import Counter

from operad.errors import GradientError
from operad.graph import Entry, Graph, Node, OpNode, Variable
from operad.imperative import Array, Marked, Plan, TapeNode, tape_of


def recorded_graph(array: Array) -> Graph:
    """The operators that computed `array`; what no gradient flows to, or was marked, is a variable.

    Variables are called `var0`, `var1`, ... in the order in which they were used.

    Raises:
        GradientError: The array was not recorded, or a `Function` computed a part of it.
    """
    if array._autograd is None:
        raise GradientError("get_symbol: the array was not recorded; compute it under autograd.record()")
    made: dict[TapeNode | Marked, Node] = {}
    numbers: Counter[str] = Counter()

    def named(kind: str) -> str:
        numbers[kind] += 1
        return f"{kind}{numbers[kind] - 1}"

    for node in tape_of([array._autograd]):
        if isinstance(node, Marked):
            made[node] = Variable(named("var"))
            continue
        if not isinstance(node.plan, Plan):
            raise GradientError("get_symbol: an autograd.Function computed a part of it, which has no symbol")
        prop = node.plan.declared
        positions = [*node.inputs, *[None] * len(node.aux)]
        inputs = [
            Entry(Variable(named("var"))) if position is None else Entry(made[position[0]], position[1])
            for position in positions
        ]
        made[node] = OpNode(prop, named(prop.name.lower()), inputs, prop.get_params())
    node, index = array._autograd
    return Graph([Entry(made[node], index)])
