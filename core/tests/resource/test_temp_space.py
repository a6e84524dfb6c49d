"""Temp space: grows on demand, and holds nothing anyone may rely on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad.device import cpu
from operad.engine import NaiveEngine
from operad.resource import TempSpace
from operad.storage import Storage

F32 = np.dtype(np.float32)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", np.int64, F32])
def test_a_space_has_the_shape_and_type_asked_for(shape: tuple[int, ...], dtype: object) -> None:
    space = TempSpace(cpu(), NaiveEngine(), Storage()).get_space(shape, dtype)
    assert space.shape == shape
    assert space.dtype == np.dtype(dtype)  # type: ignore[call-overload]
    assert space.flags.writeable


def test_memory_grows_to_the_largest_space_and_is_reused() -> None:
    storage = Storage()
    temp = TempSpace(cpu(), NaiveEngine(), storage)
    for count in (16, 1000, 16, 500, 1000):
        temp.get_space((count,), F32)[:] = 1
    stats = storage.stats(cpu())
    assert stats.in_use_bytes == 4096
    assert stats.allocations == 2


def test_every_call_gives_the_same_memory() -> None:
    temp = TempSpace(cpu(), NaiveEngine(), Storage())
    large = temp.get_space((100,), F32)
    small = temp.get_space((10,), np.int32)
    assert np.shares_memory(large, small)


def test_released_memory_goes_back_and_the_space_works_on() -> None:
    storage = Storage()
    temp = TempSpace(cpu(), NaiveEngine(), storage)
    temp.get_space((100,), F32)
    temp.release()
    temp.release()
    assert storage.stats(cpu()).in_use_bytes == 0
    assert temp.get_space((100,), F32).shape == (100,)


def test_debug_poisons_the_space_each_time(setting: Callable[[str, str], None]) -> None:
    setting("OPERAD_DEBUG", "1")
    temp = TempSpace(cpu(), NaiveEngine(), Storage())
    temp.get_space((10,), F32)[:] = 1
    assert np.isnan(temp.get_space((10,), F32)).all()
