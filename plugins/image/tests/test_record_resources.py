"""Threads and descriptors that iterators of records give back."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from core.tests.threads import names_left
from operad.errors import FormatError
from plugins.image.tests.test_record_iter import iterator


@pytest.mark.serial
def test_an_iterator_that_is_closed_or_forgotten_leaves_no_threads(records: Path) -> None:
    closed, forgotten = iterator(records), iterator(records)
    closed.next()
    forgotten.next()
    closed.close()
    del forgotten
    gc.collect()
    assert names_left("operad-images") == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are listed on Linux alone")
def test_a_file_that_is_refused_is_closed_without_the_collector(records: Path) -> None:
    damaged = bytearray(records.read_bytes())
    start = damaged.find(b"\xff\xd8")  # of the first image
    damaged[start : start + 2] = b"no"
    records.write_bytes(damaged)

    def read() -> None:
        with pytest.raises(FormatError, match="is nothing that operad decodes"):
            list(iterator(records, batch_size=1, preprocess_threads=1))

    gc.collect()
    gc.disable()
    try:
        read()
        assert names_left("operad-images") == []
        opened = [os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")]
    finally:
        gc.enable()
    assert str(records) not in opened
