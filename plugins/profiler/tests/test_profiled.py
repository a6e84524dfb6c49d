"""What is shown of a node."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.simple import OGRAD, Gradient, simple
from operad import Symbol, nd, profiler, sym
from operad.graph import Entry, Graph, OpNode
from operad.ndarray import NDArray
from operad.op import Cost
from operad_profiler.profiled import ProfiledNode, profiled_nodes

pytestmark = pytest.mark.usefixtures("operators")


def applied(op: object, variable: str = "x", name: str = "node") -> Symbol:
    """An operator of a test's own on a variable."""
    node = OpNode(op, name, [sym.var(variable).entries[0]])  # type: ignore[arg-type]
    return Symbol(Graph([Entry(node)]).outputs)


class TestNodes:
    def nodes(self, symbol: Symbol, heads: NDArray | None = None, **shapes: object) -> list[ProfiledNode]:
        found: list[ProfiledNode] = []
        profiler.observe(
            lambda *_: None, lambda program, node_ids, _: found.extend(profiled_nodes(program, node_ids))
        )
        try:
            executor = symbol.simple_bind(**shapes)
            executor.forward(is_train=True)
            if heads is not None:
                executor.backward(heads)
            nd.waitall()
        finally:
            profiler.observe(None)
        return found

    def test_name_their_kernels(self) -> None:
        assert {node.kernel for node in self.nodes(sym.tanh(sym.var("x")), x=(3,))} == {
            sym.tanh(sym.var("x")).entries[0].node.op.kernels[0].name
        }

    def test_bytes_count_each_array_read_and_written_once(self) -> None:
        x = sym.var("x")
        found = self.nodes(sym.elemwise_add(sym.square(x), x), x=(5, 6))
        assert [node.size_bytes for node in found] == [2 * 120, 3 * 120]

    def test_bytes_are_unknown_where_the_cost_says_that_parts_are_used(self) -> None:
        op = simple("picks_some", ["data"], np.negative, takes_out=True, cost=0.9)
        (found,) = self.nodes(applied(op()), x=(5,), grad_req="null")
        assert found.size_bytes is None

    @pytest.mark.parametrize(
        ("grad_req", "flops"),
        [
            ("write", [36, 72]),
            ({"lhs": "write", "rhs": "null"}, [36, 36]),
            ({"lhs": "null", "rhs": "add"}, [36, 36]),
            ("null", [36]),
        ],
    )
    def test_flops_of_products_are_their_cost_and_that_of_each_gradient(
        self, grad_req: object, flops: list[float]
    ) -> None:
        gradients = [Gradient(lambda g, x: g * x, [OGRAD, other]) for other in ("rhs", "lhs")]
        op = simple("times", ["lhs", "rhs"], np.multiply, gradients, takes_out=True)
        op.multiplies = ("lhs", "rhs")
        op.cost = lambda self, in_shapes, out_shapes: Cost(loops=5.0, flops=36.0)
        node = OpNode(op(), "node", [sym.var(name).entries[0] for name in ("lhs", "rhs")])
        heads = None if grad_req == "null" else nd.ones((2, 3))
        found = self.nodes(Symbol(Graph([Entry(node)]).outputs), heads, lhs=(2, 3), grad_req=grad_req)
        assert [node.flops for node in found] == flops

    def test_flops_of_other_operators_and_of_integers_are_unknown(self) -> None:
        op = simple("adds", ["data"], np.square, cost=2.0)
        assert [node.flops for node in self.nodes(applied(op()), x=(2,), grad_req="null")] == [None]
        op.multiplies = ("data",)
        symbol = applied(op())
        found = self.nodes(symbol, x=(2,), grad_req="null", type_dict={"x": np.int32})
        assert [node.flops for node in found] == [None]

    def test_have_the_names_of_their_own_network(self) -> None:
        """What the first network of a structure is called, another is not."""
        for name in ("one", "other"):
            symbol = sym.tanh(sym.square(sym.var("x"), name=f"{name}1"), name=f"{name}2")
            found = self.nodes(symbol, nd.ones((3,)), x=(3,))
            assert {node.name for node in found} == {f"{name}1", f"{name}2"}
