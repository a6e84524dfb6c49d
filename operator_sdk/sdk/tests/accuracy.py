"""Errors of computed functions, in units of the last place."""

from __future__ import annotations

import numpy as np


def errors_in_ulps(found, exact):
    """Errors where exact results are finite, and which these are; elsewhere, results are exactly IEEE's.

    Args:
        found: Results in some type.
        exact: The right results in a wider type, `longdouble`.
    """
    with np.errstate(all="ignore"):
        rounded = exact.astype(found.dtype)
    finite = np.isfinite(rounded)
    # Infinities, NaN and the sign of zero are exactly IEEE's.
    np.testing.assert_array_equal(found[~finite], rounded[~finite])
    is_zero = rounded == 0
    np.testing.assert_array_equal(np.signbit(found[is_zero]), np.signbit(rounded[is_zero]))
    with np.errstate(over="ignore"):
        unit = np.spacing(np.abs(rounded[finite])).astype(np.longdouble)
    return np.abs(found[finite].astype(np.longdouble) - exact[finite]) / unit, finite
