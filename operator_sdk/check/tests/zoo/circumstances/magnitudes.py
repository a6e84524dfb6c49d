"""Faults of numbers that are large, tiny, or at a bound; and finite numbers that become none."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param, unary
from operad_sdk.domains import Drawn, OneHot, Probabilities
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary("zoo_sine_by_series", accepts="floating", compute_dtype="float64", contract=Contract(reference=np.sin))
def sine_by_series(x):
    """A sine."""
    square = x * x
    total = term = x
    for k in range(1, 12):
        term = -term * square / (2 * k * (2 * k + 1))
        total = total + term
    return total


@sine_by_series.gradient
def _(output_grad, x):
    return output_grad * np.cos(x)


@unary("zoo_exponential_less_one", accepts="floating", contract=Contract(reference=np.expm1))
def exponential_less_one(x):
    """An exponential less 1."""
    return np.exp(x) - 1


@exponential_less_one.gradient
def _(output_grad, x):
    return output_grad * np.exp(x)


@operator("zoo_length")
class Length(Floating):
    """Euclidean length of each row."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(
        reference=lambda data: np.hypot.reduce(data.astype(np.float64), 1),
    )

    def forward(data):
        return np.sqrt((data * data).sum(1))


@operator("zoo_unit_rows")
class UnitRows(InFloat32):
    """Rows over their length."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return data / np.sqrt((data * data).sum(1, keepdims=True))

    def data_grad(output_grad, data, output):
        length = np.sqrt((data * data).sum(1, keepdims=True))
        return (output_grad - output * (output_grad * output).sum(1, keepdims=True)) / length


@operator("zoo_empty_batch")
class EmptyBatch(Floating):
    """The data less a moving mean, which training moves."""

    spec = "data:(N, C); aux moving_mean:(C) -> output:(N, C)"

    def forward(is_train, data, moving_mean, output):
        output[...] = data - moving_mean
        if is_train:
            moving_mean *= 0.9
            moving_mean += 0.1 * data.sum(0) / np.float64(len(data))


@operator("zoo_turned_momentum")
class TurnedMomentum(InFloat32):
    """The data less the mean of the batch; a state follows the mean."""

    momentum = param(float, 0.9, ge=0, le=1, doc="What stays of the state.")
    spec = "data:(N + 1, C); aux moving_mean:(C) -> output:(N + 1, C)"

    def forward(is_train, data, moving_mean, output, momentum):
        mean = data.mean(0) if is_train else moving_mean
        output[...] = data - mean
        if is_train:
            moving_mean *= 1 - momentum
            moving_mean += momentum * mean

    def data_grad(is_train, output_grad):
        return output_grad - (output_grad.mean(0) if is_train else 0)


@operator("zoo_divergence")
class Divergence(InFloat64):
    """What rows of probabilities lack in entropy."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(inputs={"data": Probabilities()})

    def forward(data):
        return (data * np.log(data)).sum(1)

    def data_grad(output_grad, data):
        return output_grad[:, None] * (np.log(data) / 2 + 1)


@operator("zoo_label_score")
class LabelScore(InFloat32):
    """Scores of labels, one 1 among zeros each."""

    spec = "data:(N, K + 2), label:(N, K + 2) -> output:(N)"
    contract = Contract(inputs={"label": OneHot()})

    def forward(data, label):
        return (data * label).sum(1)

    def data_grad(output_grad, label):
        return output_grad[:, None] * label

    def label_grad(output_grad, data):
        return output_grad[:, None] * np.roll(data, 1, 1)


@operator("zoo_between_knots")
class BetweenKnots(InFloat32):
    """Distances of the data from an ascending row."""

    spec = "data:(N), knots:(K + 1) -> output:(N, K + 1)"
    contract = Contract(
        inputs={"knots": Drawn(lambda rng, shape, prop, shapes: np.sort(rng.integers(-8, 9, shape) / 4.0))}
    )

    def forward(data, knots):
        return (data[:, None] - knots) ** 2

    def data_grad(output_grad, data, knots):
        return 2 * (output_grad * (data[:, None] - knots)).sum(1)

    def knots_grad(output_grad, data, knots):
        return -(output_grad * (data[:, None] - knots)).sum(0)


@operator("zoo_named_scale")
class NamedScale(Floating):
    """The data times a scale with a name."""

    kind = param(str, "one", doc="One, two or half.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data, kind: data * {"two": 2, "half": 0.5}.get(kind, 1))

    def forward(data, kind):
        return data * (2 if kind == "two" else 1)

    def data_grad(output_grad, kind):
        return output_grad * (2 if kind == "two" else 1)


ZOO = without_gradients(
    [
        Fault("F", sine_by_series, "a series that is right for small numbers alone"),
        Fault("D", exponential_less_one, "one less than an exponential has no digits left beside 0"),
        Fault("F", Length, "squares overflow on the way to a length"),
        Fault("F", UnitRows, "rows of zeros are divided by their length"),
        Fault("X", EmptyBatch, "a batch of no rows makes the moving mean no number"),
        Fault("X", TurnedMomentum, "momentum is what goes, not what stays"),
        Fault("B", Divergence, "the gradient of probabilities forgets a term"),
        Fault("B", LabelScore, "the gradient of a label is that of another class"),
        Fault(
            "B",
            BetweenKnots,
            "the gradient of an argument that a function draws is half of what it should be",
        ),
        Fault("F", NamedScale, "the scale of a kind that no default names is that of the default"),
    ]
)
