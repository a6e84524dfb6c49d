"""Operators that may be right, and of which the checks could not tell."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, Tolerance, gradient, operator, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault


def square(name, factor, **declared):
    """A square whose gradient is `factor` times the data: right with 2."""

    @unary(name, accepts="floating", contract=Contract(**declared))
    def squared(data):
        """A square."""
        return data * data

    @squared.gradient
    def _(output_grad, data):
        return factor * output_grad * data

    return squared


class Copy(OperatorProperty):
    """A copy."""

    spec = "data:(N) -> output:(N)"

    def forward(data):
        """The copy."""
        return data


only_zeros = square("zoo_only_zeros", 2, inputs={"data": Integers(0, 0)})
no_reason = square("zoo_no_reason", 1, expected_failures={"B301": ""})
fixed = square("zoo_mended", 2, expected_failures={"B301": "the factor, see issue 7"})
fast_for_77 = square("zoo_fast_for_77", 2)


@fast_for_77.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0] == (77, 3, 11))
def cube_for_77(data):
    """The cube, for a shape that no case has."""
    return data * data * data


@operator("zoo_no_rows")
class NoRows(OperatorProperty):
    """A sum of rows of which there are none."""

    spec = "data:(N, D) -> output:(D)"
    contract = Contract(shapes=lambda prop, choose: [(0, choose((1, 2, 3)))])

    def forward(data):
        """The sum."""
        return data.sum(axis=0)

    def data_grad(output_grad, data_grad):
        """For each row."""
        data_grad[...] = np.broadcast_to(output_grad, data_grad.shape)


@operator("zoo_short_reason")
class ShortReason(Copy):
    """A copy whose gradient is known to overwrite, for a reason of blanks."""

    contract = Contract(expected_failures={"B305": "  "})

    @gradient(accumulate=True)
    def data_grad(output_grad, data_grad):
        """The head gradient, which is not added."""
        data_grad[...] = output_grad


@operator("zoo_mended_requests")
class MendedRequests(Copy):
    """A copy that overwrote what it should have added to, once."""

    contract = Contract(expected_failures={"F214": "requests were ignored before 2.0"})

    def data_grad(output_grad):
        """The head gradient."""
        return output_grad


_HALF = Tolerance(0.5, 0.5, "it was red")


@unary(
    "zoo_lenient",
    accepts="floating",
    contract=Contract(
        no_numeric_gradient="it has steps",
        reference=np.rint,
        tolerances={"float16": _HALF, "float32": _HALF, "float64": _HALF},
    ),
)
def lenient(data):
    """Rounding, for which anything within a half would do."""
    return np.rint(data)


def half_square(data):
    """The loss."""
    return data * data / 2


@operator("zoo_loss_of_its_own")
class LossOfItsOwn(Copy):
    """The gradient is that of a loss which is declared; of the output, nothing is."""

    contract = Contract(ignores_head_gradient="a loss ends the network", loss=half_square)

    def data_grad(data):
        """The data."""
        return data


@operator("zoo_counts_calls")
class CountsCalls(Floating):
    """A copy, and a state of which nothing says what becomes of it."""

    spec = "data:(N), state count:(1) -> output:(N)"

    def forward(data, count, is_train, output):
        """Counts by two."""
        output[...] = data
        if is_train:
            count += 2

    def data_grad(output_grad):
        """The head gradient."""
        return output_grad


ZOO = [
    Fault("X801", only_zeros, "every example is zero"),
    Fault("X801", NoRows, "every example is empty"),
    Fault("X802 B302", no_reason, "a failure is expected for no reason"),
    Fault("X802", ShortReason, "a failure is expected for a reason of blanks"),
    Fault("X803", fixed, "a failure is expected and does not come"),
    Fault("X803", MendedRequests, "a failure is expected of requests that are right"),
    Fault("X804", lenient, "tolerances would hide a fault"),
    Fault("X804", LossOfItsOwn, "nothing is known of the output"),
    Fault("X805", fast_for_77, "a kernel that no case selects"),
    Fault("X805", CountsCalls, "a state whose value nothing knows"),
]
