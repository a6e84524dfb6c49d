"""Two operators that are made of others, for tests of graphs and of imperative calls."""

from __future__ import annotations

import numpy as np

from operad import registry
from operad.op import Expansion, Operator, OperatorProperty, Part, assign, unify_shapes

X, Y = np.array([0.5, -1.0], "float32"), np.array([2.0, 0.25], "float32")
FIRST, SECOND = X * np.tanh(Y), X * X


class Whole(Operator):
    def forward(self, op_ctx, in_data, req, out_data, aux_states):
        lhs, rhs = in_data
        for target, request, value in zip(out_data, req, (lhs * np.tanh(rhs), lhs * lhs), strict=True):
            assign(target, request, value)


class Pair(OperatorProperty):
    """`lhs * tanh(rhs)` and the square of `lhs`."""

    name = "expand_pair"

    def list_arguments(self):
        return ["lhs", "rhs"]

    def list_outputs(self):
        return ["product", "square"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, "expand_pair: rhs")
        return [shape, shape], [shape, shape], []

    def expansion(self):
        tanh, mul, square = (registry.get(name)() for name in ("tanh", "elemwise_mul", "square"))
        return Expansion(
            (
                Part("t", tanh, ((-1, 1),), {}),
                Part("m", mul, ((-1, 0), (0, 0)), {}),
                Part("s", square, ((-1, 0),), {}),
            ),
            ((1, 0), (2, 0)),
        )

    def create_operator(self, ctx, in_shapes, in_types):
        return Whole()


class One(Pair):
    """The product alone."""

    name = "expand_one"

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shapes):
        ins, outs, aux = super().infer_shape(in_shapes)
        return ins, outs[:1], aux

    def expansion(self):
        parts, outputs = super().expansion()
        return Expansion(parts[:2], outputs[:1])
