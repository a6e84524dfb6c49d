"""`_zeros`, `_ones` and `_full`: arrays of one value."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, Output, operator, param


class _Filled(OperatorProperty):
    """What arrays of one value have in common."""

    has_gradient = False
    shape = param("shape", (), doc="Shape of the output.")
    ctx = param(str, "", doc="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(*shape)"


@operator("_zeros")
class Zeros(_Filled):
    """An array of zeros.

    Shapes:
        output: `shape`, of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.zeros((1, 3)).asnumpy()
        array([[0., 0., 0.]], dtype=float32)

    Source: InitOpParam, src/operator/tensor/init_op.h.
    """

    contract = Contract(reference=lambda shape: np.full(shape, 0.0))

    def forward(self, output: Output) -> None:
        """Fill with 0."""
        output.assign(output.dtype.type(0))


@operator("_ones")
class Ones(_Filled):
    """An array of ones.

    Shapes:
        output: `shape`, of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.ones((2,), dtype="int32").asnumpy()
        array([1, 1], dtype=int32)

    Source: InitOpParam, src/operator/tensor/init_op.h.
    """

    contract = Contract(reference=lambda shape: np.full(shape, 1.0))

    def forward(self, output: Output) -> None:
        """Fill with 1."""
        output.assign(output.dtype.type(1))


@operator("_full")
class Full(_Filled):
    """An array of one value.

    Shapes:
        output: `shape`, of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.full((2,), 1.5).asnumpy()
        array([1.5, 1.5], dtype=float32)

    Source: InitOpWithScalarParam, src/operator/tensor/init_op.h.
    """

    value = param(float, doc="The value of every element.")
    contract = Contract(reference=lambda shape, value: value * np.ones(shape))

    def forward(self, output: Output) -> None:
        """Fill with `value`."""
        output.assign(output.dtype.type(self.value))
