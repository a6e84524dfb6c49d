"""Arrays over blocks, where there is no memory for them."""

from __future__ import annotations

import numpy as np
import pytest

from operad.storage.cpu import CpuDevice


def test_an_array_is_writable_or_not_made() -> None:
    hooks = pytest.importorskip("_testcapi", reason="this Python cannot make allocations fail")
    device, dtype = CpuDevice(), np.dtype("float32")
    buffer, made, failed = np.zeros(64, np.uint8), [], 0
    for number in range(12):
        hooks.set_nomemory(number, number + 1)
        try:
            made.append(device.view(buffer, (4, 4), dtype))
        except MemoryError:
            failed += 1
        finally:
            hooks.remove_mem_hooks()
    assert failed
    assert all(array.flags.writeable for array in made)
