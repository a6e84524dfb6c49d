"""Products, windows and matrices: optional arguments, symmetric domains, windows that end beyond the data."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import PositiveDefinite
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_outer")
class Outer(Floating):
    """Products of all pairs."""

    spec = "lhs:(N), rhs:(M) -> output:(N, M)"

    def forward(lhs, rhs):
        return lhs[:, None] * rhs

    def lhs_grad(output_grad, rhs):
        return output_grad @ rhs

    def rhs_grad(output_grad, lhs):
        return lhs @ output_grad


@operator("zoo_right_log_determinant")
class LogDeterminant(OperatorProperty):
    """Logarithm of the determinant of positive definite matrices."""

    accepts = ("float32", "float64")
    compute_dtype = None
    spec = "data:(N, D + 1, D + 1) -> output:(N)"
    contract = Contract(inputs={"data": PositiveDefinite()})

    def forward(data):
        return np.linalg.slogdet(data)[1]

    def data_grad(output_grad, data):
        return output_grad[:, None, None] * np.swapaxes(np.linalg.inv(data), 1, 2)


@operator("zoo_right_convolved")
class Convolved(InFloat64):
    """Weighted sums of windows."""

    stride = param(int, 1, ge=1, le=3, doc="Distance of windows.")
    pad = param(int, 0, ge=0, le=2, doc="Zeros at each end.")
    spec = "data:(N, W + K), weight:(K + 1) -> output:(N, (W + 2*pad + stride - 1)//stride)"

    def _windows(data, size, stride, pad):
        padded = np.pad(data, ((0, 0), (pad, pad)))
        return np.lib.stride_tricks.sliding_window_view(padded, size, 1)[:, ::stride]

    def forward(data, weight, output, stride, pad):
        windows = Convolved._windows(data, len(weight), stride, pad) if output.size else None
        if windows is not None:
            output[...] = windows[:, : output.shape[1]] @ weight

    def data_grad(output_grad, weight, data_grad, stride, pad):
        wide = np.zeros((data_grad.shape[0], data_grad.shape[1] + 2 * pad), data_grad.dtype)
        for place, factor in enumerate(weight):
            end = place + stride * output_grad.shape[1]
            wide[:, place:end:stride][:, : output_grad.shape[1]] += factor * output_grad
        data_grad[...] = wide[:, pad : pad + data_grad.shape[1]]

    def weight_grad(output_grad, data, weight_grad, stride, pad):
        padded = np.pad(data, ((0, 0), (pad, pad)))
        for place in range(len(weight_grad)):
            end = place + stride * output_grad.shape[1]
            weight_grad[place] = (padded[:, place:end:stride][:, : output_grad.shape[1]] * output_grad).sum()


@operator("zoo_right_largest_of_pairs")
class LargestOfPairs(Floating):
    """The larger of each two neighbours, an odd one left out."""

    spec = "data:(N, W) -> output:(N, W//2)"

    def forward(data, output):
        pairs = data[:, : 2 * output.shape[1]]
        output[...] = np.maximum(pairs[:, ::2], pairs[:, 1::2])

    def data_grad(output_grad, data, data_grad):
        width = output_grad.shape[1]
        is_first = data[:, : 2 * width : 2] >= data[:, 1 : 2 * width : 2]
        data_grad[...] = 0
        data_grad[:, : 2 * width : 2] = output_grad * is_first
        data_grad[:, 1 : 2 * width : 2] = output_grad * ~is_first


@operator("zoo_right_attention")
class Attention(InFloat64):
    """Means of values, weighted by how well keys answer queries."""

    spec = "query:(N, D), key:(M + 1, D), value:(M + 1, E) -> output:(N, E), hidden weight:(N, M + 1)"

    def forward(query, key, value, output, weight):
        scores = query @ key.T
        powers = np.exp(scores - scores.max(1, keepdims=True))
        weight[...] = powers / powers.sum(1, keepdims=True)
        output[...] = (powers / powers.sum(1, keepdims=True)) @ value

    def backward(output_grad, query, key, value, weight, query_grad, key_grad, value_grad):
        inner = output_grad @ value.T
        scores_grad = weight * (inner - (inner * weight).sum(1, keepdims=True))
        query_grad[...] = scores_grad @ key
        key_grad[...] = scores_grad.T @ query
        value_grad[...] = weight.T @ output_grad


ZOO = [
    Right(Outer, "every pair"),
    Right(LogDeterminant, "symmetric matrices with positive eigenvalues"),
    Right(Convolved, "windows of a signal with zeros around, at a distance"),
    Right(LargestOfPairs, "the largest of windows, with ties to the first"),
    Right(Attention, "scores, probabilities and a weighted mean in one"),
]
