"""Handles: arrays over blocks."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import cpu
from operad.errors import StorageError
from operad.storage import Handle, Storage

F32, I64 = np.dtype(np.float32), np.dtype(np.int64)


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (0, 5), (1, 2, 3)])
def test_an_array_has_the_shape_and_type_asked_for(storage: Storage, shape: tuple[int, ...]) -> None:
    array = storage.alloc(64, cpu()).array(shape, F32)
    assert array.shape == shape
    assert array.dtype == F32
    assert array.flags.c_contiguous
    assert array.flags.writeable


def test_arrays_of_one_handle_share_its_memory(storage: Storage) -> None:
    handle = storage.alloc(64, cpu())
    handle.array((8,), I64)[:] = -1
    assert handle.array((16,), F32).view(np.int32).tolist() == [-1] * 16
    assert handle.buffer.tolist() == [255] * 64


def test_the_last_array_is_kept(storage: Storage) -> None:
    handle = storage.alloc(64, cpu())
    array = handle.array((4, 4), F32)
    assert handle.array((4, 4), F32) is array
    assert handle.array((4, 4), np.dtype(np.int32)).dtype == np.int32
    assert handle.array((4, 4), F32).dtype == F32
    assert handle.array((16,), F32).shape == (16,)


def test_the_array_survives_a_turn_in_the_pool(storage: Storage) -> None:
    handle = storage.alloc(64, cpu())
    array = handle.array((4, 4), F32)
    storage.free(handle)
    assert storage.alloc(64, cpu()).array((4, 4), F32) is array


def test_an_array_that_does_not_fit_is_refused(storage: Storage) -> None:
    handle = storage.alloc(60, cpu())
    with pytest.raises(StorageError, match=r"shape \(17,\).*64 bytes"):
        handle.array((17,), F32)
    with pytest.raises(StorageError, match="does not fit"):
        handle.array((2, -1), F32)


def test_a_handle_says_what_it_is(storage: Storage) -> None:
    handle = storage.alloc(60, cpu(1))
    assert repr(handle) == "<Handle of 60 bytes on cpu(1), in use>"
    storage.free(handle)
    assert repr(handle) == "<Handle of 60 bytes on cpu(1), freed>"


class Record:
    """What a holder of blocks keeps with one."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_a_record_stays_with_its_block_until_the_block_goes_back_to_the_system(storage: Storage) -> None:
    handle, record = storage.alloc(64, cpu()), Record()
    handle.record = record
    storage.free(handle)
    again = storage.alloc(64, cpu())
    assert (again.record, record.is_closed) == (record, False)
    storage.free(again)
    storage.release_all(cpu())
    assert (again.record, record.is_closed) == (None, True)


def test_a_handle_has_one_slot_for_what_the_storage_does_not_know(storage: Storage) -> None:
    own = {"buffer", "capacity_bytes", "ctx", "free_list", "freed", "pool", "size_bytes", "_cached"}
    assert {*Handle.__slots__} - own == {"record"}


def test_an_unknown_attribute_is_an_attribute_error(storage: Storage) -> None:
    assert not hasattr(storage.alloc(60, cpu()), "address")
