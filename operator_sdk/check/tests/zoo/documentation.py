"""Faults of what an operator says of itself: names, documentation, examples."""

from __future__ import annotations

from operad_sdk import OperatorProperty, Scalar, binary, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary("zoo_undocumented", accepts="number")
def undocumented(x):
    return x + 1


@unary("zoo_undocumented_parameter", scalar=Scalar("by", default=1.0))
def shifted(x, by):
    """Every element plus a number.

    Example:
        >>> shifted(np.array([1.0]), 2.0)
        array([3.])
    """
    return x + by


@binary("zoo_no_example")
def no_example(lhs, rhs):
    """The sum."""
    return lhs + rhs


@unary("zoo_wrong_example", accepts="number")
def twice(x):
    """Twice every element.

    Example:
        >>> twice(np.array([1.0, 2.0]))
        array([2., 5.])
    """
    return 2 * x


@operator("zoo_raising_example")
class RaisingExample(OperatorProperty):
    """The data.

    Example:
        >>> RaisingExample(size=1)
        RaisingExample(size=1)
    """

    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """The data."""
        return data


@operator("zoo_transposed")
class Transposed(OperatorProperty):
    """A copy of rows.

    Shapes:
        data: (N).
        output: (N, D).
    """

    accepts = "number"
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """The copy."""
        return data * 1


@operator("zoo_flattened")
class Flattened(Floating):
    """Sums of rows.

    Shapes:
        data: (N, D).
        output: (N, D).
    """

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        """The sums."""
        return data.sum(axis=1)


ZOO = without_gradients(
    [
        Fault("S111", Transposed, "the docstring drops an axis"),
        Fault("S111", Flattened, "the docstring keeps an axis that the line drops"),
        Fault("S107 S108", undocumented, "no docstring"),
        Fault("S107", shifted, "a parameter without doc"),
        Fault("S108", no_example, "no example"),
        Fault("S108", twice, "an example with a wrong result"),
        Fault("S108", RaisingExample, "an example that raises"),
    ]
)
