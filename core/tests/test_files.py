"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from operad.files import write_atomically


def test_content_is_written_and_nothing_is_left_beside_it(tmp_path):
    for content in (b"first", b"", b"second" * 1000):
        write_atomically(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    assert os.listdir(tmp_path) == ["file"]


def test_a_name_may_be_a_string_relative_and_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "n" * 250
    write_atomically(name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"


def test_a_new_file_has_the_permissions_the_umask_leaves(tmp_path):
    old = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_atomically(tmp_path / "file", b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "file", b"x")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_what_is_no_regular_file_is_written_to_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_atomically(tmp_path / "pipe", b"through")
    reader.join()
    assert received == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
