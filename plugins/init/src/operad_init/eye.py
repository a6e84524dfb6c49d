"""`_eye`: a matrix with ones on one diagonal."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, operator, param


@operator("_eye")
class Eye(OperatorProperty):
    """A matrix of zeros with ones on diagonal `k`.

    Shapes:
        output: (N, M), of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.eye(2, 3, k=1).asnumpy()
        array([[0., 1., 0.], [0., 0., 1.]], dtype=float32)

    Source: EyeParam, src/operator/tensor/init_op.h.
    """

    N = param(int, ge=0, doc="Number of rows.")
    M = param(int, 0, ge=0, doc="Number of columns; 0: as many as rows.")
    k = param(int, 0, doc="The diagonal: 0 is the main one, above it they are positive.")
    ctx = param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(N, M if M else N)"
    contract = Contract(reference=lambda N, M, k: np.eye(N, M or N, k))  # noqa: N803 - the parameters' names

    def forward(output: Array, op_ctx: OpContext, k: int) -> None:
        """Made whole and copied."""
        output[...] = op_ctx.xp.eye(*output.shape, k, dtype=output.dtype)
