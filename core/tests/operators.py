"""Operators that the core's tests install for themselves, so that they need no plugin.

Each has the name under which the core looks it up, or one of its own where any will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from core.tests.simple import OGRAD, OUT, Gradient, simple
from operad import registry
from operad.errors import ShapeError
from operad.op import Kernel, Operator, OperatorProperty, OpReq, assign, is_known, param, unify_shapes
from operad.resource import ResourceRequest


def _explode(x, limit):
    if (x > limit).any():
        raise ZeroDivisionError(f"a value above {limit:g}")
    return x.copy()


def _reverse(x, out):
    # One element at a time, so that an aliased output would be read after it was written.
    for i in range(x.shape[-1]):
        out[..., i] = x[..., -1 - i]


def _transposed_shape(shape, axes):
    return tuple(shape[axis] for axis in axes or range(len(shape))[::-1])


def _transposed_back(grad, axes):
    return grad.transpose(np.argsort(axes or range(grad.ndim)[::-1]))


def _equal(lhs, rhs, out):
    np.equal(lhs, rhs, out=out, casting="unsafe")


_THROUGH = Gradient(lambda g, *_: g, [OGRAD], inplace=[OGRAD])
_AXES = {"axes": param("shape", ())}
_LIMIT = {"limit": param(float, 0.0)}


def _unary(name, function, gradient=None, **options):
    return simple(name, ["data"], function, [gradient], **options)


def _binary(name, function, gradients=None):
    inplace = ["lhs", "rhs"]
    return simple(name, ["lhs", "rhs"], function, gradients, takes_out=True, inplace=inplace)


def _scalar(name, function, gradient=None):
    return _unary(name, function, gradient, inplace=["data"], params={"scalar": param(float, 1.0)})


SIMPLE = [
    _binary("elemwise_add", np.add, [_THROUGH, _THROUGH]),
    _binary("elemwise_sub", np.subtract, [_THROUGH, Gradient(np.negative, [OGRAD])]),
    _binary(
        "elemwise_mul",
        np.multiply,
        [Gradient(np.multiply, [OGRAD, "rhs"], inplace=[OGRAD]), Gradient(np.multiply, [OGRAD, "lhs"])],
    ),
    _binary("_maximum", np.maximum),
    _binary("_equal", _equal),
    _scalar("_plus_scalar", lambda x, scalar: x + scalar, _THROUGH),
    _scalar("_minus_scalar", lambda x, scalar: x - scalar, _THROUGH),
    _scalar("_rminus_scalar", lambda x, scalar: scalar - x, Gradient(lambda g, _: -g, [OGRAD])),
    _scalar("_mul_scalar", np.multiply, Gradient(np.multiply, [OGRAD], inplace=[OGRAD])),
    _scalar("_greater_scalar", np.greater),
    _unary(
        "tanh",
        np.tanh,
        Gradient(lambda g, y: g * (1 - y * y), [OGRAD, OUT], inplace=[OGRAD]),
        takes_out=True,
        inplace=["data"],
    ),
    _unary(
        "square",
        np.square,
        Gradient(lambda g, x: 2 * g * x, [OGRAD, "data"], inplace=[OGRAD]),
        takes_out=True,
        inplace=["data"],
    ),
    _unary("reverse_last", _reverse, Gradient(lambda g: g[..., ::-1], [OGRAD]), takes_out=True),
    _unary("sign", np.sign, takes_out=True, inplace=["data"]),
    _unary("BlockGrad", np.copy, inplace=["data"]),
    _unary("explode", _explode, Gradient(_explode, [OGRAD]), params=_LIMIT),
    _unary("passes_below", _explode, Gradient(lambda g, _: g, [OGRAD]), params=_LIMIT),
    _unary("explode_back", lambda x, _: x, Gradient(_explode, [OGRAD]), params={"limit": param(float, 0.0)}),
    _unary(
        "explode_scratch",
        lambda ctx, x, limit: _explode(x, limit),
        params=_LIMIT,
        inplace=["data"],
        resource=[ResourceRequest.TEMP_SPACE],
    ),
    _unary(
        "transpose",
        lambda x, axes: x.transpose(axes or None),
        Gradient(_transposed_back, [OGRAD]),
        params=_AXES,
        shape_function=_transposed_shape,
    ),
    _unary(
        "draw",
        lambda ctx, x: x + ctx.requested[0].generator.standard_normal(x.shape),
        Gradient(lambda g: g, [OGRAD]),
        resource=[ResourceRequest.RANDOM],
    ),
]


class Cast(OperatorProperty):
    """The data as another type."""

    dtype = param("dtype")

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []

    def infer_type(self, in_types):
        return list(in_types), [np.dtype(self.dtype)], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0]]


class CastOperator(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        self.prop = prop

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0].astype(arrays.out_data[0].dtype))

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0].astype(arrays.in_grad[0].dtype))


class Reshape(OperatorProperty):
    """The data in another shape, which is given in full."""

    shape = param("shape")

    def infer_shape(self, in_shapes):
        return list(in_shapes), [self.shape], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0]]


class ReshapeOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0].reshape(arrays.out_data[0].shape))

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0].reshape(arrays.in_grad[0].shape))


class Slice(OperatorProperty):
    """`data[begin:end:step]` on the leading axes."""

    name = "slice"
    begin = param("indices")
    end = param("indices")
    step = param("indices", ())

    def key(self):
        steps = self.step or (None,) * len(self.begin)
        return tuple(slice(*ends) for ends in zip(self.begin, self.end, steps, strict=True))

    def infer_shape(self, in_shapes):
        shape = in_shapes[0]
        out = np.broadcast_to(0, shape)[self.key()].shape if is_known(shape) else None
        return list(in_shapes), [out], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0]]


class SliceOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0][self.prop.key()])

    def backward(self, op_ctx, arrays):
        grad = np.zeros_like(arrays.in_grad[0])
        grad[self.prop.key()] = arrays.out_grad[0]
        assign(arrays.in_grad[0], arrays.req[0], grad)


class Dense(OperatorProperty):
    """`data (n, k)` times `weight (num_hidden, k)` transposed, plus `bias`."""

    num_hidden = param(int, ge=1)
    no_bias = param(bool, False)

    def list_arguments(self):
        return ["data", "weight"] if self.no_bias else ["data", "weight", "bias"]

    def infer_shape(self, in_shapes):
        data, weight = in_shapes[:2]
        if data is not None and len(data) != 2:
            raise ShapeError(f"Dense: data has {len(data)} axes, expected 2")
        rows, columns = data or (None, None)
        weight = unify_shapes(weight, (self.num_hidden, columns), "Dense: weight")
        data = unify_shapes(data, (rows, weight[1]), "Dense: data")
        bias = [] if self.no_bias else [unify_shapes(in_shapes[2], (self.num_hidden,), "Dense: bias")]
        return [data, weight, *bias], [(rows, self.num_hidden)], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        if out_shapes[0] is None:
            return list(in_shapes)
        data = unify_shapes(in_shapes[0], (out_shapes[0][0], None), "Dense: data")
        return [data, *in_shapes[1:]]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[0], in_data[1]]


class OfTwo(OperatorProperty):
    """Of two arguments, whose output has the shape of the first one."""

    arguments = ("lhs", "rhs")

    def list_arguments(self):
        return list(self.arguments)

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


class OfOne(OperatorProperty):
    """Of one argument, which the gradient reads, and whose shape the output has."""

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[0]]


class DenseOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        value = arrays.in_data[0] @ arrays.in_data[1].T
        assign(arrays.out_data[0], arrays.req[0], value if self.prop.no_bias else value + arrays.in_data[2])

    def backward(self, op_ctx, arrays):
        grad = arrays.out_grad[0]
        values = [lambda: grad @ arrays.in_data[1], lambda: grad.T @ arrays.in_data[0], lambda: grad.sum(0)]
        for target, r, value in zip(arrays.in_grad, arrays.req, values, strict=False):
            if r is not OpReq.NULL:
                assign(target, r, value())


class Centre(OperatorProperty):
    """The data less a moving mean, which training forward updates."""

    momentum = param(float, 0.5, ge=0, le=1)

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shapes):
        shape = in_shapes[0]
        return list(in_shapes), [shape], [shape[1:] if shape is not None else None]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0]]


class CentreOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] - arrays.aux_states[0])
        if op_ctx.is_train:
            keep = self.prop.momentum
            arrays.aux_states[0][...] = keep * arrays.aux_states[0] + (1 - keep) * arrays.in_data[0].mean(0)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0])


class SineCosine(OperatorProperty):
    """Sine and cosine, and a hidden copy of the data."""

    def list_outputs(self):
        return ["sine", "cosine", "hidden"]

    @property
    def num_visible_outputs(self):
        return 2

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 3, []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [*out_grad, out_data[0], out_data[1]]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[2])]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        return [(out_data[0], in_grad[0])]


class SineCosineOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        values = np.sin(arrays.in_data[0]), np.cos(arrays.in_data[0]), arrays.in_data[0].copy()
        for out, r, value in zip(arrays.out_data, arrays.req, values, strict=True):
            assign(out, r, value)

    def backward(self, op_ctx, arrays):
        assign(
            arrays.in_grad[0],
            arrays.req[0],
            arrays.out_grad[0] * arrays.out_data[1] - arrays.out_grad[1] * arrays.out_data[0],
        )


class SquareLoss(OperatorProperty):
    """Outputs the data; its gradient is data - label, whatever the head gradient."""

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(in_shapes[1], in_shapes[0], f"{self.name}: label")
        return [shape, shape], [shape], []

    def differentiable_inputs(self):
        return [True, False]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_data[0], in_data[1]]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[0])]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        return [(out_data[0], in_grad[0])]


class SquareLossOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0])

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_data[0] - arrays.in_data[1])


class Take(OperatorProperty):
    """Rows of a table by integer indices, which have no gradient."""

    name = "take"
    axis = param(int, 0, choices=(0,))
    mode = param(str, "clip", choices=("clip",))

    def list_arguments(self):
        return ["table", "indices"]

    def infer_shape(self, in_shapes):
        table, indices = in_shapes
        out = None if table is None or indices is None else (*indices, *table[1:])
        return list(in_shapes), [out], []

    def infer_type(self, in_types):
        return [in_types[0], in_types[1] or np.dtype(np.int32)], [in_types[0]], []

    def differentiable_inputs(self):
        return [True, False]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [out_grad[0], in_data[1]]


class TakeOperator(CastOperator):
    def forward(self, op_ctx, arrays):
        assign(
            arrays.out_data[0],
            arrays.req[0],
            np.take(arrays.in_data[0], arrays.in_data[1], axis=0, mode=self.prop.mode),
        )

    def backward(self, op_ctx, arrays):
        grad = np.zeros_like(arrays.in_grad[0])
        np.add.at(grad, arrays.in_data[1], arrays.out_grad[0])
        assign(arrays.in_grad[0], arrays.req[0], grad)


PROPERTIES = []
for _prop, _operator in (
    (Cast, CastOperator), (Reshape, ReshapeOperator), (Slice, SliceOperator), (Dense, DenseOperator),
    (Centre, CentreOperator), (SineCosine, SineCosineOperator), (SquareLoss, SquareLossOperator),
    (Take, TakeOperator),
):  # fmt: skip
    _prop.kernels = [Kernel(f"{_prop.name}.test", _operator)]
    PROPERTIES.append(_prop)
PROPERTIES += SIMPLE


@contextmanager
def installed() -> Iterator[None]:
    """The operators, in front of whatever plugins provide under these names."""
    for prop in PROPERTIES:
        registry.register(prop, override=True)
    try:
        yield
    finally:
        for prop in PROPERTIES:
            registry.unregister(prop.name)
            registry.refresh()
