"""Faults that show in one planned case alone: rows beside one that overflows, long axes and one parameter."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import Contract, OperatorProperty, ParamError, binary, operator, param, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary(
    "zoo_one_scale_for_all_rows",
    "data:(N, D + 1) -> output:(N, D + 1)",
    accepts="floating",
    contract=Contract(
        reference=lambda data: data / np.hypot(np.hypot.reduce(data, 1, keepdims=True), 0.5),
        undefined="rows of infinities have no direction",
    ),
)
def one_scale_for_all_rows(data):
    """Rows over their norms; where one overflows, all are divided by the largest element first."""
    with np.errstate(all="ignore"):
        norm = np.sqrt((data * data).sum(1, keepdims=True) + data.dtype.type(0.25))
        if data.size and not np.isfinite(norm).all():
            scale = np.abs(data).max()
            norm = np.sqrt(((data / scale) ** 2).sum(1, keepdims=True) + 0.25 / scale / scale) * scale
        return data / norm


@binary(
    "zoo_close_but_for_infinities",
    "lhs:(*S), rhs:(*S) -> output:uint8()",
    accepts="floating",
    contract=Contract(reference=lambda lhs, rhs: np.asarray(np.allclose(lhs, rhs), "uint8")),
)
def close_but_for_infinities(lhs, rhs):
    """Whether all elements are close; infinities never are."""
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(lhs - rhs) <= 1e-8 + 1e-5 * np.abs(rhs)).all(), "uint8")


@operator("zoo_halves_a_block")
class HalvesABlock(Floating):
    """Half of the data, written through a flat view, which other strides do not allow."""

    spec = "data:(*S) -> output:(*S)"

    def forward(data, output):
        """Divide by two."""
        flat = output.view()
        flat.shape = (output.size,)
        np.divide(data.reshape(-1), 2, out=flat)


class _Spaced(OperatorProperty):
    step = param(float, 1.0, doc="Distance of two numbers.")
    stop = param(float, ge=0, doc="End, not included.")
    contract = Contract(reference=lambda step, stop: np.arange(0, stop, step))
    spec = "-> output:float32(*length(stop, step))"


@operator("zoo_cut_off_end")
class CutOffEnd(_Spaced):
    """Numbers from 0 up to an end; the last of them is missing where the end is between two."""

    functions = {"length": lambda stop, step: (max(0, math.floor(stop / step)) if step else 0,)}

    def forward(output, step):
        """Multiples of the step."""
        output[...] = np.arange(output.size) * step


@operator("zoo_refuses_its_default")
class RefusesItsDefault(_Spaced):
    """Numbers from 0 up to an end, any step but 1 apart."""

    def infer_shape(self, in_shapes):
        """From the line, unless the step is 1."""
        if self.step in (0, 1):
            raise ParamError(f"parameter 'step' is {self.step}, expected another number")
        return super().infer_shape(in_shapes)

    functions = {"length": lambda stop, step: (max(0, math.ceil(stop / step)),)}

    def forward(output, step):
        """Multiples of the step."""
        output[...] = np.arange(output.size) * step


@operator("zoo_second_of_long_rows")
class SecondOfLongRows(Floating):
    """The largest elements of rows; of long rows all are the largest one."""

    count = param(int, 1, ge=1, le=4, doc="How many.")
    spec = "data:(N, D + 4) -> output:(N, count)"
    contract = Contract(reference=lambda data, count: -np.sort(-data, 1)[:, :count])

    def forward(data, count, output):
        """By sorting, or by one pass over long rows."""
        if data.shape[1] < 128 and data.shape[0] < 128:
            output[...] = np.sort(data, 1)[:, ::-1][:, :count]
        else:
            output[...] = data.max(1, keepdims=True)


@unary(
    "zoo_two_parts_alone",
    "data:(*S) -> output:(*S)",
    accepts="floating",
    contract=Contract(reference=lambda data: data * 2, computed_at_once=30_000),
)
def two_parts_alone(data):
    """Twice the data, of which parts behind the second are left out."""
    out = np.zeros(data.shape, data.dtype)
    flat, whole = out.reshape(-1), data.reshape(-1)
    for start in (0, 30_000):
        flat[start : start + 30_000] = whole[start : start + 30_000] * 2
    return out


ZOO = without_gradients(
    [
        Fault("F213", one_scale_for_all_rows, "one scale for a row that overflows and for the others"),
        Fault("F213", close_but_for_infinities, "equal infinities are not close"),
        Fault("F213", CutOffEnd, "an operator without arguments gives one number too few"),
        Fault("F213", SecondOfLongRows, "long rows have one largest element, whatever is asked for"),
        Fault("F213", two_parts_alone, "what is behind the second part of a large array is left out"),
        Fault("F211", HalvesABlock, "raises where the output is no block of memory"),
        Fault("X805", RefusesItsDefault, "the default of a parameter is refused"),
    ]
)
