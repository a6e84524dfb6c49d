"""Operators of one function, in few words, for the core's own tests.

Plugins declare such operators with the SDK, which the core does not know.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from operad.op import BackwardEntry, Kernel, Operator, OperatorProperty, OpReq, assign, is_known, unify_shapes

OGRAD, OUT = "ograd", "out_value"


class Gradient:
    """`function` of the arrays named in `reads` and the parameters; it may overwrite those in `inplace`."""

    def __init__(self, function, reads, inplace=()):
        self.function, self.reads, self.inplace = function, tuple(reads), tuple(inplace)


class SimpleProperty(OperatorProperty):
    """All shapes and types are alike, unless there is a shape function."""

    def list_arguments(self):
        return list(self.simple.arguments)

    def values(self):
        return [getattr(self, name) for name in type(self).params]

    def infer_shape(self, in_shapes):
        if self.simple.shape_function is not None:
            known = all(map(is_known, in_shapes))
            out = self.simple.shape_function(*in_shapes, *self.values()) if known else None
            return list(in_shapes), [out], []
        shape = None
        for name, given in zip(self.simple.arguments, in_shapes, strict=True):
            shape = unify_shapes(given, shape, f"{self.name}: {name}")
        return [shape] * len(in_shapes), [shape], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        if self.simple.shape_function is not None:
            return list(in_shapes)
        shape = unify_shapes(self.infer_shape(in_shapes)[1][0], out_shapes[0], f"{self.name}: output")
        return [shape] * len(in_shapes)

    def differentiable_inputs(self):
        return [gradient is not None for gradient in self.simple.gradients]

    def backward_dependency(self, wanted):
        pairs = zip(self.simple.gradients, wanted, strict=True)
        reads = {name for gradient, want in pairs if gradient and want for name in gradient.reads}
        places = {OGRAD: BackwardEntry("out_grad", 0), OUT: BackwardEntry("out_data", 0)}
        places |= {name: BackwardEntry("in_data", i) for i, name in enumerate(self.simple.arguments)}
        order = [OGRAD, *self.simple.arguments, OUT]
        return [places[name] for name in order if name in reads]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        groups = {"out_grad": out_grad, "in_data": in_data, "out_data": out_data}
        every = self.backward_dependency([True] * len(in_data))
        return [groups[entry.kind][entry.index] for entry in every]

    def forward_inplace_option(self, in_data, out_data):
        named = zip(self.simple.arguments, in_data, strict=True)
        return [(entry, out_data[0]) for name, entry in named if name in self.simple.inplace]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        arrays = {
            OGRAD: out_grad[0],
            OUT: out_data[0],
            **dict(zip(self.simple.arguments, in_data, strict=True)),
        }
        pairs, read_later = [], set()
        for gradient, target in reversed(list(zip(self.simple.gradients, in_grad, strict=True))):
            if gradient is not None:
                pairs += [(arrays[name], target) for name in gradient.inplace if name not in read_later]
                read_later.update(gradient.reads)
        return pairs

    def forward_resource(self, in_shapes):
        return list(self.simple.resource)

    def cost(self, in_shapes, out_shapes):
        return super().cost(in_shapes, out_shapes) * self.simple.cost


class SimpleOperator(Operator):
    """Calls the functions; `direct` where the forward one takes `out`."""

    def __init__(self, prop, ctx, in_shapes, in_types):
        self.simple, self.values = prop.simple, prop.values()
        if self.simple.takes_out:
            function, values = self.simple.function, self.values
            self.direct = lambda *arrays: function(*arrays[:-1], *values, out=arrays[-1])

    def forward(self, op_ctx, arrays):
        (req,), (out,) = arrays.req, arrays.out_data
        context = [op_ctx] if self.simple.resource else []
        if not self.simple.takes_out:
            assign(out, req, self.simple.function(*context, *arrays.in_data, *self.values))
            return
        value = np.empty_like(out) if req is OpReq.ADD else out
        if req is not OpReq.NULL:
            self.simple.function(*arrays.in_data, *self.values, out=value)
        if req is OpReq.ADD:
            out += value

    def backward(self, op_ctx, arrays):
        named = {
            OGRAD: arrays.out_grad[0],
            OUT: arrays.out_data[0],
            **dict(zip(self.simple.arguments, arrays.in_data, strict=True)),
        }
        for gradient, r, target in zip(self.simple.gradients, arrays.req, arrays.in_grad, strict=True):
            if r is not OpReq.NULL:
                reads = [] if gradient is None else [named[name] for name in gradient.reads]
                assign(target, r, 0 if gradient is None else gradient.function(*reads, *self.values))


def simple(
    name, arguments, function, gradients=None, *, takes_out=False, params=None, inplace=(),
    shape_function=None, resource=(), cost=1.0,
):  # fmt: skip
    """The property class of an operator that is `function` of its arrays and parameters.

    With `takes_out` the function writes into `out`; with `resource` it takes the `OpContext` first.
    """
    gradients = gradients or [None] * len(arguments)
    record = SimpleNamespace(
        arguments=arguments, function=function, gradients=gradients, takes_out=takes_out, inplace=inplace,
        shape_function=shape_function, resource=resource, cost=cost,
    )  # fmt: skip
    return type(
        name,
        (SimpleProperty,),
        {
            "name": name,
            "simple": record,
            "kernels": [Kernel(f"{name}.array", SimpleOperator)],
            "has_gradient": any(gradients),
            **(params or {}),
        },
    )
