"""`_contrib_count_sketch`: a random projection that keeps inner products."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_sdk import Array, Contract, Drawn, OperatorProperty, blocked_sum, operator, param


def _sketch(data: Array, h: Array, s: Array, out_dim: int) -> Array:
    """A matrix with one entry in each row."""
    matrix = np.zeros((data.shape[-1], out_dim))
    matrix[np.arange(len(matrix)), h[0].astype(int)] = s[0]
    return data @ matrix


def _positions(rng: np.random.Generator, shape: Any, prop: Any, shapes: Any) -> Array:
    return rng.integers(0, prop.out_dim, shape).astype(np.float64)


@operator("_contrib_count_sketch")
class CountSketch(OperatorProperty):
    """`output[n, h[i]]` is the sum of `s[i] data[n, i]` over all i of one `h[i]`.

    With random positions `h` and random signs `s`, inner products of sketches are those of the data on
    average. After Charikar, Chen and Farach-Colton, "Finding frequent items in data streams", 2002, and
    Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", 2013.

    Shapes:
        data: (..., D).
        h: (1, D), integers from 0 to below `out_dim`.
        s: (1, D), 1 or -1.
        output: (..., out_dim).

    Example:
        >>> import operad as od
        >>> data, h, s = od.nd.array([[1, 2, 3]]), od.nd.array([[0, 2, 0]]), od.nd.array([[1, -1, 1]])
        >>> od.nd._contrib_count_sketch(data, h, s, out_dim=4).asnumpy()
        array([[ 4.,  0., -2.,  0.]], dtype=float32)

    Source: CountSketchOp, src/operator/contrib/count_sketch-inl.h. Differs: MXNet has it on GPUs alone,
    gives `s` no gradient, and does not check `h`.
    """

    out_dim = param(int, ge=1, doc="Length of the sketch.")
    processing_batch_size = param(int, 32, ge=1, doc="Rows that are projected at once.")
    spec = "data:(*N, D), h:(1, D), s:(1, D) -> output:(*N, out_dim)"
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 5
    contract: ClassVar = Contract(reference=_sketch, inputs={"h": Drawn(_positions)})

    def forward(
        op_ctx: Any, data: Array, h: Array, s: Array, out_dim: int, processing_batch_size: int
    ) -> Array:
        """Sums of double precision, some rows at a time."""
        positions, before = _checked(h, out_dim), data.shape[:-1]
        rows = data.reshape(prod(before), data.shape[-1])
        sums = op_ctx.xp.empty((len(rows), out_dim), data.dtype)
        for start in range(0, len(rows), processing_batch_size):
            part = rows[start : start + processing_batch_size] * s
            firsts = op_ctx.xp.arange(len(part)).reshape(-1, 1) * out_dim
            found = np.bincount((firsts + positions).ravel(), part.ravel(), len(part) * out_dim)
            sums[start : start + processing_batch_size] = found.reshape(-1, out_dim)
        return sums.reshape(*before, out_dim)

    def data_grad(output_grad: Array, h: Array, s: Array, data_grad: Array) -> None:
        """`d/d data`: each element gets the gradient of its position, times its sign."""
        np.multiply(output_grad.take(h[0].astype(np.intp), axis=-1), s[0], out=data_grad)

    def s_grad(output_grad: Array, data: Array, h: Array) -> Array:
        """`d/d s`: the data times the gradients of their positions, summed over the rows."""
        heads = output_grad.take(h[0].astype(np.intp), axis=-1)
        return blocked_sum(data * heads, tuple(range(data.ndim - 1))).reshape(1, -1)


def _checked(h: Array, out_dim: int) -> Array:
    """The positions as indices.

    Raises:
        IndexOutOfRangeError: One is outside the sketch.
    """
    if h.size and not bool(((h >= 0) & (h < out_dim)).all()):
        raise IndexOutOfRangeError(
            f"_contrib_count_sketch: h has elements between {h.min():g} and {h.max():g}, expected 0 to "
            f"{out_dim - 1}, below out_dim"
        )
    return h[0].astype(np.intp)
