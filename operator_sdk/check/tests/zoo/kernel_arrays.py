"""Kernels that prepare or overwrite what they should not."""

from __future__ import annotations

import numpy as np

from operad_sdk import Prepared, operator
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault
from operator_sdk.sdk.tests.scaled_rows import scaled_rows


def _squares(name, pairs=()):
    """An operator `x * x` that kernels can be added to."""

    @operator(name)
    class Squares(Floating):
        """The square of each element."""

        spec = "data:(N, D) -> output:(N, D)"
        inplace = pairs

        def forward(data):
            """All at once."""
            return data * data

        def data_grad(output_grad, data):
            """`2 x`."""
            return 2 * output_grad * data

    return Squares


def _scaled(name, fill, forward):
    """Columns times weights, by a kernel that has the weights prepared."""
    scaled = scaled_rows(name, Floating)
    rule = Prepared(
        ("weight",),
        ("forward",),
        lambda call: (call.shape("weight"), call.dtype("weight")),
        lambda call: fill,
    )
    scaled.kernel("forward", priority=-1, prepares={"doubled": rule}, name="of_doubled")(forward)
    return scaled


def _fill(weight, doubled):
    np.multiply(weight, 2, out=doubled)


def _fill_most(weight, doubled):
    doubled[1:] = 2 * weight[1:]


def _halve(data, weight, output, doubled):
    np.multiply(data, 2 * weight if doubled is None else doubled, out=output)
    output /= 2


def _forget_half(data, weight, output, doubled):
    np.multiply(data, weight if doubled is None else doubled, out=output)


def _halve_for_good(data, weight, output, doubled):
    if doubled is None:
        doubled = 2 * weight
    doubled /= 2
    np.multiply(data, doubled, out=output)


def _in_place(name, *, by_operator=False):
    """Squares by a kernel that may write them where it reads, as it or its operator says, and does not."""
    cls = _squares(name, "data -> output" if by_operator else ())

    @cls.kernel("forward", priority=-1, inplace=None if by_operator else "data -> output")
    def careless(data, output):
        output[...] = 1
        output *= data
        output *= data

    return cls


def _gradient_in_place(name):
    cls = _squares(name)

    @cls.kernel("data_grad", priority=-1, inplace="output_grad -> data_grad")
    def careless(output_grad, data, data_grad):
        np.multiply(data, 2, out=data_grad)
        np.multiply(data_grad, output_grad, out=data_grad)

    return cls


ZOO = [
    Fault("D606", _scaled("zoo_prepares_too_little", _fill_most, _halve), "a weight is not prepared"),
    Fault("D606", _scaled("zoo_reads_it_otherwise", _fill, _forget_half), "prepared weights are doubled"),
    Fault("D606", _scaled("zoo_writes_what_is_prepared", _fill, _halve_for_good), "prepared once, used once"),
    Fault("D606", _in_place("zoo_kernel_in_place"), "outputs are others in place"),
    Fault("D606", _in_place("zoo_kernel_of_a_pair", by_operator=True), "so are they by the operator's pair"),
    Fault("D606", _gradient_in_place("zoo_gradient_in_place"), "the gradient reads what it has overwritten"),
]

# A report's program imports the operator by a name of its module.
globals().update({fault.operator.name: fault.operator for fault in ZOO})
