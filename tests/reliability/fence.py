"""Memory of arrays beside pages that may not be touched, as a plugin of pytest.

    python -m pytest -p tests.reliability.fence plugins/reduce

Each array that operad allocates on the host ends where such a page begins, so whatever reads or writes behind
it, of NumPy, numba or vector code, ends the process. Arrays inside larger blocks, as of bound graphs, end
there where they are the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad.storage.cpu import CpuDevice
from operator_sdk.sdk.tests.vector.guarded import guarded


def _allocate(_: CpuDevice, capacity_bytes: int) -> Any:
    return guarded((capacity_bytes,), np.uint8)


def _view(_: CpuDevice, buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    size_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, buffer, len(buffer) - size_bytes)


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Have the host's memory so."""
    CpuDevice.allocate, CpuDevice.view = _allocate, _view  # type: ignore[method-assign]
