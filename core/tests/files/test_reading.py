"""Files come in through one door: regular, within the limits, and with errors that name them."""

from __future__ import annotations

import os

import pytest

from core.tests.files.rules import RULES
from operad.errors import FormatError, LimitError
from operad.files import check_bytes, check_file, parse_json, read_bytes, read_text

READERS = pytest.mark.parametrize("read", [read_bytes, read_text])


def test_files_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("ä\nb".encode())
    assert read_bytes(path, "it") == "ä\nb".encode()
    assert read_text(path, "it") == "ä\nb"


@RULES
@READERS
def test_a_reader(rule, read, tmp_path):
    rule(read, tmp_path)


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="pipe"):
        check_file(tmp_path / "pipe", "it")


def test_text_that_is_no_utf_8_is_a_format_error(tmp_path):
    (tmp_path / "file").write_bytes(b"abc\xff")
    with pytest.raises(FormatError, match="the list 'x': byte 3 is not UTF-8"):
        read_text(tmp_path / "file", "the list 'x'")


def test_a_file_without_end_is_refused_by_its_size(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 42)
    for read in (read_bytes, read_text):
        with pytest.raises(LimitError, match="OPERAD_MAX_"):
            read(path, "it")
    with pytest.raises(LimitError, match="OPERAD_MAX_TEXT_BYTES"):
        check_file(path, "it")


def test_a_part_of_a_file_beyond_the_limit_is_refused_by_its_setting(limit):
    check_bytes(11, "a record")
    limit(max_file_bytes=10)
    with pytest.raises(LimitError, match=r"a record asks for 11 bytes.*OPERAD_MAX_FILE_BYTES"):
        check_bytes(11, "a record")


@pytest.mark.parametrize("text", ["{", b"\xff", "NaN", "[1e400, Infinity]", "[" * 10**6, "9" * 5000])
def test_text_that_is_no_json_is_a_format_error(text):
    with pytest.raises(FormatError, match="settings: this is not JSON"):
        parse_json(text, "settings")


def test_long_json_is_refused_before_it_is_parsed(limit):
    limit(max_text_bytes=10)
    with pytest.raises(LimitError, match="OPERAD_MAX_TEXT_BYTES"):
        parse_json("[" + "1," * 10, "settings")
