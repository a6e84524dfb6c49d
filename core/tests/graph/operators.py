"""Operators for the graph's tests: enough to make networks of every form, on plain arrays."""

from __future__ import annotations

import numpy as np

from core.tests import operators
from core.tests.operators import SineCosine
from core.tests.simple import OGRAD, OUT, Gradient, simple
from operad import operator
from operad.device import cpu
from operad.errors import ShapeError
from operad.graph import Entry, Graph, OpNode, Variable
from operad.op import Kernel, OpContext, Operator, OperatorProperty, OpReq, assign, is_known, param

Tanh = simple(
    "tanh", ["x"], np.tanh, [Gradient(lambda g, y: g * (1 - y * y), [OGRAD, OUT], inplace=[OGRAD])],
    takes_out=True, inplace=["x"],
)  # fmt: skip
Square = simple(
    "square", ["x"], np.square, [Gradient(lambda g, x: 2 * g * x, [OGRAD, "x"], inplace=[OGRAD])],
    takes_out=True, inplace=["x"],
)  # fmt: skip
AddConst = simple(
    "add_const", ["x"], lambda x, scalar: x + scalar,
    [Gradient(lambda g, scalar: g, [OGRAD], inplace=[OGRAD])],
    inplace=["x"], params={"scalar": param(float, 1.0)},
)  # fmt: skip
Add = simple(
    "add", ["lhs", "rhs"], np.add, [Gradient(lambda g: g, [OGRAD], inplace=[OGRAD])] * 2,
    takes_out=True, inplace=["lhs", "rhs"],
)  # fmt: skip
Mul = simple(
    "mul", ["lhs", "rhs"], np.multiply,
    [Gradient(lambda g, rhs: g * rhs, [OGRAD, "rhs"], inplace=[OGRAD]),
     Gradient(lambda g, lhs: g * lhs, [OGRAD, "lhs"])],
    takes_out=True, inplace=["lhs", "rhs"],
)  # fmt: skip
Sign = simple("sign", ["x"], np.sign, takes_out=True, inplace=["x"])
Stop = simple("stop", ["x"], lambda x: x.copy(), inplace=["x"])


class Dense(OperatorProperty):
    """`x (n, k)` times `w (h, k)` transposed."""

    name = "dense"
    hidden = param(int, ge=1)

    def list_arguments(self):
        return ["x", "w"]

    def infer_shape(self, in_shapes):
        x, w = in_shapes
        rows = columns = None
        if x is not None:
            if len(x) != 2:
                raise ShapeError(f"dense: x has {len(x)} axes, expected 2")
            rows, columns = x
        if columns is None and w is not None:
            columns = w[1]
        return [(rows, columns), (self.hidden, columns)], [(rows, self.hidden)], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        rows = out_shapes[0][0] if out_shapes[0] else None
        x = in_shapes[0] or (None, None)
        return [(x[0] if x[0] is not None else rows, x[1]), in_shapes[1]]

    def backward_dependency(self, wanted):
        reads = self.declare_backward_dependency(*_tokens(self))
        return [read for read in reads if read.kind == "out_grad" or wanted[1 - read.index]]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[0], in_data[1]]


class DenseOperator(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] @ arrays.in_data[1].T)

    def backward(self, op_ctx, arrays):
        if arrays.req[0] is not OpReq.NULL:
            assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] @ arrays.in_data[1])
        if arrays.req[1] is not OpReq.NULL:
            assign(arrays.in_grad[1], arrays.req[1], arrays.out_grad[0].T @ arrays.in_data[0])


class Split(SineCosine):
    """The sine and the cosine of x, and x itself as a hidden third output."""

    name = "split"

    def list_outputs(self):
        return ["sin", "cos", "hidden"]


class SquareLoss(operators.SquareLoss):
    """Outputs x; its gradient is x - label, whatever the head gradient."""

    name = "square_loss"

    def list_arguments(self):
        return ["x", "label"]


class Centre(OperatorProperty):
    """x less a moving mean, which training updates."""

    name = "centre"
    list_auxiliary_states = operators.Centre.list_auxiliary_states
    infer_shape = operators.Centre.infer_shape
    declare_backward_dependency = operators.Centre.declare_backward_dependency


class CentreOperator(DenseOperator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] - arrays.aux_states[0])

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0])


for _prop, _operator in ((Dense, DenseOperator), (Split, operators.SineCosineOperator),
                         (SquareLoss, operators.SquareLossOperator), (Centre, CentreOperator)):  # fmt: skip
    _prop.kernels = [Kernel(_prop.name, _operator)]

_ALL = (Tanh, Square, AddConst, Add, Mul, Sign, Stop, Dense, Split, SquareLoss, Centre)
OPERATORS = {prop.name: prop for prop in _ALL}


def _tokens(prop):
    from operad.op import BackwardEntry

    return tuple(
        [BackwardEntry(kind, i) for i in range(count)]
        for kind, count in (("out_grad", prop.num_visible_outputs), ("in_data", len(prop.list_arguments())),
                            ("out_data", len(prop.list_outputs())))
    )  # fmt: skip


def var(name, **attrs):
    return Entry(Variable(name, attrs=attrs))


def apply(prop, name, *inputs, attrs=None, **params):
    """The first output of a new node."""
    op = prop(**params)
    said = {key: op.get_params()[key] for key in params}
    return Entry(OpNode(op, name, inputs, {**said, **(attrs or {})}))


def ones_like_heads(outputs):
    return [var(f"head{i}") for i in range(len(outputs))]


def node_call(node: OpNode, shapes, types):
    """`call(read, write, request)` runs one node, given functions from entries to arrays."""
    ins = [shapes.of(entry) for entry in node.args]
    assert all(map(is_known, ins))
    made = node.op.create_operator(cpu(), ins, [types.of(entry) for entry in node.args])
    op_ctx = OpContext(cpu(), is_train=True)

    def call(read, write, request):
        outs = [Entry(node, i) for i in range(node.num_outputs)]
        req = [request(entry) for entry in outs]
        targets = [None if r is OpReq.NULL else write(entry) for entry, r in zip(outs, req, strict=True)]
        ins = [read(entry) for entry in node.args[: node.num_read]] + [None] * node.op.num_unread
        made.forward(op_ctx, operator.ForwardArrays(ins, req, targets, [read(entry) for entry in node.aux]))

    return call


def gradient_nodes(graph):
    """The nodes that compute gradients."""
    return [node for node in graph.op_nodes if isinstance(node.op, operator.Gradient)]


def evaluate(graph: Graph, shapes, types, values):
    """Every entry's value, each in an array of its own: what a plan must reproduce."""
    arrays = {Entry(node): values[node.name] for node in graph.nodes if isinstance(node, Variable)}

    def write(entry):
        for index, total in getattr(entry.node, "sums", ()):
            if index == entry.index:
                arrays[entry] = arrays[total].copy()
        return arrays.setdefault(entry, np.full(shapes.of(entry), np.nan, types.of(entry)))

    def request(entry):
        return OpReq.ADD if entry.index in entry.node.adds_to else OpReq.WRITE

    for node in graph.nodes:
        if not isinstance(node, Variable):
            node_call(node, shapes, types)(arrays.__getitem__, write, request)
    return arrays
