"""What operators in the long form need beside their fault, which the short forms have from one word."""

from __future__ import annotations

from operad.operator import Operator, OperatorProperty
from operad_sdk.element_types import check_accepted


class FloatingProperty(OperatorProperty):
    """An operator that refuses all but floating types, as `accepts = "floating"` does."""

    def infer_type(self, in_types):
        """One type throughout."""
        for argument, dtype in zip(self.list_arguments(), in_types, strict=True):
            if dtype is not None:
                check_accepted(self.name, argument, dtype, "floating")
        return super().infer_type(in_types)


class Copying(Operator):
    """Copies, as is requested."""

    def forward(self, op_ctx, arrays):
        if int(arrays.req[0]) == 3:
            arrays.out_data[0][...] += arrays.in_data[0]
        elif int(arrays.req[0]):
            arrays.out_data[0][...] = arrays.in_data[0]
