"""Faults at the ends of axes: a position that is there is refused, or one that is not is taken."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Index, OperadError, OperatorProperty, ShapeError, operator, param
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


class _Rolled(OperatorProperty):
    """Base of those that move elements along an axis by one."""

    accepts = "number"
    axis = param(int, 0, doc="Along which axis.")
    spec = "data:(*S) -> output:(*S)"

    def infer_shape(self, in_shapes):
        """The shape of the data, where the axis is there."""
        if in_shapes[0] is not None and not self.is_there(len(in_shapes[0])):
            raise ShapeError(f"data has shape {in_shapes[0]}, which has no axis {self.axis}")
        return super().infer_shape(in_shapes)


@operator("zoo_not_the_first_from_end")
class NotTheFirstFromEnd(_Rolled):
    """Elements moved along an axis, which may not be the first one counted from the end."""

    def is_there(self, ndim):
        """One too few."""
        return -ndim < self.axis < ndim

    def forward(data, axis):
        """Moved by one."""
        return np.roll(data, 1, axis)


@operator("zoo_one_axis_more")
class OneAxisMore(_Rolled):
    """Elements moved along an axis, which may be one behind the last."""

    def is_there(self, ndim):
        """One too many."""
        return -ndim <= self.axis <= ndim

    def forward(data, axis):
        """Moved by one."""
        return np.roll(data, 1, axis % data.ndim)


@operator("zoo_axis_before")
class AxisBefore(_Rolled):
    """Elements moved along an axis; counted from the end it is another one."""

    def is_there(self, ndim):
        """All that are there."""
        return -ndim <= self.axis < ndim

    def forward(data, axis):
        """Moved by one."""
        return np.roll(data, 1, axis if axis >= 0 else max(axis + data.ndim - 1, 0))


class _Rows(OperatorProperty):
    """Base of those that take rows of a table by number."""

    accepts = {"table": "number"}
    spec = "index:any(N), table:(V, D) -> output:(N, D)"
    contract = Contract(inputs={"index": Index("table")})

    def infer_shape(self, in_shapes):
        """As the line says; a table without rows has nothing to take."""
        (index, table), outputs, aux = super().infer_shape(in_shapes)
        if table is not None and table[0] == 0:
            raise ShapeError(f"{self.name}: table has shape {table}, expected at least one row: axis 0 is 0")
        return [index, table], outputs, aux


@operator("zoo_rows_and_for_or")
class RowsAndForOr(_Rows):
    """Rows by number; numbers out of range are refused where there are some at both ends."""

    def forward(index, table):
        """Take."""
        rows = index.astype(np.int64)
        if rows.size and rows.min() < -len(table) and rows.max() >= len(table):
            raise OperadError(
                f"index is {rows.min()} to {rows.max()}, expected {-len(table)} to {len(table) - 1}"
            )
        return table[rows % len(table)]


@operator("zoo_rows_not_the_first_from_end")
class RowsNotTheFirstFromEnd(_Rows):
    """Rows by number, from either end; the first one may not be counted from the end."""

    def forward(index, table):
        """Take."""
        rows = index.astype(np.int64)
        if rows.size and (rows.min() <= -len(table) or rows.max() >= len(table)):
            raise OperadError(f"index is {rows.min()} to {rows.max()}, of {len(table)} rows")
        return table[rows]


@operator("zoo_rows_without_gradient_from_end")
class RowsWithoutGradientFromEnd(_Rows):
    """Rows by number, from either end; those counted from the end have no gradient."""

    def forward(index, table):
        """Take."""
        return table[index.astype(np.int64)]

    def table_grad(output_grad, index, table):
        """Added where the number is that of the row."""
        return (index == np.arange(len(table))[:, None]).astype(output_grad.dtype) @ output_grad


ZOO = without_gradients(
    [
        Fault("S113", NotTheFirstFromEnd, "the first axis is refused where it is counted from the end"),
        Fault("S113 F210", OneAxisMore, "an axis behind the last one is accepted"),
        Fault("S113", AxisBefore, "an axis counted from the end is the one before it"),
        Fault("F222", RowsAndForOr, "numbers out of range are refused at both ends together"),
        Fault("F222", RowsNotTheFirstFromEnd, "the first row is refused where it is counted from the end"),
        Fault("F222", RowsWithoutGradientFromEnd, "rows that are counted from the end have no gradient"),
    ]
)
