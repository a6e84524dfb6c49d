"""Arrays to record with."""

from __future__ import annotations

import numpy as np

from operad import nd

A, B = np.float32([0.5, -1, 2]), np.float32([3, 4, -5])


def variable(values, grad_req="write"):
    """An array that is recorded."""
    x = nd.array(values)
    x.attach_grad(grad_req)
    return x
