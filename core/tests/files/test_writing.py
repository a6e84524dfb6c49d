"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
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


KILLED = """
import os, signal, sys
from operad.files import write_atomically
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "waits":
    os.fsync = lambda *_: (print(flush=True), input())
write_atomically(sys.argv[1], bytes(1000))
"""


def begun(path, how):
    """A process that writes a file, and is killed before the file has its name."""
    command = [sys.executable, "-c", KILLED, str(path), how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def make_old(folder):
    for path in folder.iterdir():
        os.utime(path, (0, 0))


@pytest.mark.skipif(os.name != "posix", reason="locks of files are POSIX ones")
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_there(tmp_path):
    begun(tmp_path / "file", "ends").communicate()
    (left,) = tmp_path.iterdir()
    write_atomically(tmp_path / "file", b"new")
    assert left.exists()  # young, its writer might be between two calls
    make_old(tmp_path)
    write_atomically(tmp_path / "another", b"new")
    assert sorted(os.listdir(tmp_path)) == ["another", "file"]


@pytest.mark.skipif(os.name != "posix", reason="locks of files are POSIX ones")
def test_what_a_process_is_writing_stays_however_long_it_takes(tmp_path):
    with begun(tmp_path / "file", "waits") as writer:
        assert writer.stdout.readline()
        make_old(tmp_path)
        write_atomically(tmp_path / "another", b"new")
        assert len(os.listdir(tmp_path)) == 2
        writer.communicate("go on")
    make_old(tmp_path)
    write_atomically(tmp_path / "another", b"new")
    assert os.listdir(tmp_path) == ["another"]


@pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX ones")
def test_what_has_the_name_of_a_leftover_and_is_none_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / ".operad-1.tmp")
    (tmp_path / ".operad-2.tmp").mkdir()
    (tmp_path / ".operad-3.tmp").symlink_to("kept")
    (tmp_path / "kept").write_bytes(b"kept")
    make_old(tmp_path)
    write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "kept").read_bytes() == b"kept"
