"""Every trouble with every kind of file that a cache writes: right values, one warning, no error."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager, suppress

import pytest

from core.tests.together import run_together
from operad import config
from operad.errors import OperadError
from operad.files import cache
from operad_sdk import cached_code
from operad_sdk.vector import machine
from operator_sdk.sdk.tests.cached_kinds import kinds
from operator_sdk.sdk.tests.vector_code import require_vector_code
from tools.workspace import ROOT

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(os.name != "posix", reason="permissions, pipes and links are POSIX ones"),
]
KINDS = ["kernel", "loop", "answers", "processor", "tune", "check"]
SOURCES = (
    "core/src/**/*.py",
    "operator_sdk/*/src/**/*.py",
    "plugins/*/src/**/*.py",
    "contrib_ops/*/src/**/*.py",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path / "cache"))
    config.reload()
    cache._warned.clear()
    yield tmp_path / "cache"
    monkeypatch.undo()
    config.reload()
    kinds(tmp_path)["tune"].use()


@pytest.fixture(params=KINDS)
def kind(request, folder, tmp_path):
    if (found := kinds(tmp_path).get(request.param)) is None:
        pytest.skip(
            "needs numba: pip install operad-sdk[fast]" if request.param == "loop" else "no vector code"
        )
    return found


def each_kind(name, values, among):
    """Parametrizes a test by kinds and values; what is compiled at length meets few in the fast suite."""
    cases = [
        pytest.param(kind, value, marks=pytest.mark.more if kind == "loop" and value not in among else ())
        for kind in KINDS
        for value in values
    ]
    return pytest.mark.parametrize(("kind", name), cases, indirect=["kind"])


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@contextmanager
def at_most_one_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(one.message) for one in caught if "without the cache" not in str(one.message)] == []
    assert len(caught) <= 1, [str(one.message) for one in caught]


def replaced(path, make):
    path.unlink()
    make(path)


def foreign(path):
    """Sound content of another name."""
    cache.write(path.with_name("another"), b"some")
    path.with_name("another").replace(path)


TROUBLES = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\xff"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "foreign": foreign,
    "gone": lambda path: path.unlink(),
    "folder gone": lambda path: shutil.rmtree(path.parent),
    "pipe": lambda path: replaced(path, os.mkfifo),
    "folder": lambda path: replaced(path, os.mkdir),
    "link": lambda path: replaced(path, lambda at: at.symlink_to("/dev/zero")),
    "writable": lambda path: path.parent.chmod(0o777),
    "writable parent": lambda path: path.parents[1].chmod(0o777),
    "no folder": lambda path: replaced_folder(path.parent),
}


def replaced_folder(folder):
    shutil.rmtree(folder)
    folder.write_text("")


@each_kind("trouble", TROUBLES, among=("truncated", "folder gone"))
def test_a_file_in_any_trouble_is_as_good_as_none(trouble, kind, folder, tmp_path):
    kind.keep()
    assert files(folder)
    try:
        for path in files(folder):
            if path.exists():
                TROUBLES[trouble](path)
        with at_most_one_warning():
            assert kind.use() == kind.without
            with suppress(OperadError):  # `operad tune` says that it cannot write
                kind.keep()
            kind.use()
    finally:
        for path in (tmp_path, folder):
            path.chmod(0o700)


CALLS = ["open", "fdopen", "fsync", "replace", "mkdir", "fstat", "stat"]


@contextmanager
def failing(call, error, folder):
    """A call of the system fails, where it concerns the cache."""
    real, opened, ours = getattr(os, call), os.open, set()

    def refuse(*args, **how):
        if args[0] in ours or str(args[0]).startswith(str(folder)):
            raise OSError(error, os.strerror(error))
        return real(*args, **how)

    def noted(path, *args, **how):
        descriptor = opened(path, *args, **how)
        (ours.add if str(path).startswith(str(folder)) else ours.discard)(descriptor)
        return descriptor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", noted)
        patch.setattr(os, call, refuse)
        yield


@each_kind("call", CALLS, among=("open", "replace"))
def test_whatever_call_of_the_system_fails_values_are_right(call, kind, folder):
    with at_most_one_warning(), failing(call, errno.ENOSPC, folder), suppress(OperadError):
        assert kind.use() == kind.without  # there is none
        kind.keep()
    kind.keep()
    assert files(folder)
    with at_most_one_warning(), failing(call, errno.EIO, folder):
        is_seen = call in ("open", "fdopen", "stat", "fstat")  # in reading
        assert not is_seen or kind.use() == kind.without


def test_no_flipped_bit_in_any_file_is_run_or_ends_the_process(kind, folder):
    draw = random.Random(0)
    for _ in range(8):
        kind.keep()
        for path in files(folder):
            flipped = bytearray(path.read_bytes())
            flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
            path.write_bytes(flipped)
        with at_most_one_warning():
            assert kind.use() == kind.without


def test_a_sound_file_is_used(kind, folder):
    kind.keep()
    counted = machine.statistics.compiled
    before = {path: path.stat().st_mtime_ns for path in files(folder)}
    value = kind.use()
    if kind.keep is not kind.use:
        assert value != kind.without
    assert machine.statistics.compiled == counted
    assert {path: path.stat().st_mtime_ns for path in files(folder)} == before


def test_threads_that_write_one_file_at_once_leave_a_whole_one(folder):
    path = folder / "kernels" / "some"
    contents = [bytes([number]) * 50_000 for number in range(4)]
    found = []

    def work(content):
        for _ in range(20):
            cache.save(path, content)
            found.append(cache.load(path) in contents)

    run_together(work, contents)
    assert found == [True] * 80
    assert files(folder) == [path]


def with_code(folder, count):
    """Files of 10,000 bytes, of which the first was read last, and the second written first."""
    paths = [folder / "kernels" / f"{number}.o" for number in range(count)]
    for number, path in enumerate(paths):
        cached_code.save(path, bytes(9_900))
        os.utime(path, (1000 if number == 0 else number, number))
    return paths


@pytest.mark.parametrize(("name", "kept"), [("00.o", [0, 7, 8, 9]), ("01.o", range(10))])
def test_code_that_was_used_longest_ago_goes_where_there_is_too_much(name, kept, folder, monkeypatch):
    monkeypatch.setattr(cached_code, "MOST_BYTES", 100_000)
    paths = with_code(folder, 10)
    cached_code.save(new := folder / "kernels" / name, bytes(9_900))
    assert files(folder) == sorted([*(paths[number] for number in kept), new])


@pytest.mark.parametrize("call", ["scandir", "unlink", "stat"])
def test_code_that_cannot_be_removed_stays(call, folder, monkeypatch):
    monkeypatch.setattr(cached_code, "MOST_BYTES", 1000)
    paths = with_code(folder, 3)
    with at_most_one_warning(), failing(call, errno.EIO, folder):
        cached_code.save(folder / "kernels" / "00.o", b"new")
    assert set(paths) <= set(files(folder))


WRITERS = {
    "operator_sdk/sdk/src/operad_sdk/vector/machine.py": "kernel",
    "operator_sdk/sdk/src/operad_sdk/vector/kept_processor.py": "processor",
    "operator_sdk/sdk/src/operad_sdk/jit.py": "loop",
    "operator_sdk/sdk/src/operad_sdk/declare/kept_answers.py": "answers",
    "operator_sdk/check/src/operad_check/commands/tune/command.py": "tune",
    "operator_sdk/check/src/operad_check/commands/check/last_run.py": "check",
}


def test_every_module_that_writes_into_the_cache_has_its_kind_here():
    found = {}
    for path in (path for pattern in SOURCES for path in ROOT.glob(pattern)):
        text = path.read_text("utf-8")
        if re.search(r"\b(cache(_files)?\.(save|write)|cached_code\.save)\(", text):
            found[path.relative_to(ROOT).as_posix()] = text
    assert found.pop("operator_sdk/sdk/src/operad_sdk/cached_code.py")  # which others write by
    assert found.keys() == WRITERS.keys()
    assert sorted(WRITERS.values()) == sorted(KINDS)


RACING = """
import sys
from pathlib import Path
from operator_sdk.sdk.tests.cached_kinds import kinds

print("ready", flush=True)
input()
for kind in kinds(Path(sys.argv[1])).values():
    for _ in range(5):
        kind.keep()
        value = kind.use()
        assert value == kind.without or kind.keep is not kind.use, value
        for path in Path(sys.argv[2]).rglob("*.*"):
            if path.is_file() and path.suffix != ".tmp":
                path.unlink(missing_ok=True)
"""


@pytest.mark.more
def test_processes_that_write_use_and_remove_one_file_at_once_compute_right_values(tmp_path):
    require_vector_code()
    folder = tmp_path / "cache"
    racing = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", RACING, str(tmp_path), str(folder)],
            env={**os.environ, "OPERAD_CACHE_DIR": str(folder)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    assert [process.stdout.readline() for process in racing] == ["ready\n"] * 3
    for process in racing:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[1] for process in racing]
    assert [process.returncode for process in racing] == [0, 0, 0], said


PROGRAM = """
import resource, sys
from pathlib import Path
from operator_sdk.sdk.tests.cached_kinds import kinds

for kind in kinds(Path(sys.argv[1])).values():
    if kind.keep is kind.use:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, -1))
        assert kind.use() == kind.without
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
"""


def test_a_process_that_may_write_no_large_files_computes(tmp_path):
    """As on a disk that is full, or beyond a quota."""
    require_vector_code()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "OPERAD_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    assert done.stderr.count("RuntimeWarning: computing without the cache") == 1
    assert "File too large" in done.stderr
    kept = [path.parent.name for path in files(tmp_path / "cache")]
    assert kept in ([], ["processor"])  # of before the limit
