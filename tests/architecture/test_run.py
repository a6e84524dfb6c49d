"""Runs of the suite: the tests that stand first, the order, and the traces of a process that dies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.workspace import ROOT

_TESTS = """
import os
import signal

import pytest


def test_one(): pass


@pytest.mark.parametrize("number", range(4))
def test_many(number): pass


@pytest.mark.serial
def test_alone(): pass


@pytest.mark.more
def test_beside(): pass


@pytest.mark.more
@pytest.mark.long
def test_a_minute(): pass


@pytest.mark.slow
def test_that_crashes(): os.kill(os.getpid(), signal.SIGSEGV)
"""
MANY = [f"test_many[{number}]" for number in range(4)]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder of few tests under the workspace's settings."""
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "test_few.py").write_text(_TESTS)
    return tmp_path


def run(suite: Path, *words: str) -> list[str]:
    """The lines that pytest prints."""
    words = ("-p", "no:cacheprovider", "-o", "testpaths=test_few.py", *words)
    command = [sys.executable, "-m", "pytest", *words]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, check=False, cwd=suite, env=settings, capture_output=True, text=True)
    return done.stdout.splitlines()


def order(suite: Path, *words: str) -> list[str]:
    lines = run(suite, "--collect-only", "-q", *words)
    return [line.partition("::")[2] for line in lines if "::" in line]


def test_serial_tests_stand_in_front(suite: Path) -> None:
    assert order(suite) == ["test_alone", "test_one", *MANY]


def test_long_tests_stand_behind_these_in_any_order(suite: Path) -> None:
    for words in ((), ("--order", "reversed"), ("--order", "7")):
        assert order(suite, "-m", "not slow", *words)[:2] == ["test_alone", "test_a_minute"]


def test_a_reversed_run_is_reversed_behind_them(suite: Path) -> None:
    assert order(suite, "--order", "reversed") == ["test_alone", *reversed(MANY), "test_one"]


def test_a_seed_gives_one_shuffle_and_another_seed_another(suite: Path) -> None:
    first, again, other = (order(suite, "--order", seed) for seed in ("7", "7", "8"))
    assert first == again != other
    assert first[0] == other[0] == "test_alone"
    assert sorted(first) == sorted(["test_alone", "test_one", *MANY])


def test_a_process_that_crashes_is_reported_with_its_test_and_the_others_go_on(suite: Path) -> None:
    lines = run(suite, "-m", "", "-n", "2", "--dist", "worksteal")
    assert "'test_few.py::test_that_crashes'" in "\n".join(lines)
    assert "1 failed, 8 passed" in lines[-1]


_WALK = """
import pytest


@pytest.fixture(params=["a", "b"])
def kind(request): return request.param


@pytest.mark.walk
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize(("name", "limit"), [("low", 2), ("high", 9)])
def test_rows(number, name, limit, kind):
    if number == 4:
        pytest.skip("of a machine")
    assert number < limit or kind == "b"
"""


def test_a_walk_is_one_test_and_names_the_rows_that_fail(suite: Path) -> None:
    (suite / "test_few.py").write_text(_WALK)
    assert order(suite) == ["test_rows[a]", "test_rows[b]"]
    lines = run(suite)
    assert "1 failed, 1 passed" in lines[-1]
    rows = [line[1:].partition(": AssertionError")[0].strip() for line in lines if line.startswith("E  ")]
    assert [row for row in rows if row.startswith("{")] == [
        "{'name': 'low', 'limit': 2, 'number': 2}",
        "{'name': 'low', 'limit': 2, 'number': 3}",
    ]


def test_a_row_of_a_walk_has_no_mark_of_its_own(suite: Path) -> None:
    (suite / "test_few.py").write_text(_WALK.replace("range(5)", "[pytest.param(1, id='one')]"))
    assert "a row of a walk has no mark and no id" in "\n".join(run(suite))


_ENDLESS = """
import os
import threading

import pytest


@pytest.mark.parametrize("number", range(3))
def test_many(number): pass


@pytest.fixture
def hanging():
    yield
    threading.Event().wait()


def test_whose_clean_up_hangs(hanging): assert FAILS != 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_that_forks():
    pid = os.fork()
    os.waitpid(pid, 0) if pid else os._exit(0)


def test_that_hangs(): threading.Event().wait()
"""


@pytest.mark.parametrize("fails", [0, 1])
@pytest.mark.parametrize("test", ["test_whose_clean_up_hangs", "test_that_hangs"])
def test_a_test_that_hangs_ends_the_process_with_a_trace(suite: Path, test: str, fails: int) -> None:
    (suite / "test_endless.py").write_text(f"FAILS = {fails}{_ENDLESS}")
    words = ("-p", "no:cacheprovider", "-o", "timeout=0", "-o", "watchdog_timeout=2", "test_endless.py")
    words = (*words, "-k", f"test_many or test_that_forks or {test}")
    command = [sys.executable, "-m", "pytest", *words]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, check=False, cwd=suite, env=settings, capture_output=True, text=True)
    assert done.returncode == 1
    assert "test_endless.py" in done.stdout
    assert "Timeout (0:00:02)!" in done.stderr
    assert "passed" not in done.stdout, "the process has ended before the summary"


def test_the_suite_leaves_out_what_is_marked_more_and_a_run_of_a_path_does_not(suite: Path) -> None:
    assert "test_beside" not in order(suite)
    assert "test_beside" in order(suite, "test_few.py")
    assert "test_beside" not in order(suite, "test_few.py", "-m", "not slow and not more")
    for words, count in (((), 6), (("test_few.py",), 8)):  # workers collect by themselves
        assert f"{count} passed" in run(suite, "-n", "1", *words)[-1]


def test_sources_of_compiled_loops_are_not_imported_without_numba(tmp_path: Path) -> None:
    (tmp_path / "absent_numba.py").write_text("import sys\nsys.modules['numba'] = None\n")
    sources = [str(folder) for folder in ROOT.glob("*/*/src")]
    words = ["-p", "no:cacheprovider", "-p", "absent_numba", "--collect-only", "-q", *sources]
    settings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, check=False, cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "operad_spatial_transformer/grid.py::" in done.stdout
