"""Data files come in through the same door, within the budgets of the process."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from core.tests.files.rules import RULES
from operad.errors import FormatError, LimitError
from operad_files import opened, read_bytes, read_lines


def read_all_lines(path, what):
    return list(read_lines(path, what))


READERS = pytest.mark.parametrize("read", [read_bytes, read_all_lines])


def test_files_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("ä\nb".encode())
    assert read_bytes(path, "it") == "ä\nb".encode()
    assert list(read_lines(path, "it")) == [(1, "ä\n"), (2, "b")]


@RULES
@READERS
def test_a_reader(rule, read, tmp_path):
    rule(read, tmp_path)


def test_text_that_is_no_utf_8_is_a_format_error(tmp_path):
    (tmp_path / "file").write_bytes(b"abc\xff")
    with pytest.raises(FormatError, match="the list 'x': byte 3 is not UTF-8"):
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
