"""Right forward passes, and what goes with them, of operators of the zoo that are wrong or unusual elsewhere.

Each is a base without a name; the operators that extend it add their gradients.
"""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, param
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64


class Square(OperatorProperty):
    """The square of matrices."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """The square."""
        return data * data


class Product(OperatorProperty):
    """The product of two arrays of one shape."""

    spec = "lhs:(N), rhs:(N) -> output:(N)"

    def forward(lhs, rhs):
        """The product."""
        return lhs * rhs


class MatrixProduct(InFloat32):
    """A matrix product."""

    spec = "lhs:(N, K), rhs:(K, M) -> output:(N, M)"

    def forward(lhs, rhs):
        """The product."""
        return lhs @ rhs

    def lhs_grad(output_grad, rhs):
        """Right."""
        return output_grad @ rhs.T

    def rhs_grad(output_grad, lhs):
        """Right."""
        return lhs.T @ output_grad


class BatchedProduct(OperatorProperty):
    """Products of matrices, one for each item."""

    spec = "lhs:(B, N, K), rhs:(B, K, M) -> output:(B, N, M)"

    def forward(lhs, rhs):
        """The products."""
        return lhs @ rhs

    def lhs_grad(output_grad, rhs):
        """Right."""
        return output_grad @ np.swapaxes(rhs, 1, 2)


class AffineMap(OperatorProperty):
    """Affine map of rows; the bias is optional."""

    def forward(data, weight, bias):
        """The product, and the bias."""
        return data @ weight.T + (0 if bias is None else bias)

    def data_grad(output_grad, weight):
        """Right."""
        return output_grad @ weight

    def weight_grad(output_grad, data):
        """Right."""
        return output_grad.T @ data


class Scaled(Floating):
    """The data times a scale."""

    def forward(data, scale):
        """The product."""
        return data * scale

    def data_grad(output_grad, scale):
        """Right."""
        return output_grad * scale


class GramMatrix(InFloat64):
    """A product with the second transposed."""

    spec = "lhs:(N, D), rhs:(M, D) -> output:(N, M)"

    def forward(lhs, rhs):
        """The product."""
        return lhs @ rhs.T

    def rhs_grad(output_grad, lhs):
        """Right."""
        return output_grad.T @ lhs


class RowsPlusBias(OperatorProperty):
    """Rows plus a bias."""

    spec = "data:(N, D), bias:(D) -> output:(N, D)"

    def forward(data, bias):
        """The sum."""
        return data + bias


class RowProduct(OperatorProperty):
    """Product of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        """The product."""
        return data.prod(1)


class RunningProduct(OperatorProperty):
    """Products of each row so far."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """The products."""
        return np.cumprod(data, 1)


class RunningSum(OperatorProperty):
    """Sums of each row so far."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """The sums."""
        return np.cumsum(data, 1)


class RunningMaximum(Floating):
    """The largest of a vector so far."""

    spec = "data:(D + 1) -> output:(D + 1)"

    def forward(data):
        """The largest."""
        return np.maximum.accumulate(data)


class Determinant(InFloat64):
    """Determinant of each matrix of 2 x 2."""

    spec = "data:(N, 2, 2) -> output:(N)"

    def forward(data):
        """The determinant."""
        return data[:, 0, 0] * data[:, 1, 1] - data[:, 0, 1] * data[:, 1, 0]


class LargestOfRow(Floating):
    """The largest of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        """The largest."""
        return data.max(1)


class LargestMagnitude(Floating):
    """The largest magnitude of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        """The largest."""
        return abs(data).max(1)


class SortedRows(Floating):
    """Rows in ascending order."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """Sorted."""
        return np.sort(data, 1)


class TopTwo(Floating):
    """Sum of the two largest of each row."""

    spec = "data:(N, D + 2) -> output:(N)"

    def forward(data):
        """The sum."""
        return np.sort(data, 1)[:, -2:].sum(1)


class Margin(Floating):
    """How far the two largest of a row are apart."""

    spec = "data:(N, D + 2) -> output:(N)"

    def forward(data):
        """The difference."""
        order = np.sort(data, 1)
        return order[:, -1] - order[:, -2]


class LargerNeighbour(Floating):
    """The larger of each two neighbours."""

    spec = "data:(N, W + 1) -> output:(N, W)"

    def forward(data):
        """The larger."""
        return np.maximum(data[:, 1:], data[:, :-1])


class Hat(OperatorProperty):
    """A hat around 0 of one width."""

    width = param(float, 1.0, gt=0, le=2, doc="Of it.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, width):
        """The hat."""
        return np.maximum(0, 1 - abs(data) / width)


class PlaceOfSmallest(OperatorProperty):
    """Where the smallest of each row is first."""

    accepts = "number"
    spec = "data:(N, D + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: np.argmin(data, axis=1))


class EmbeddedRows(OperatorProperty):
    """Rows of a table by number; number 0 gives zeros."""

    accepts = {"table": "floating"}
    spec = "index:any(N), table:(V + 1, D) -> output:(N, D)"
    contract = Contract(inputs={"index": Index("table")})


class LessMovingMean(InFloat64):
    """The data less a moving mean, which training moves."""

    spec = "data:(N + 1, C); aux mean:(C) -> output:(N + 1, C)"
    contract = Contract(
        reference=lambda data, mean, is_train: (
            data - mean,
            (mean + data.mean(0)) / 2 if is_train else mean,
        )
    )

    def data_grad(output_grad):
        """Right."""
        return output_grad
