"""Programs whose executors have arrays prepared of weights that another thread writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad import nd
from operad.executor import simple_bind
from operad.graph import Entry, Graph, OpNode, Variable
from operad_sdk import OperatorProperty, Prepared, operator
from tests.reliability.laboratory.programs.program import CTX, Parts, expect, program


@operator("laboratory_scaled")
class _Scaled(OperatorProperty):
    """Rows times weights, by a kernel that has the weights doubled beforehand."""

    spec = "data:(N, D), weight:(D) -> output:(N, D)"

    def forward(data: Any, weight: Any) -> Any:
        return data * weight


def _double(weight: Any, doubled: Any) -> None:
    np.multiply(weight, 2, out=doubled)


_RULE = Prepared(
    ("weight",),
    ("forward",),
    lambda call: (call.shape("weight"), call.dtype("weight")),
    lambda call: _double,
)


@_Scaled.kernel("forward", priority=2, prepares={"doubled": _RULE}, name="of_doubled")
def _by_doubled(data: Any, weight: Any, output: Any, doubled: Any) -> None:
    np.multiply(data, 2 * weight if doubled is None else doubled, out=output)
    output /= 2


def _two_threads(write: Callable[[Any], object]) -> Parts:
    """One thread writes the weight, another forwards; whatever the run saw, the next one sees the write."""
    node = OpNode(_Scaled(), "node", [Entry(Variable("x")), Entry(Variable("w"))])
    shapes = {"x": (1, 2), "w": (2,)}
    executor = simple_bind(Graph([Entry(node)]), CTX, shapes, {}, "null")
    executor.arg_dict["x"][:] = 1.0
    weight = executor.arg_dict["w"]
    weight[:] = 2.0

    def run() -> None:
        expect(executor.forward()[0].asnumpy().tolist(), [[2.0] * 2], [[3.0] * 2])

    def check() -> None:
        expect(executor.forward()[0].asnumpy().tolist(), [[3.0] * 2])
        weight[:] = 4.0
        expect(executor.forward()[0].asnumpy().tolist(), [[4.0] * 2])

    return [lambda: write(weight), run], check


def _assign(weight: Any) -> None:
    weight[:] = 3.0


@program("executor engine", is_fresh=True)
def weight_written_while_it_is_prepared() -> Parts:
    """A weight is assigned, in the calling thread where that may be."""
    return _two_threads(_assign)


@program("executor engine", is_fresh=True, inline_us=0)
def weight_pushed_while_it_is_prepared() -> Parts:
    """The same, where a worker writes."""
    return _two_threads(_assign)


@program("executor engine", is_fresh=True, inline_us=0)
def weight_updated_while_it_is_prepared() -> Parts:
    """The same, by an operator that has it as its output."""
    return _two_threads(lambda weight: nd.elemwise_add(nd.ones((2,)), nd.ones((2,)) * 2.0, out=weight))
