"""Arrays that programs of several libraries read and write."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def load(file: str) -> Iterator[Any]:
    """The two arrays of a file."""
    with np.load(file) as found:
        yield found["arr_0"]
        yield found["arr_1"]


def save(file: str, output: Any, gradient: Any) -> None:
    """Write an output, and the gradient of the first array."""
    np.savez(file, output, gradient)
