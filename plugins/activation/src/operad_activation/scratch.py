"""Memory for the steps of a function that may work in place."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def scratch(out: Array, *arrays: Array) -> Array:
    """An array like `out` to write while all of `arrays` are still needed: `out` itself if that may be."""
    if any(np.may_share_memory(out, array) for array in arrays):
        return np.empty_like(out)
    return out
