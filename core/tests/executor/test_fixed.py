"""Arguments whose numbers their operators fix."""

from __future__ import annotations

from typing import ClassVar

from core.tests.prepared_arrays import PlainOperator
from operad import nd
from operad.executor.fixed import FixedArguments
from operad.graph.ir import Entry, Graph
from operad.op.kernel import Kernel
from operad.op.params import param
from operad.op.property import OperatorProperty
from operad.symbol.compose import apply


class Offset(OperatorProperty):
    """`data + shift`, where the shift is 2 unless it is free."""

    name = "offset"
    is_free = param(bool, False)
    kernels: ClassVar = [Kernel("offset.array", PlainOperator)]

    def list_arguments(self):
        return ["data", "weight"]

    def infer_shape(self, in_shapes):
        return [in_shapes[0]] * 2, [in_shapes[0]], []

    def fixed_arguments(self):
        return {} if self.is_free else {"weight": 2.0}


def graph_of(**params):
    return Graph([Entry(apply(Offset(**params), {}, "offset"))])


def arrays():
    return {name: nd.array([1.0, 1.0]) for name in ("offset_data", "offset_weight")}


def test_a_fixed_argument_has_its_number_from_the_first_run_on():
    given = arrays()
    FixedArguments(graph_of(), given).write()
    assert given["offset_weight"].asnumpy().tolist() == [2, 2]
    assert given["offset_data"].asnumpy().tolist() == [1, 1]


def test_it_is_written_again_only_where_something_else_was_written():
    given = arrays()
    fixed = FixedArguments(graph_of(), given)
    fixed.write()
    version = given["offset_weight"]._chunk.var.version
    fixed.write()
    assert given["offset_weight"]._chunk.var.version == version
    given["offset_weight"][:] = 9
    fixed.write()
    assert given["offset_weight"].asnumpy().tolist() == [2, 2]


def test_an_argument_that_the_parameters_leave_free_is_not_written():
    given = arrays()
    FixedArguments(graph_of(is_free=True), given).write()
    assert given["offset_weight"].asnumpy().tolist() == [1, 1]


def test_what_an_operator_computes_is_no_argument_and_stays():
    inner = apply(Offset(is_free=True), {}, "inner")
    node = apply(Offset(), {"weight": Entry(inner)}, "outer")
    given = {name: nd.array([1.0]) for name in ("inner_data", "inner_weight", "outer_data")}
    FixedArguments(Graph([Entry(node)]), given).write()
    assert {name: float(array.asnumpy()[0]) for name, array in given.items()} == dict.fromkeys(given, 1.0)
