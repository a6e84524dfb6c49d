"""Files come in through one door: regular, within the limits, and with errors that name them."""

from __future__ import annotations

import gzip
import os
import socket

import numpy as np
import pytest

from operad import config
from operad.errors import FormatError, LimitError, OperadError
from operad.files import check_file, opened, parse_json, read_bytes, read_lines, read_text


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


READERS = pytest.mark.parametrize("read", [read_bytes, read_text, read_all_lines])


def test_files_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("ä\nb".encode())
    assert read_bytes(path, "it") == "ä\nb".encode()
    assert read_text(path, "it") == "ä\nb"
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
    with pytest.raises(FormatError, match="pipe"):
        check_file(tmp_path / "pipe", "it")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(OperadError):
            read(tmp_path / "socket", "it")


@pytest.mark.parametrize("read", [read_text, read_all_lines])
def test_text_that_is_no_utf_8_is_a_format_error(read, tmp_path):
    (tmp_path / "file").write_bytes(b"abc\xff")
    with pytest.raises(FormatError, match="the list 'x': byte 3 is no UTF-8"):
        read(tmp_path / "file", "the list 'x'")


def test_a_file_without_end_is_refused_by_its_size(tmp_path, limit):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 42)
    for read in (read_bytes, read_text):
        with pytest.raises(LimitError, match="OPERAD_MAX_"):
            read(path, "it")
    with pytest.raises(LimitError, match="OPERAD_MAX_TEXT_BYTES"):
        check_file(path, "it")
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


@pytest.mark.parametrize("text", ["{", b"\xff", "NaN", "[1e400, Infinity]", "[" * 10**6, "9" * 5000])
def test_text_that_is_no_json_is_a_format_error(text):
    with pytest.raises(FormatError, match="settings: this is not JSON"):
        parse_json(text, "settings")


def test_long_json_is_refused_before_it_is_parsed(limit):
    limit(max_text_bytes=10)
    with pytest.raises(LimitError, match="OPERAD_MAX_TEXT_BYTES"):
        parse_json("[" + "1," * 10, "settings")


def test_reading_leaves_no_descriptor_open(tmp_path):
    (tmp_path / "file").write_bytes(b"x\n" * 3)
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for read in (read_bytes, read_text, read_all_lines):
        read(tmp_path / "file", "it")
        with pytest.raises(FormatError):
            read(tmp_path / "pipe", "it")
    assert len(os.listdir("/proc/self/fd")) == before
