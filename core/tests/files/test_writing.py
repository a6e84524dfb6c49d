"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from operad.errors import OperadError
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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_what_takes_the_place_of_a_private_file_is_never_open_to_others(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes, fchmod = [], os.fchmod

    def noted(descriptor, mode):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fchmod(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", noted)
    write_atomically(path, b"new")
    assert modes == [0o600]


def test_contents_are_on_the_disk_before_the_name_and_the_name_after(tmp_path, monkeypatch):
    steps, fsync, replace = [], os.fsync, os.replace

    def noted(descriptor):
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def renamed(*paths):
        steps.append("rename")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", renamed)
    write_atomically(tmp_path / "file", b"x")
    assert steps == ["file", "rename", "folder"]


def test_an_error_names_what_was_written_and_is_one_of_ours(tmp_path):
    with pytest.raises(OperadError, match=r"writing '.*/no/file': No such file"):
        write_atomically(tmp_path / "no" / "file", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match=r"writing '.*/folder'"):
        write_atomically(tmp_path / "folder", b"x")
