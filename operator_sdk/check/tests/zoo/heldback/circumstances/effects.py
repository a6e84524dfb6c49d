"""Faults that are seen from outside the result: global state, memory that stays, inference, declarations."""

from __future__ import annotations

import threading

import numpy as np

from operad.operator import Operator, assign, unify_shapes
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import unary
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary("zoo_quiet_logarithm", accepts="floating")
def quiet_logarithm(x):
    """Logarithm of one more than the magnitude."""
    np.seterr(all="raise", under="ignore")
    return np.log1p(abs(x))


@quiet_logarithm.gradient
def _(output_grad, x):
    return output_grad * np.sign(x) / (1 + abs(x))


_ends = threading.Event()


@unary("zoo_leaves_thread", accepts="floating")
def leaves_thread(x):
    """The data, and a thread that watches over them."""
    threading.Thread(target=_ends.wait, daemon=True).start()
    return x + 0


@leaves_thread.gradient
def _(output_grad):
    return output_grad


class _Sum(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] + arrays.in_data[1])


class _SumProperty(CoreProperty):
    has_gradient = False

    def list_arguments(self):
        return ["lhs", "rhs"]

    def create_operator(self, ctx, in_shapes, in_types):
        return _Sum()


class ReplacesShape(_SumProperty):
    """A sum; the second shape is that of the first, whatever it was."""

    name = "zoo_replaces_shape"

    def infer_shape(self, in_shapes):
        return [in_shapes[0], in_shapes[0]], [in_shapes[0]], []


class ChangesList(_SumProperty):
    """A sum; shapes are completed where they stand."""

    name = "zoo_changes_list"

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, f"{self.name}: lhs and rhs: shape of axes")
        in_shapes[0] = in_shapes[1] = shape
        return in_shapes, [shape], []


ZOO = without_gradients(
    [
        Fault("X", quiet_logarithm, "NumPy's error state is changed for everybody"),
        Fault("X", leaves_thread, "a thread is left behind"),
        Fault("F", ReplacesShape, "a shape that is known is replaced"),
        Fault("F", ChangesList, "the list of shapes that inference is given is changed"),
    ]
)
