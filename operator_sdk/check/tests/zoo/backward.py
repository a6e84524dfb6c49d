"""Faults of backward passes: requests, buffers, and what they keep or change."""

from __future__ import annotations

import numpy as np

from operad.operator import Operator, OpReq, assign, unify_shapes
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import binary, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault
from operator_sdk.check.tests.zoo.forwards import RowsPlusBias
from operator_sdk.check.tests.zoo.long_form import MaskKeptProperty


class LongProduct(CoreProperty):
    """A product in the long form, for faults that no shorter one can have."""

    operator_class: type[Operator]

    def list_arguments(self):
        """Two factors."""
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes):
        """All alike."""
        shape = unify_shapes(*in_shapes, f"{self.name}: lhs (axes as those of rhs)")
        return [shape, shape], [shape], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """No output."""
        return [*out_grad, *in_data]

    def create_operator(self, ctx, in_shapes, in_types):
        """That of the class."""
        return self.operator_class()


class _Product(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[1])


class _IgnoresAdd(_Product):
    def backward(self, op_ctx, arrays):
        for i in (0, 1):
            if arrays.req[i] is not OpReq.NULL:
                arrays.in_grad[i][...] = arrays.out_grad[0] * arrays.in_data[1 - i]


class IgnoresAdd(LongProduct):
    """A product whose gradients are written whatever is asked for."""

    name = "zoo_ignores_add"
    operator_class = _IgnoresAdd


class _AddsTwice(_Product):
    def backward(self, op_ctx, arrays):
        for i in (0, 1):
            if arrays.req[i] is OpReq.ADD and arrays.in_grad[i].dtype == np.float16:
                wide = arrays.in_grad[i].astype(np.float32)
                wide += arrays.out_grad[0] * arrays.in_data[1 - i]
                arrays.in_grad[i] += wide
            else:
                assign(arrays.in_grad[i], arrays.req[i], arrays.out_grad[0] * arrays.in_data[1 - i])


class AddsTwice(LongProduct):
    """A product that adds in a wider copy in half precision, and then adds the copy."""

    name = "zoo_adds_twice"
    operator_class = _AddsTwice


class _FirstRequest(_Product):
    def backward(self, op_ctx, arrays):
        for i in (0, 1):
            if arrays.in_grad[i] is not None:
                assign(
                    arrays.in_grad[i],
                    arrays.req[0] or arrays.req[1],
                    arrays.out_grad[0] * arrays.in_data[1 - i],
                )


class FirstRequest(LongProduct):
    """A product that takes the first gradient's request for that of both."""

    name = "zoo_first_request"
    operator_class = _FirstRequest


class _BothOrNone(_Product):
    def backward(self, op_ctx, arrays):
        if arrays.req[0] is OpReq.NULL:
            return
        for i in (0, 1):
            assign(arrays.in_grad[i], arrays.req[i], arrays.out_grad[0] * arrays.in_data[1 - i])


class BothOrNone(LongProduct):
    """A product that takes the second gradient to be wanted where the first is."""

    name = "zoo_both_or_none"
    operator_class = _BothOrNone


class _Replaces(_Product):
    def backward(self, op_ctx, arrays):
        for i in (0, 1):
            if arrays.req[i] is OpReq.ADD:
                arrays.in_grad[i] += arrays.out_grad[0] * arrays.in_data[1 - i]
            elif arrays.req[i] is not OpReq.NULL:
                arrays.in_grad[i] = arrays.out_grad[0] * arrays.in_data[1 - i]


class Replaces(LongProduct):
    """A product that puts its gradients into the list, and not into the arrays."""

    name = "zoo_replaces"
    operator_class = _Replaces


@unary("zoo_total", "data:(...) -> output:(1)", accepts="floating")
def total(x):
    """The sum of all sines."""
    return np.sin(x).sum().reshape(1)


@total.gradient
def _(output_grad, x):
    return output_grad * np.cos(x).reshape(-1)


@operator("zoo_bias")
class Bias(RowsPlusBias, Floating):
    """A bias added to rows."""

    def backward(output_grad):
        """The first axis is taken for one of length 1."""
        return output_grad, output_grad


@operator("zoo_first_row")
class FirstRow(Floating):
    """Distance of each row from the first."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """The difference."""
        return data - data[:1]

    def data_grad(output_grad, data_grad):
        """There may be no row."""
        data_grad[...] = output_grad
        data_grad[0] = -output_grad[1:].sum(0)


@operator("zoo_take_first")
class TakeFirst(Floating):
    """The first of the columns."""

    spec = "data:(N, D) -> output:(N, 1)"

    def forward(data):
        """The column."""
        return data[:, :1] if data.shape[1] else 0

    def data_grad(output_grad, data_grad):
        """The others are left as they are."""
        data_grad[:, :1] = output_grad


@unary("zoo_pairs", accepts="floating")
def pairs(x, output):
    """Twice every element."""
    np.multiply(x, 2, out=output)


@pairs.gradient
def _(output_grad, x_grad):
    # two at a time; the last of an odd number is left
    flat, head = x_grad.reshape(-1), output_grad.reshape(-1)
    even = head.size // 2 * 2
    flat[:even] = 2 * head[:even]


@operator("zoo_scales_head")
class ScalesHead(Floating):
    """A product whose gradient is computed in the head gradient's memory."""

    spec = "data:(*S), scale:(*S) -> output:(*S)"

    def forward(data, scale):
        """The product."""
        return data * scale

    def scale_grad(output_grad, data):
        """Right."""
        return output_grad * data

    def data_grad(output_grad, scale):
        """Multiplies what it was given to read."""
        np.multiply(output_grad, scale, out=output_grad)
        return output_grad


@unary("zoo_tanh", accepts="floating")
def tanh(x):
    """Hyperbolic tangent of every element."""
    return np.tanh(x)


@tanh.gradient
def _(output_grad, output):
    output *= -output
    output += 1
    return output_grad * output


class KeepsMask(MaskKeptProperty):
    """A rectifier that keeps its mask in self, and does not say that it is stateful."""

    name = "zoo_keeps_mask"


_noise = np.random.default_rng(0)


@binary("zoo_noisy", accepts="floating")
def noisy(lhs, rhs):
    """The sum."""
    return lhs + rhs


@noisy.gradient("lhs")
def _(output_grad):
    return output_grad


@noisy.gradient("rhs")
def _(output_grad):
    # in the last bits of double precision, where only a comparison bit for bit sees it
    return output_grad * (1 + 4e-15 * _noise.random(output_grad.shape))


ZOO = [
    Fault("B305", IgnoresAdd, "gradients are written where they are to be added"),
    Fault("B305", AddsTwice, "what is there is added twice in half precision"),
    Fault("B305", FirstRequest, "one request is taken for all"),
    Fault("B305", BothOrNone, "nothing is computed where the first gradient is not wanted"),
    Fault("B306 B301 B302 B305 B307 M404 M405 M407 R503 D603", Replaces, "arrays in the list are replaced"),
    Fault("B306 F210 X801", total, "the gradient has another shape"),
    Fault("B306 B305 F210 X801", Bias, "the gradient of a bias has the shape of the data"),
    Fault("F210 D610", FirstRow, "backward raises for no rows"),
    Fault("B307 M405 M407 R503", TakeFirst, "elements without a gradient are not set to zero"),
    Fault("B307 B301 B302 B305 F211 M405 M407 R503", pairs, "the last element is left out"),
    Fault("B309 R503 D606", ScalesHead, "the head gradient is overwritten"),
    Fault("B309 R503", tanh, "the output is overwritten"),
    Fault("B310 R501 R502 R503", KeepsMask, "what backward needs is kept in self"),
    Fault("B310 M401 M405 M407 R501 R502 R503", noisy, "backward draws random numbers of its own"),
]
