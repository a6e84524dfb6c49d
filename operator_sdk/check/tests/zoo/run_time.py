"""Faults with run-time parameters: what the constructor made of them, or refused, is the first call's."""

from __future__ import annotations

from operad_sdk import ParamError, operator, param
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault


@operator("zoo_factor_of_the_first_call")
class FactorOfTheFirstCall(Floating):
    """Data over a temperature, of which the constructor makes a factor."""

    spec = "data:(*S) -> output:(*S)"
    temperature = param(float, 1.0, gt=0, run_time=True, doc="What the data is divided by.")

    def __init__(self, **params):
        super().__init__(**params)
        self.factor = 1 / self.temperature

    def forward(self, data):
        """By the factor."""
        return data * self.factor

    def data_grad(self, output_grad):
        """Likewise."""
        return output_grad * self.factor


@operator("zoo_checks_the_first_call")
class ChecksTheFirstCall(Floating):
    """Data times the sum of two numbers, which only the constructor counts."""

    spec = "data:(*S) -> output:(*S)"
    weights = param(
        "floats", (0.5, 0.5), run_time=True, doc="Two numbers whose sum the data is multiplied by."
    )

    def __init__(self, **params):
        super().__init__(**params)
        if len(self.weights) != 2:
            raise ParamError(f"{self.name}: weights is {self.weights}, expected two numbers")

    def forward(data, weights):
        """By the sum."""
        return data * sum(weights)

    def data_grad(output_grad, weights):
        """Likewise."""
        return output_grad * sum(weights)


ZOO = [
    Fault("R510 D606 D610", FactorOfTheFirstCall, "a factor is made of the value of the first call"),
    Fault("R510", ChecksTheFirstCall, "later calls may give what the first may not"),
]
