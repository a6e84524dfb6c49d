from __future__ import annotations

import os

import pytest

from operad import config
from operad_check.commands.check.workers import _without_harness, checked
from operator_sdk.check.tests.commands.check_jobs import describe, end_badly

pytestmark = pytest.mark.serial

NAMES = ["one", "two", "three"]


@pytest.fixture
def four_threads(monkeypatch):
    monkeypatch.setenv("OPERAD_NUM_THREADS", "4")
    config.reload()
    yield
    monkeypatch.undo()
    config.reload()


def run(names, jobs, check, **options):
    return {found.name: found for found in checked(names, None, jobs, check, **options)}


@pytest.mark.parametrize("names", [["one"], NAMES])
def test_each_operator_has_a_process_of_its_own(names):
    pids = {found.report["pid"] for found in run(names, 1, describe).values()}
    assert len(pids) == len(names)
    assert os.getpid() not in pids


def test_jobs_share_the_threads(four_threads):
    assert {found.report["threads"] for found in run(NAMES, 2, describe).values()} == {2}


def test_a_process_that_dies_is_the_result_of_its_operator_and_the_others_go_on():
    found = run(["one", "exits", "leaves", "crashes", "two"], 2, end_badly)
    assert found["exits"].end.startswith(
        "the process that checked it ended with exit code 3, after check F201"
    )
    assert "ended with exit code 0" in found["leaves"].end, "an early exit looks like a success"
    assert "ended with SIGSEGV, after check F201" in found["crashes"].end
    assert "check_jobs.py" in found["crashes"].end, "where it was is not shown"
    assert [found[name].report["name"] for name in ("one", "two")] == ["one", "two"]


def test_what_was_found_before_the_end_stays():
    (found,) = checked(["exits"], None, 1, end_badly)
    assert found.told == [{"check_id": "F201"}]


@pytest.mark.more
def test_a_process_that_hangs_is_stopped_and_shows_where_it_was():
    found = run(["hangs"], 1, end_badly, limit_s=3.0)
    assert "was stopped after 3 s, after check F201" in found["hangs"].end
    assert "in wait_for_ever" in found["hangs"].end


def test_what_an_operator_prints_is_kept_beside_its_report():
    (found,) = checked(["prints"], None, 1, end_badly)
    assert found.printed == "a line\nand one from below\n"
    assert found.report["name"] == "prints"


def test_what_a_check_raises_is_its_result():
    assert run(["raises"], 1, end_badly)["raises"].report.endswith("ZeroDivisionError: raises\n")


def test_a_trace_shows_the_operators_frames_and_not_the_harness():
    trace = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/home/me/acme_ops/crop.py", line 7 in forward\n'
        '  File "/venv/site-packages/operad_check/trials/trial.py", line 150 in forward\n'
        '  File "/venv/site-packages/hypothesis/core.py", line 9 in run\n'
        '  File "/usr/lib/python3.11/multiprocessing/process.py", line 3 in run\n'
    )
    assert _without_harness(trace).splitlines()[2:] == [
        "Current thread 0x1 (most recent call first):",
        '  File "/home/me/acme_ops/crop.py", line 7 in forward',
    ]
