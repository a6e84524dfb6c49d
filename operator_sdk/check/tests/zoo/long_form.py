"""What operators in the long form need beside their fault, which the short forms have from one word."""

from __future__ import annotations

from operad.operator import Operator, OperatorProperty, assign
from operad_sdk.element_types import check_accepted


class FloatingProperty(OperatorProperty):
    """An operator that refuses all but floating types, as `accepts = "floating"` does."""

    def infer_type(self, in_types):
        """One type throughout."""
        for argument, dtype in zip(self.list_arguments(), in_types, strict=True):
            if dtype is not None:
                check_accepted(self.name, argument, dtype, "floating")
        return super().infer_type(in_types)


class AlikeProperty(OperatorProperty):
    """An operator of one argument, without a gradient, whose output has the argument's shape."""

    has_gradient = False

    def infer_shape(self, in_shapes):
        """All alike."""
        return list(in_shapes), [in_shapes[0]], []


class Times(Operator):
    """Multiplies by one factor, as is requested."""

    def __init__(self, factor):
        self._factor = factor

    def forward(self, op_ctx, arrays):
        data = arrays.in_data[0]
        assign(arrays.out_data[0], arrays.req[0], data * data.dtype.type(self._factor))


class _Rectifier(Operator):
    def forward(self, op_ctx, arrays):
        self.mask = arrays.in_data[0] > 0
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * self.mask)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * self.mask)


class MaskKeptProperty(OperatorProperty):
    """A rectifier that keeps its mask in the operator, as only a stateful operator may."""

    def infer_shape(self, in_shapes):
        """All alike."""
        return list(in_shapes), list(in_shapes), []

    def create_operator(self, ctx, in_shapes, in_types):
        """One with a mask."""
        return _Rectifier()

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """The mask is at hand."""
        return [*out_grad]


class Copying(Operator):
    """Copies, as is requested."""

    def forward(self, op_ctx, arrays):
        if int(arrays.req[0]) == 3:
            arrays.out_data[0][...] += arrays.in_data[0]
        elif int(arrays.req[0]):
            arrays.out_data[0][...] = arrays.in_data[0]
