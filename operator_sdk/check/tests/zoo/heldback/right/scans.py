"""Scans and what is left of rows: recurrences, probabilities, counts, masks."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_recurrent_tanh")
class RecurrentTanh(InFloat64):
    """`h_t = tanh(w h_(t-1) + x_t)`, with one weight per column."""

    spec = "data:(T, N), weight:(N) -> output:(T, N)"

    def forward(data, weight, output):
        last = np.zeros_like(weight)
        for t in range(len(data)):
            last = np.tanh(weight * last + data[t])
            output[t] = last

    def backward(output_grad, output, weight, data_grad, weight_grad):
        ahead = np.zeros_like(weight)
        weight_grad[...] = 0
        for t in reversed(range(len(output))):
            inner = (output_grad[t] + ahead) * (1 - output[t] ** 2)
            data_grad[t] = inner
            weight_grad += inner * (output[t - 1] if t else 0)
            ahead = inner * weight


@operator("zoo_right_counts")
class Counts(OperatorProperty):
    """How often each integer below a bound occurs."""

    accepts = "integer"
    bound = param(int, 4, ge=1, le=8, doc="One above the largest that is counted.")
    spec = "data:(N) -> output:int64(bound)"
    contract = Contract(
        inputs={"data": Integers(0, 9)},
        reference=lambda data, bound: (data == np.arange(bound)[:, None]).sum(1),
    )

    def forward(data, bound):
        return np.bincount(data[data < bound].astype(np.intp), minlength=bound)


ZOO = [
    Right(RecurrentTanh, "a recurrence with a nonlinear step"),
    Right(Counts, "counts, which have no gradient"),
]
