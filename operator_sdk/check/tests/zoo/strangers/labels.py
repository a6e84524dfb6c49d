"""Labels, places and draws that are wrong."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    Distribution,
    Index,
    Integers,
    OperatorProperty,
    ResourceRequest,
    gradient,
    operator,
    param,
)
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _logs(data):
    shifted = data - data.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _targets(label, classes, smoothing, dtype):
    """What each row is compared with: a row of zeros where the label is -1."""
    targets = np.full((len(label), classes), smoothing / classes, dtype)
    rows = np.flatnonzero(label >= 0)
    targets[rows, np.minimum(label[rows], classes - 1)] += 1 - smoothing
    return targets


@operator("zoo_smooth_cross_entropy")
class SmoothCrossEntropy(OperatorProperty):
    """Cross entropy of each row with its label, or for a share of `smoothing` with all classes.

    It is 0 where the label is negative; one beyond the classes counts as the last class.
    """

    smoothing = param(float, 0.1, ge=0, le=1, doc="Share of all classes in what is compared with.")
    spec = "data:(N, C), label:int64(N) -> output:(N); C >= 1"
    accepts = {"data": "floating"}
    compute_dtype = "float32"

    def _reference(data, label, smoothing):
        classes = data.shape[1]
        losses = np.zeros(len(data), data.dtype)
        for row, (values, own) in enumerate(zip(data, label.astype(int), strict=True)):
            if own >= 0:
                logs = values - np.logaddexp.reduce(values)
                shares = np.full(classes, smoothing / classes)
                shares[min(own, classes - 1)] += 1 - smoothing
                losses[row] = -(shares[shares > 0] * logs[shares > 0]).sum()
        return losses

    contract = Contract(
        reference=_reference, inputs={"label": Integers(-1, 1)}, nan_policy="ignored rows are not read"
    )

    def forward(data, label, smoothing):
        targets = _targets(label, data.shape[1], smoothing, data.dtype)
        return -np.where(targets > 0, targets * _logs(data), 0).sum(axis=1)

    def data_grad(output_grad, data, label, smoothing):
        targets = _targets(label, data.shape[1], smoothing, data.dtype)
        slope = np.exp(_logs(data)) * targets.sum(axis=1, keepdims=True) - targets
        return slope * output_grad[:, None]


def _kept(label, classes):
    """Rows that have a label, and their labels; beyond the classes is the last class."""
    rows = np.flatnonzero(label >= 0)
    return rows, np.minimum(label[rows], classes - 1)


@operator("zoo_picked_loss")
class PickedLoss(OperatorProperty):
    """`-data[n, label[n]]`, and 0 where the label is negative; beyond the classes is the last class."""

    spec = "data:(N, C), label:int64(N) -> output:(N); C >= 1"
    accepts = {"data": "floating"}

    def _reference(data, label):
        losses = np.zeros(len(data), data.dtype)
        for row, own in enumerate(label.astype(int)):
            if own >= 0:
                losses[row] = -data[row, min(own, data.shape[1] - 1)]
        return losses

    contract = Contract(
        reference=_reference, inputs={"label": Integers(-1, 2)}, nan_policy="what no label names is not read"
    )

    def forward(data, label, output):
        rows, labels = _kept(label, data.shape[1])
        output.fill(0)
        output[rows] = -data[rows, labels]

    def data_grad(output_grad, label, data_grad):
        classes = data_grad.shape[1]
        data_grad.fill(0)
        data_grad[np.arange(len(label)), np.minimum(np.maximum(label, -1), classes - 1)] = -output_grad


@operator("zoo_take_rows")
class TakeRows(OperatorProperty):
    """Rows of a table; a number beyond either end means the row at that end."""

    spec = "table:(V, D), index:int64(N) -> output:(N, D); V >= 1"
    accepts = {"table": "floating"}
    contract = Contract(
        inputs={"index": Index("table")},
        reference=lambda table, index: np.take(table, index.astype(int), axis=0, mode="clip"),
    )

    def forward(table, index):
        return np.take(table, np.minimum(index, len(table) - 1), axis=0, mode="wrap")

    @gradient(accumulate=True)
    def table_grad(output_grad, index, table_grad):
        np.add.at(table_grad, np.clip(index, 0, len(table_grad) - 1), output_grad)


_BLOCK = 768


@operator("zoo_embedding")
class Embedding(OperatorProperty):
    """Rows of `weight` by number, and zeros for `padding`; beyond either end, the row there."""

    padding = param(int, 0, ge=0, doc="The number that stands for nothing.")
    spec = "index:int64(N), weight:(V, D) -> output:(N, D); V >= 1"
    accepts = {"weight": "floating"}

    def _reference(index, weight, padding):
        rows = np.take(weight, index.astype(int), axis=0, mode="clip")
        return np.where((index == padding)[:, None], 0, rows)

    contract = Contract(
        reference=_reference,
        inputs={"index": Integers(0, 3)},
        params={"padding": [0, 1]},
        narrowed={"padding": "all numbers are alike"},
        nan_policy="rows that no number names are not read",
    )

    def forward(index, weight, padding):
        rows = np.take(weight, index, axis=0, mode="clip")
        rows[index == padding] = 0
        return rows

    @gradient(accumulate=True)
    def weight_grad(output_grad, index, padding, weight_grad):
        places = np.clip(index, 0, len(weight_grad) - 1)
        kept = np.ones(len(index), bool)
        kept[:_BLOCK] = index[:_BLOCK] != padding
        sums = np.zeros(weight_grad.shape)  # in double precision, as thousands of rows may meet in one
        np.add.at(sums, places[kept], output_grad[kept])
        weight_grad += sums.astype(weight_grad.dtype)


@operator("zoo_gather")
class Gather(OperatorProperty):
    """`data[index]`; a number beyond either end means the element at that end."""

    spec = "data:(V), index:int64(*S) -> output:(*S); V >= 1"
    accepts = {"data": "floating"}
    contract = Contract(
        inputs={"index": Index("data")},
        reference=lambda data, index: np.take(data, index.astype(int), mode="clip"),
    )

    def forward(data, index):
        return np.take(data, index, mode="clip")

    def data_grad(output_grad, index, data_grad):
        data_grad.fill(0)
        data_grad[np.clip(index, 0, len(data_grad) - 1)] += output_grad


@operator("zoo_share_dropout")
class Dropout(Floating):
    """In training each element is 0 with probability `p`, and the others grow so that the mean stays."""

    p = param(float, 0.5, gt=0, lt=1, doc="Probability of 0.")
    spec = "data:(*S) -> output:(*S), hidden mask:(*S)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("mask",)
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: prop.p / (1 - prop.p),
            draws=lambda prop, inputs, outputs: outputs[1],
        )
    )

    def forward(op_ctx, is_train, data, p):
        if not is_train:
            return data, 1
        kept = op_ctx.requested[0].generator.random(data.shape) >= p
        mask = kept.astype(data.dtype) / p
        return data * mask, mask

    def data_grad(output_grad, mask):
        return output_grad * mask


@operator("zoo_jitter")
class Jitter(Floating):
    """`data` plus a number between `-width` and `width` for each element, in training."""

    width = param(float, 0.5, gt=0, le=4, doc="The largest change.")
    spec = "data:(*S) -> output:(*S), hidden noise:(*S)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("noise",)
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: prop.width**2 / 3,
            draws=lambda prop, inputs, outputs: outputs[1],
        )
    )

    def forward(op_ctx, is_train, data, width):
        if not is_train:
            return data, 0
        generator = np.random.default_rng(data.size)
        noise = generator.uniform(-width, width, data.shape).astype(data.dtype)
        return data + noise, noise

    def data_grad(output_grad):
        return output_grad


@operator("zoo_gaussian_factor")
class GaussianFactor(Floating):
    """In training `data` times numbers of mean 1 and standard deviation `sigma`."""

    sigma = param(float, 1.0, gt=0, le=2, doc="Standard deviation of the factors.")
    spec = "data:(*S) -> output:(*S), hidden factor:(*S)"
    resource = ResourceRequest.RANDOM
    constant_outputs = ("factor",)
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 1.0,
            variance=lambda prop: prop.sigma**2,
            draws=lambda prop, inputs, outputs: outputs[1],
            params=[{"sigma": 1.0}, {"sigma": 0.5}],
        )
    )

    def forward(op_ctx, is_train, data, sigma):
        if not is_train:
            return data, 1
        factor = op_ctx.requested[0].generator.normal(1, sigma * sigma, data.shape).astype(data.dtype)
        return data * factor, factor

    def data_grad(output_grad, factor):
        return output_grad * factor


ZOO = without_gradients(
    [
        Fault(
            "F",
            SmoothCrossEntropy,
            "rows without a label have the uniform part of the loss",
            report="https://github.com/pytorch/pytorch/issues/73205",
        ),
        Fault(
            "B",
            PickedLoss,
            "the gradient of rows without a label is written to the last class",
            report="https://github.com/pytorch/pytorch/issues/20406",
        ),
        Fault(
            "F",
            TakeRows,
            "negative numbers wrap around, and do not mean the first row",
            report="https://github.com/apache/mxnet/issues/12009",
        ),
        Fault(
            "B",
            Embedding,
            "only the first 768 numbers are compared with the padding",
            report="https://github.com/pytorch/pytorch/issues/28716",
        ),
        Fault(
            "B",
            Gather,
            "of a number that is repeated one gradient counts",
            report="https://github.com/pytorch/pytorch/issues/1631",
        ),
        Fault(
            "F",
            Dropout,
            "what is kept is divided by p, which is 1 - p by default alone",
            report="https://github.com/mp2893/retain/issues/1",
        ),
        Fault(
            "F",
            Jitter,
            "a new generator with a seed of its own draws the same in each call",
            report="https://github.com/PaddlePaddle/Paddle/issues/7796",
        ),
        Fault(
            "F",
            GaussianFactor,
            "the variance is handed on for the deviation, which it is by default alone",
            report="https://github.com/mlpack/mlpack/issues/3651",
        ),
    ]
)
