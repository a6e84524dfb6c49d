"""Arrays that gradients flow to."""

from __future__ import annotations

from operad import nd
from operad.ndarray import NDArray


def variable(values: object) -> NDArray:
    """A new array with a gradient."""
    x = nd.array(values)
    x.attach_grad()
    return x
