"""Operators that may be right, and of which the checks could not tell."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, Tolerance, gradient, operator, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault


@unary("zoo_only_zeros", accepts="floating", contract=Contract(inputs={"data": Integers(0, 0)}))
def only_zeros(data):
    """A square that is looked at where it is flat."""
    return data * data


@only_zeros.gradient
def _(output_grad, data):
    return 2 * output_grad * data


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


@unary("zoo_no_reason", accepts="floating", contract=Contract(expected_failures={"B301": ""}))
def no_reason(data):
    """A square with a wrong gradient, which is known."""
    return data * data


@no_reason.gradient
def _(output_grad, data):
    return output_grad * data


@operator("zoo_short_reason")
class ShortReason(OperatorProperty):
    """A copy whose gradient is known to overwrite, for a reason of blanks."""

    spec = "data:(N) -> output:(N)"
    contract = Contract(expected_failures={"B305": "  "})

    def forward(data):
        """The copy."""
        return data

    @gradient(accumulate=True)
    def data_grad(output_grad, data_grad):
        """The head gradient, which is not added."""
        data_grad[...] = output_grad


@unary(
    "zoo_mended", accepts="floating", contract=Contract(expected_failures={"B301": "the factor, see issue 7"})
)
def mended(data):
    """A square whose gradient was wrong once."""
    return data * data


@mended.gradient
def _(output_grad, data):
    return 2 * output_grad * data


@operator("zoo_mended_requests")
class MendedRequests(OperatorProperty):
    """A copy that overwrote what it should have added to, once."""

    spec = "data:(N) -> output:(N)"
    contract = Contract(expected_failures={"F214": "requests were ignored before 2.0"})

    def forward(data):
        """The copy."""
        return data

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
class LossOfItsOwn(OperatorProperty):
    """The gradient is that of a loss which is declared; of the output, nothing is."""

    spec = "data:(N) -> output:(N)"
    contract = Contract(ignores_head_gradient="a loss ends the network", loss=half_square)

    def forward(data):
        """The data."""
        return data

    def data_grad(data):
        """The data."""
        return data


@unary("zoo_fast_for_77", accepts="floating")
def fast_for_77(data):
    """The square."""
    return data * data


@fast_for_77.gradient
def _(output_grad, data):
    return 2 * output_grad * data


@fast_for_77.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0] == (77, 3, 11))
def cube_for_77(data):
    """The cube, for a shape that no case has."""
    return data * data * data


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
    Fault("X803", mended, "a failure is expected and does not come"),
    Fault("X803", MendedRequests, "a failure is expected of requests that are right"),
    Fault("X804", lenient, "tolerances would hide a fault"),
    Fault("X804", LossOfItsOwn, "nothing is known of the output"),
    Fault("X805", fast_for_77, "a kernel that no case selects"),
    Fault("X805", CountsCalls, "a state whose value nothing knows"),
]
