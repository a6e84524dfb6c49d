"""Files of caches: the digest, the folder, kinds of files, and every call of the system that may fail."""

from __future__ import annotations

import errno
import os
import random
import socket
import stat
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from operad import config
from operad.errors import OperadError
from operad.files import cache

CONTENT = bytes(range(256)) * 20
POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions, pipes and links are POSIX ones")


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path / "cache"))
    config.reload()
    cache._warned.clear()
    yield tmp_path / "cache" / "kernels" / "some.o"
    monkeypatch.undo()
    config.reload()


@contextmanager
def one_warning(message=""):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert str(warning.message).startswith("computing without the cache (OPERAD_CACHE_DIR): ")
    assert message in str(warning.message)


def loads_nothing(path, message):
    """Nothing is found, and that is said once, whatever is asked for afterwards."""
    with one_warning(message):
        assert cache.load(path) is None
        assert cache.load(path) is None
        cache.save(path.with_name("another"), CONTENT)


def test_what_was_saved_is_loaded(path):
    assert cache.load(path) is None
    cache.save(path, CONTENT)
    assert cache.load(path) == CONTENT
    cache.save(path, b"")
    assert cache.load(path) == b""
    assert [one.name for one in path.parent.iterdir()] == ["some.o"]


@POSIX
def test_folders_are_made_for_this_user_alone(path):
    before = os.umask(0)
    try:
        cache.save(path, CONTENT)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:2]] == [0o700, 0o700]


WHOLE = len(CONTENT) + 65
DAMAGES = {
    "empty": lambda whole: b"",
    "without a content": lambda whole: whole[:65],
    "of one byte": lambda whole: whole[:1],
    "half": lambda whole: whole[: WHOLE // 2],
    "without the last byte": lambda whole: whole[:-1],
    "with one byte more": lambda whole: whole + b"0",
    "without a digest": lambda whole: CONTENT,
    "of zeros": lambda whole: bytes(WHOLE),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_none_and_is_written_anew(path, damage):
    cache.save(path, CONTENT)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    loads_nothing(path, "is damaged")
    cache.save(path, CONTENT)
    assert cache.load(path) == CONTENT


def test_any_flipped_bit_is_seen(path):
    cache.save(path, CONTENT)
    whole = path.read_bytes()
    draw = random.Random(0)
    for position in [*range(66), *(draw.randrange(WHOLE) for _ in range(300))]:
        flipped = bytearray(whole)
        flipped[position] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(OperadError, match="is damaged"):
            cache.read(path)


def test_a_file_under_the_name_of_another_is_none(path):
    cache.save(path, CONTENT)
    other = path.with_name("other.o")
    path.rename(other)
    loads_nothing(other, "is damaged, or operad has not written it there")


def pipe(path):
    os.mkfifo(path)


def listening(path):
    os.chdir(path.parent)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def link(path):
    path.symlink_to(path.with_name("content"))
    path.with_name("content").write_bytes(cache._with_digest(path, CONTENT))


@POSIX
@pytest.mark.parametrize(
    ("place", "message"),
    [
        (pipe, "is a pipe"),
        (listening, ""),
        (link, "is damaged, or operad has not written it there"),
        (lambda path: path.symlink_to("/dev/zero"), "is a pipe, a device"),
        (lambda path: path.symlink_to("nowhere"), "No such file"),
        (lambda path: path.symlink_to(path.name), "symbolic links"),
        (lambda path: path.mkdir(), "it is a folder"),
    ],
    ids=["pipe", "socket", "link to a right content", "link to a device", "broken link", "circle", "folder"],
)
def test_what_is_no_file_of_its_own_is_none_and_makes_no_thread_wait(path, place, message, monkeypatch):
    monkeypatch.chdir(Path.cwd())
    cache.save(path.with_name("first"), CONTENT)
    place(path)
    loads_nothing(path, message)
    is_folder = path.is_dir()
    cache.save(path, CONTENT)
    assert cache.load(path) == (None if is_folder else CONTENT)


@POSIX
@pytest.mark.parametrize("above", [0, 1, 2])
@pytest.mark.parametrize("mode", [0o777, 0o707])
def test_a_folder_that_others_may_write_to_or_replace_is_not_used(path, above, mode):
    cache.save(path, CONTENT)
    folder = path.parents[above]
    folder.chmod(mode)
    try:
        loads_nothing(path, f"other users may write to {str(folder)!r}")
        with pytest.raises(PermissionError, match=r"chmod go-w.*, or set OPERAD_CACHE_DIR"):
            cache.write(path, CONTENT)
    finally:
        folder.chmod(0o700)
    assert cache.load(path) == CONTENT


@POSIX
def test_a_parent_in_which_nobody_can_rename_what_others_own_is_fine(path):
    cache.save(path, CONTENT)
    path.parents[1].chmod(0o1777)
    assert cache.load(path) == CONTENT
    path.parents[0].chmod(0o1777)
    loads_nothing(path, "other users may write to")


@POSIX
def test_a_link_to_a_folder_counts_as_that_folder(path, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "cache").symlink_to("elsewhere")
    cache.save(path, CONTENT)
    assert cache.load(path) == CONTENT
    (tmp_path / "elsewhere").chmod(0o777)
    loads_nothing(path, str(tmp_path / "elsewhere"))


@POSIX
def test_a_folder_of_another_user_is_not_used(path, monkeypatch):
    cache.save(path, CONTENT)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    loads_nothing(path, "other users may write to")


@POSIX
def test_a_group_of_the_users_own_may_write(path, monkeypatch):
    cache.save(path, CONTENT)
    path.parents[1].chmod(0o770)
    status = path.parents[1].stat()
    others = os.stat_result([*status[:4], status.st_uid, status.st_uid + 7, *status[6:]])
    own = os.stat_result([*status[:4], status.st_uid, status.st_uid, *status[6:]])
    real = Path.stat
    found = own
    monkeypatch.setattr(
        Path, "stat", lambda self, **how: found if self == path.parents[1] else real(self, **how)
    )
    assert cache.load(path) == CONTENT
    found = others
    loads_nothing(path, str(path.parents[1]))


@POSIX
@pytest.mark.parametrize(("owner", "is_used"), [(0, True), (None, True), (12345, False)])
def test_a_parent_is_the_users_or_the_systems(path, owner, is_used, monkeypatch):
    cache.save(path, CONTENT)
    parent, real = path.parents[1], Path.stat
    status = parent.stat()
    owned = os.stat_result([*status[:4], status.st_uid if owner is None else owner, *status[5:]])
    monkeypatch.setattr(Path, "stat", lambda self, **how: owned if self == parent else real(self, **how))
    if is_used:
        assert cache.load(path) == CONTENT
    else:
        loads_nothing(path, str(parent))


def test_a_folder_that_is_gone_is_made_again(path, tmp_path):
    cache.save(path, CONTENT)
    (tmp_path / "cache").rename(tmp_path / "gone")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load(path) is None
    cache.save(path, CONTENT)
    assert cache.load(path) == CONTENT


def test_a_file_in_the_place_of_the_folder_is_no_obstacle(path, tmp_path):
    (tmp_path / "cache").write_text("")
    loads_nothing(path, "File exists")


def test_a_file_that_goes_while_it_is_looked_for_is_none(path, monkeypatch):
    cache.save(path, CONTENT)
    path.unlink()
    monkeypatch.setattr(os.path, "lexists", lambda path: True)
    loads_nothing(path, "No such file")


def test_a_program_in_which_warnings_are_errors_computes(path):
    cache.save(path, CONTENT)
    path.write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load(path) is None


ERRORS = [errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE]


def refuse(monkeypatch, call, error):
    """Make a call of the system fail."""

    def refusing(*args, **kwargs):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, call, refusing)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["open", "fdopen", "fsync", "replace", "mkdir", "fstat", "stat"])
def test_whatever_call_fails_while_a_file_is_written_no_half_of_it_is_found(path, call, error, monkeypatch):
    cache.save(path.with_name("first"), CONTENT)
    with monkeypatch.context() as patch, one_warning() if call not in ("mkdir", "fstat") else nullcontext():
        refuse(patch, call, error)
        cache.save(path, CONTENT)
    assert [one.name for one in path.parent.iterdir() if one.name != "some.o"] == ["first"]
    assert cache.load(path) in (None, CONTENT)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["open", "fdopen", "fstat", "stat"])
def test_whatever_call_fails_while_a_file_is_read_it_is_none(path, call, error, monkeypatch):
    cache.save(path, CONTENT)
    with one_warning(os.strerror(error)), monkeypatch.context() as patch:
        refuse(patch, call, error)
        assert cache.load(path) is None
    assert cache.load(path) == CONTENT


class Full:
    """A file on a disk that is full: the bytes go, or the flush does."""

    def __init__(self, file, call):
        self._file, self._call = file, call

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._file.close()

    def __getattr__(self, name):
        if name == self._call:
            raise OSError(errno.ENOSPC, "No space left on device")
        return getattr(self._file, name)


@pytest.mark.parametrize("call", ["write", "flush"])
def test_a_disk_that_is_full_keeps_the_file_that_was_there(path, call, monkeypatch):
    cache.save(path, CONTENT)
    real = os.fdopen
    with monkeypatch.context() as patch, one_warning("No space left"):
        patch.setattr(os, "fdopen", lambda *args, **how: Full(real(*args, **how), call))
        cache.save(path, CONTENT[::-1])
    assert cache.load(path) == CONTENT
    assert [one.name for one in path.parent.iterdir()] == ["some.o"]


def test_file_and_folder_are_on_the_disk_before_and_after_the_name_is(path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def noted(*args, name=name, real=real):
            what = "" if name == "replace" else stat.S_ISDIR(os.fstat(args[0]).st_mode)
            calls.append({"": "renamed", True: "folder", False: "file"}[what])
            return real(*args)

        monkeypatch.setattr(os, name, noted)
    cache.save(path, CONTENT)
    assert calls == ["file", "renamed", "folder"]
