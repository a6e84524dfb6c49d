"""`mx.util`: whether 0 in a shape means unknown, and settings of the environment.

MXNet 1.x's NumPy arrays (`mx.np`) have no counterpart, so neither do `np_array` and `use_np`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from operad import num_gpus
from operad.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])


def is_np_shape() -> bool:
    """Whether 0 in a shape is a length; False: it means unknown."""
    return False


def is_np_array() -> bool:
    """Whether arrays are MXNet's NumPy arrays; never."""
    return False


def set_np_shape(active: bool) -> bool:
    """Switch what 0 in a shape means; gives what it meant.

    Raises:
        ArgumentError: For True: unknown lengths are None here, and lengths of 0 are written as they are.
    """
    if active:
        raise ArgumentError(
            "np_shape: 0 in a shape of a symbol means unknown here, as in MXNet 1.x by default"
        )
    return False


def getenv(name: str) -> str | None:
    """A variable of the environment; None if it is not set."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set a variable of the environment, or remove it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def get_gpu_count() -> int:
    """How many GPUs there are."""
    return num_gpus()
