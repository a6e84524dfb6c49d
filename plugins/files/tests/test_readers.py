"""Data files come in through the same door, within the budgets of the process."""

from __future__ import annotations

import gzip
import os
import socket

import numpy as np
import pytest

from operad import config
from operad.errors import FormatError, LimitError, OperadError
from operad_files import opened, read_bytes, read_lines


@pytest.fixture
def limit(monkeypatch):
    def set_to(**limits):
        for name, value in limits.items():
            monkeypatch.setenv(f"OPERAD_{name.upper()}", str(value))
        config.reload()

    yield set_to
    monkeypatch.undo()
    config.reload()


def read_all_lines(path, what):
    return list(read_lines(path, what))


READERS = pytest.mark.parametrize("read", [read_bytes, read_all_lines])


def test_files_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("ä\nb".encode())
    assert read_bytes(path, "it") == "ä\nb".encode()
    assert list(read_lines(path, "it")) == [(1, "ä\n"), (2, "b")]


@READERS
def test_what_is_not_there_is_named_and_what_the_system_says(read, tmp_path):
    with pytest.raises(FileNotFoundError, match="the list 'x': No such file") as caught:
        read(tmp_path / "none", "the list 'x'")
    assert isinstance(caught.value, OperadError)
    with pytest.raises(IsADirectoryError, match="the list 'x': it is a folder") as caught:
        read(tmp_path, "the list 'x'")
    assert isinstance(caught.value, OperadError)


@READERS
def test_what_might_never_end_is_refused_at_once(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(FormatError, match=r"the list 'x' is a pipe, a device.*expected a regular file"):
            read(path, "the list 'x'")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(OperadError):
            read(tmp_path / "socket", "it")


def test_text_that_is_no_utf_8_is_a_format_error(tmp_path):
    (tmp_path / "file").write_bytes(b"abc\xff")
    with pytest.raises(FormatError, match="the list 'x': byte 3 is no UTF-8"):
        read_all_lines(tmp_path / "file", "the list 'x'")


def test_a_file_without_end_is_refused_by_its_size(tmp_path, limit):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(LimitError, match="OPERAD_MAX_FILE_BYTES"):
        read_bytes(path, "it")
    limit(max_text_bytes=100)
    with pytest.raises(LimitError, match="line 1 has more than 100"):
        list(read_lines(path, "it"))


def test_lines_are_counted_and_measured(tmp_path, limit):
    path = tmp_path / "lines"
    path.write_bytes(b"ab\n" * 10)
    limit(max_entries=9)
    with pytest.raises(LimitError, match="OPERAD_MAX_ENTRIES"):
        list(read_lines(path, "it"))
    limit(max_entries=10, max_text_bytes=3)
    assert len(list(read_lines(path, "it"))) == 10


def test_what_gzip_packed_is_given_as_it_was_up_to_the_limit(tmp_path, limit):
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(bytes(1000)))
    with opened(path, "it") as file:
        assert file.read(2) == b"\x1f\x8b"
    limit(max_expanded_bytes=1000)
    with opened(path, "it", growth=1.0) as file:
        assert file.read() == bytes(1000)
    with pytest.raises(LimitError, match="OPERAD_MAX_EXPANDED_BYTES"), opened(path, "it", growth=1.1) as file:
        file.read()


@pytest.mark.parametrize("damage", [slice(0, 20), slice(0, -1), slice(0, 11)])
def test_gzip_that_is_cut_short_is_a_format_error(damage, tmp_path):
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(np.random.default_rng(0).bytes(1000))[damage])
    with pytest.raises(FormatError, match="'x'"), opened(path, "the file 'x'", growth=1) as file:
        file.read()


def test_reading_leaves_no_descriptor_open(tmp_path):
    (tmp_path / "file").write_bytes(b"x\n" * 3)
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for read in (read_bytes, read_all_lines):
        read(tmp_path / "file", "it")
        with pytest.raises(FormatError):
            read(tmp_path / "pipe", "it")
    assert len(os.listdir("/proc/self/fd")) == before
