"""Products, windows and matrices: optional arguments, symmetric domains, windows that end beyond the data."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import PositiveDefinite
from operator_sdk.check.tests.zoo.bases import InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import AffineMap, EmbeddedRows


@operator("zoo_right_affine")
class Affine(AffineMap, InFloat32):
    """Affine map of rows."""

    num_hidden = param(int, ge=1, le=4, doc="Columns of the output.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    spec = "data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias -> output:(N, num_hidden)"

    def bias_grad(output_grad):
        return output_grad.sum(0)


@operator("zoo_right_product_of_matrices")
class ProductOfMatrices(InFloat32):
    """Products of matrices in a batch."""

    spec = "lhs:(*B, N, K), rhs:(*B, K, M) -> output:(*B, N, M)"

    def forward(lhs, rhs):
        return lhs @ rhs

    def lhs_grad(output_grad, rhs):
        return output_grad @ np.swapaxes(rhs, -1, -2)

    def rhs_grad(output_grad, lhs):
        return np.swapaxes(lhs, -1, -2) @ output_grad


@operator("zoo_right_bilinear")
class Bilinear(InFloat64):
    """`x^T A y` for rows."""

    spec = "lhs:(N, D), weight:(D, E), rhs:(N, E) -> output:(N)"

    def forward(lhs, weight, rhs):
        return np.einsum("nd,de,ne->n", lhs, weight, rhs)

    def lhs_grad(output_grad, weight, rhs):
        return output_grad[:, None] * (rhs @ weight.T)

    def weight_grad(output_grad, lhs, rhs):
        return (output_grad[:, None] * lhs).T @ rhs

    def rhs_grad(output_grad, lhs, weight):
        return output_grad[:, None] * (lhs @ weight)


@operator("zoo_right_solved")
class Solved(OperatorProperty):
    """The solution of positive definite systems."""

    accepts = ("float32", "float64")
    spec = "matrix:(N, D + 1, D + 1), data:(N, D + 1) -> output:(N, D + 1)"
    contract = Contract(inputs={"matrix": PositiveDefinite()})

    def forward(matrix, data):
        return np.linalg.solve(matrix, data[..., None])[..., 0]

    def backward(output_grad, output, matrix, matrix_grad, data_grad):
        back = np.linalg.solve(np.swapaxes(matrix, 1, 2), output_grad[..., None])[..., 0]
        data_grad[...] = back
        matrix_grad[...] = -back[:, :, None] * output[:, None, :]


@operator("zoo_right_smoothed")
class Smoothed(InFloat64):
    """Means of each element and its neighbours, fewer at the ends."""

    spec = "data:(N, W + 1) -> output:(N, W + 1)"

    def _sums(data):
        padded = np.pad(data, ((0, 0), (1, 1)))
        return padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]

    def forward(data):
        return Smoothed._sums(data) / Smoothed._sums(np.ones((1, data.shape[1])))

    def data_grad(output_grad):
        return Smoothed._sums(output_grad / Smoothed._sums(np.ones((1, output_grad.shape[1]))))


@operator("zoo_right_embedded")
class Embedded(EmbeddedRows):
    """Rows of a table by number; number 0 gives zeros."""

    def forward(index, table):
        number = _row_number(index, table)
        return np.where((number == 0)[:, None], 0, table[number]).astype(table.dtype)

    def table_grad(output_grad, index, table_grad):
        total = np.zeros(table_grad.shape)
        np.add.at(total, _row_number(index, table_grad), output_grad)
        total[0] = 0
        table_grad[...] = total


def _row_number(index, table):
    """Numbers count from either end, and go around."""
    return index.astype(np.intp) % len(table)


@operator("zoo_right_distances")
class Distances(InFloat64):
    """Squared distances of all pairs of rows."""

    spec = "lhs:(N, D), rhs:(M, D) -> output:(N, M)"

    def forward(lhs, rhs):
        return ((lhs[:, None] - rhs) ** 2).sum(2)

    def lhs_grad(output_grad, lhs, rhs):
        return 2 * (output_grad[:, :, None] * (lhs[:, None] - rhs)).sum(1, np.float64)

    def rhs_grad(output_grad, lhs, rhs):
        return -2 * (output_grad[:, :, None] * (lhs[:, None] - rhs)).sum(0, np.float64)


ZOO = [
    Right(Affine, "an argument that may be absent"),
    Right(ProductOfMatrices, "an inner axis that may be empty"),
    Right(Bilinear, "three arguments, all with gradients"),
    Right(Solved, "a system of equations"),
    Right(Smoothed, "means over as much of a window as there is"),
    Right(Embedded, "a row that is never trained"),
    Right(Distances, "distances, with 0 where points meet"),
]
