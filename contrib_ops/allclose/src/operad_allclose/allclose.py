"""`_contrib_allclose`: comparison of two arrays within a tolerance."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


def _reference(a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    """NumPy's definition."""
    return np.asarray(np.allclose(a.astype("float64"), b.astype("float64"), rtol, atol, equal_nan), "uint8")


@operator("_contrib_allclose")
class allclose(OperatorProperty):
    """1 if |a - b| <= atol + rtol |b| for all elements, else 0; there is no gradient.

    Equal infinities are close, and with `equal_nan` two NaN are. Arrays without elements are close.

    Shapes:
        a: Any.
        b: As a.
        output: (), of uint8.

    Example:
        >>> import operad as od
        >>> a, b = od.nd.array([1, 100]), od.nd.array([1, 101])
        >>> [int(od.nd._contrib_allclose(a, b, rtol=rtol).asnumpy()) for rtol in (0.001, 0.1)]
        [0, 1]

    Source: AllCloseParam, src/operator/contrib/allclose_op-inl.h.
    """

    rtol = param(float, 1e-5, doc="Tolerance per magnitude of b.")
    atol = param(float, 1e-8, doc="Tolerance of every element.")
    equal_nan = param(bool, True, doc="Treat two NaN as equal.")

    spec = "a:(...), b:(...) -> output:uint8()"
    element_cost = 12
    contract = Contract(
        reference=_reference,
        params={"rtol": (1e-5, 0.5, 0.0), "atol": (1e-8, 1.0, 0.0)},
    )

    def forward(self, a: Array, b: Array, rtol: float, atol: float, equal_nan: bool, output: Array) -> None:
        """Compare; equal elements first, as equal infinities differ by NaN and no tolerance is infinite."""
        dtype = np.result_type(a.dtype, "float32")
        magnitude = np.abs(b, dtype=dtype)
        close = np.abs(np.subtract(a, b, dtype=dtype)) <= atol + rtol * magnitude
        close &= np.isfinite(magnitude)
        close |= a == b
        if equal_nan:
            close |= np.isnan(a) & np.isnan(b)
        output[...] = close.all()
