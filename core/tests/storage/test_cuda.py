"""GPU memory: the device-independent part over NumPy, the rest where there is a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import Context
from operad.storage import Storage
from operad.storage.cuda import ArrayModuleDevice

F32 = np.dtype(np.float32)


def numpy_device(trims: list[str]) -> ArrayModuleDevice:
    return ArrayModuleDevice(lambda size_bytes: np.empty(size_bytes, np.uint8), lambda: trims.append("trim"))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (16,), (2, 3), (4, 2, 2)])
def test_views_of_an_array_module_have_the_shape_asked_for(shape: tuple[int, ...]) -> None:
    device = numpy_device([])
    block = device.allocate(64)
    view = device.view(block, shape, F32)
    assert (view.shape, view.dtype) == (shape, F32)
    assert np.shares_memory(view, block) == (view.size > 0)


def test_views_that_do_not_fit_are_refused() -> None:
    device = numpy_device([])
    with pytest.raises(ValueError, match="68 bytes requested, 64 available"):
        device.view(device.allocate(64), (17,), F32)


def test_storage_pools_blocks_of_an_array_module() -> None:
    trims: list[str] = []
    manager = Storage(lambda ctx: numpy_device(trims))
    ctx = Context("gpu", 0)
    handle = manager.alloc(100, ctx)
    manager.free(handle)
    assert manager.alloc(100, ctx) is handle
    manager.free(handle)
    manager.release_all(ctx)
    assert trims == ["trim"]
    assert manager.stats(ctx).pooled_bytes == 0


@pytest.mark.gpu
def test_gpu_blocks_are_cupy_arrays_and_go_back() -> None:
    import cupy

    manager, ctx = Storage(), Context("gpu", 0)
    handle = manager.alloc(1 << 20, ctx)
    array = handle.array((4, 4), F32)
    array[:] = 2
    assert isinstance(array, cupy.ndarray)
    assert handle.buffer.data.ptr % 64 == 0
    assert float(array.sum()) == 32.0
    manager.free(handle)
    assert manager.alloc(1 << 20, ctx) is handle
    manager.free(handle)
    del array, handle
    manager.release_all(ctx)
    assert cupy.get_default_memory_pool().total_bytes() == 0


@pytest.mark.gpu
def test_pinned_blocks_are_numpy_arrays() -> None:
    array = Storage().alloc(4096, Context("cpu_pinned", 0)).array((32, 32), F32)
    array[:] = 1
    assert isinstance(array, np.ndarray)
    assert array.sum() == 1024
