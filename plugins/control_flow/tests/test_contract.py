"""The contract checks on a loop, a loop with a condition, and a branch, each with a graph of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.operator import OperatorProperty, ParamSet
from operad_check import Profile, check_operator
from operad_sdk import Contract, positive

x, s, w = (od.sym.var(name) for name in "xsw")

MADE_BY_A_PROGRAM = "the class stands for one node, whose graph a program made"
EXPECTED = {
    "S104": MADE_BY_A_PROGRAM,
    "S107": MADE_BY_A_PROGRAM,
    "S108": MADE_BY_A_PROGRAM,
    "M402": "backward reads the arguments where it computes steps once more, and else not",
    "F206": "the operator inside that finds a shape wrong names its own arguments",
}


def as_operator(name: str, symbol: od.Symbol, contract: Contract) -> type[OperatorProperty]:
    """The operator of a symbol, with its graph, as a class without parameters."""
    op = symbol.entries[0].node.op  # type: ignore[union-attr]

    def __init__(self: OperatorProperty) -> None:  # noqa: N807 - it becomes that method
        vars(self).update(vars(op))

    members = {"name": name, "contract": contract, "kernels": [*op.kernels], "__init__": __init__}
    cls = type(name, (type(op),), members)
    cls.params = ParamSet({})
    return cls


def foreach() -> type[OperatorProperty]:
    def body(row: Any, state: Any) -> Any:
        h = row * w + state
        return h, h - row

    def reference(data0: Any, data1: Any, data2: Any) -> Any:
        outs, state = [], data1
        for row in data0:
            outs.append(row * data2 + state)
            state = outs[-1] - row
        return np.stack(outs), state

    def shapes(prop: Any, choose: Any) -> Any:
        rows, width = choose([1, 2, 3, 5]), choose([1, 2, 4, 70])
        return [(rows, width), (width,), (width,)]

    contract = Contract(reference=reference, shapes=shapes, expected_failures=EXPECTED)
    return as_operator("looped_sum", od.sym.contrib.foreach(body, x, s)[0], contract)


def while_loop() -> type[OperatorProperty]:
    # The condition counts alone: it is no function of what has gradients, so there are no jumps.
    outs, _ = od.sym.contrib.while_loop(
        lambda i, x: od.sym.sum(od.sym.zeros_like(i)) < 1,
        lambda i, x: (x * w, [i + 1, x * w + i]),
        [s, x],
        max_iterations=3,
    )

    def reference(data0: Any, data1: Any, data2: Any) -> Any:
        count, value, rows = data0, data1, []
        for _ in range(3):
            rows.append(value * data2)
            count, value = count + 1, value * data2 + count
        return np.stack(rows), count, value

    def shapes(prop: Any, choose: Any) -> Any:
        return [(choose([1, 2, 4, 70]),)] * 3

    contract = Contract(reference=reference, shapes=shapes, expected_failures=EXPECTED)
    return as_operator("counted_product", outs, contract)


def cond() -> type[OperatorProperty]:
    made = od.sym.contrib.cond(od.sym.identity(s), lambda: x * w, lambda: x - w)

    def reference(data0: Any, data1: Any, data2: Any) -> Any:
        return data1 * data2

    def shapes(prop: Any, choose: Any) -> Any:
        shape = (choose([1, 2, 4, 70]), choose([1, 3]))
        return [(1,), shape, shape]

    inputs = {"data0": positive()}
    contract = Contract(inputs=inputs, reference=reference, shapes=shapes, expected_failures=EXPECTED)
    return as_operator("chosen_product", made, contract)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("make", [foreach, while_loop, cond])
def test_an_operator_over_a_graph_keeps_its_contract(make: Any) -> None:
    report = check_operator(make(), profile=Profile("smoke", examples=15, seconds=0.1, least=6))
    assert report.passed, str(report)
