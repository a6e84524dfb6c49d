"""An update as an operator, and what calls it."""

from __future__ import annotations

from contextlib import contextmanager

from operad import nd, registry
from operad.op import Kernel, Operator, OperatorProperty, assign, param


class DescentOperator(Operator):
    """Moves a weight."""

    def __init__(self, prop, ctx, in_shapes, in_types):
        self.prop = prop

    @staticmethod
    def direct_with_values(weight, grad, out, last, rate):
        last[...] = rate * grad
        out[...] = weight - last

    def forward(self, op_ctx, arrays):
        moved = arrays.in_data[0] - self.prop.rate * arrays.in_data[1]
        arrays.aux_states[0][...] = self.prop.rate * arrays.in_data[1]
        assign(arrays.out_data[0], arrays.req[0], moved)


class FixedOperator(DescentOperator):
    """Does not take other rates."""

    direct_with_values = None


class descent(OperatorProperty):  # noqa: N801 - named as operators are
    """`weight - rate * grad`; the state is the last step."""

    rate = param(float, gt=0, run_time=True)
    kernels = (Kernel("descent.array", DescentOperator),)
    has_gradient = False

    def list_arguments(self):
        return ["weight", "grad"]

    def list_auxiliary_states(self):
        return ["last"]

    def infer_shape(self, in_shapes):
        shape = in_shapes[0] or in_shapes[1]
        return [shape, shape], [shape], [shape]

    def forward_inplace_option(self, in_data, out_data):
        return [(in_data[0], out_data[0])]


class elsewhere(descent):  # noqa: N801 - as above
    """The same, which does not say that the weight may be overwritten."""

    kernels = (Kernel("elsewhere.array", DescentOperator),)

    def forward_inplace_option(self, in_data, out_data):
        return []


class fixed(descent):  # noqa: N801 - as above
    """The same with a rate that belongs to the operator."""

    rate = param(float, gt=0)
    kernels = (Kernel("fixed.array", FixedOperator),)


@contextmanager
def installed():
    for prop in (descent, elsewhere, fixed):
        registry.register(prop)
    try:
        yield
    finally:
        for prop in (descent, elsewhere, fixed):
            registry.unregister(prop.name)
        registry.refresh()


class Updater:
    """Moves weights by one call each, and counts them.

    Attributes:
        rate: Of the next step.
        count: Updates so far.
        operator: What moves a weight.
    """

    def __init__(self, operator="descent", rate=0.5):
        self.operator, self.rate, self.count = operator, rate, 0
        self.states = {}

    def _state(self, index, weight):
        return self.states.setdefault(
            index, nd.zeros(weight.shape) if hasattr(nd, "zeros") else _zeros(weight)
        )

    def calls(self, indices, weights):
        self.count += len(indices)
        return [
            (self.operator, (self._state(index, weight),), {"rate": self.rate})
            for index, weight in zip(indices, weights, strict=True)
        ]

    def __call__(self, indices, grads, weights):
        self.count += len(indices)
        for index, grad, weight in zip(indices, grads, weights, strict=True):
            getattr(nd, self.operator)(weight, grad, self._state(index, weight), out=weight, rate=self.rate)


def _zeros(weight):
    made = nd.empty(weight.shape)
    made[:] = 0
    return made
