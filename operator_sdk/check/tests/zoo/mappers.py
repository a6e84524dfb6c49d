"""Faults of mappers and of operators made of them."""

from __future__ import annotations

import numpy as np

from operad.operator import Result
from operad_sdk import (
    Mapper,
    Scalar,
    from_mapper,
    mapper,
    maximum,
    operator,
    tanh,
    unary,
)
from operad_sdk.mapper.builder import Builder
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault

SLOPE = 0.125


@mapper
def leaky_value(x):
    """Takes its constant from the module, which changes it later."""
    return x if x > 0 else SLOPE * x


leaky = from_mapper(leaky_value, name="zoo_leaky_constant")
SLOPE = 0.25


@mapper
def quarter(x):
    """A quarter."""
    return 0.25 * x


def third(x):
    """A third, which is said to be the same."""
    return x / 3


two_meanings = from_mapper(Mapper(quarter.form, third), name="zoo_two_meanings")


@mapper
def never_value(x):
    """Has a condition that no number meets."""
    if x > 1 and x < -1:
        return 0
    return 2 * x


never = from_mapper(never_value, name="zoo_never")


@mapper
def capped_value(x):
    """Has a condition that no example meets."""
    return x if x < 1e300 else 1e300


capped = from_mapper(capped_value, name="zoo_capped")


@mapper
def sharp_value(x, beta):
    """A tanh of some sharpness."""
    return tanh(beta * x)


@mapper
def blunt_slope(x, beta):
    """The slope for a sharpness of one."""
    y = tanh(x)
    return 1 - y * y


sharp = from_mapper(sharp_value, name="zoo_sharp", scalar=Scalar("beta", default=2.0), slope=blunt_slope)


@mapper
def cubed(x):
    """The third power."""
    return x * x * x


@mapper
def cubed_slope(x):
    """Of the second power."""
    return 2 * x


@unary("zoo_mapped_cube", accepts="floating")
def mapped_cube(x):
    """A mapper, and another one for its slope."""
    return cubed.map(x)


@mapped_cube.gradient
def _(output_grad, x):
    return output_grad * cubed_slope.map(x)


@mapper
def smooth_value(x):
    """A rational function."""
    return x / (1 + x * x)


smooth = from_mapper(smooth_value, name="zoo_smooth_by_series")


@smooth.kernel("cpu", priority=1)
def by_series(data):
    """Right near zero."""
    return data - data**3 + data**5


@mapper
def rectified_value(x):
    """The positive part."""
    return maximum(x, 0)


rectified = from_mapper(rectified_value, name="zoo_rectified_by_size")


@rectified.kernel("cpu", priority=1, when=lambda call: len(call.in_shapes[0]) > 1)
def magnitude(data):
    """Right for positive numbers."""
    return np.abs(data)


@unary("zoo_sine_by_length", accepts="floating")
def sine_by_length(data):
    """The sine, whose gradient is twice too large for three elements."""
    return np.sin(data)


@sine_by_length.gradient
def _(output_grad, data):
    is_three = data.ndim > 0 and int(data.shape[-1]) == 3  # a plain number, which no trace sees compared
    return output_grad * np.cos(data) * (2 if is_three else 1)


@operator("zoo_said_form")
class SaidForm(Floating):
    """A power of e, that says to be one of 2."""

    spec = "data:(...) -> output:(...)"

    def forward(data):
        return np.exp(data)

    def data_grad(output_grad, output):
        return output_grad * output

    def scalar_form(self, part, in_shapes, in_types):
        if part != "forward":
            return super().scalar_form(part, in_shapes, in_types)
        builder = Builder("power", ["data"])
        return builder.finish(Result(builder.apply("exp2", 0), "output"))


ZOO = [
    Fault("A701", leaky, "a constant of the module changes after the mapper is made"),
    Fault("A701", two_meanings, "the Python function is another one"),
    Fault("A702 M402", never, "a condition is never met"),
    Fault("A702 F212", capped, "a condition is met by no example"),
    Fault("A703 B301 B302", sharp, "the written slope forgets a parameter"),
    Fault("A703 B301 B302", mapped_cube, "the written slope is that of another power"),
    Fault("A704 B301 B302 D606", smooth, "a kernel computes something else than the mapper"),
    Fault("A704 B301 B302 D606", rectified, "a kernel for some shapes differs from the mapper"),
    Fault("A704 B301 B302 D606", sine_by_length, "a gradient of some lengths is another one"),
    Fault("A704 D606 D610", SaidForm, "a form is written, and is that of another function"),
]
