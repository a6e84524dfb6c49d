from __future__ import annotations

import os

import pytest

from operad import config
from operad_sdk.commands.check.workers import checked
from operator_sdk.tests.commands.check_jobs import describe, end_badly

pytestmark = pytest.mark.serial

NAMES = ["one", "two", "three"]


@pytest.fixture
def four_threads(monkeypatch):
    monkeypatch.setenv("OPERAD_NUM_THREADS", "4")
    config.reload()
    yield
    monkeypatch.undo()
    config.reload()


def test_one_job_runs_here_and_in_order():
    found = list(checked(NAMES, "ci", 1, describe))
    assert [name for name, _ in found] == NAMES
    assert {result["pid"] for _, result in found} == {os.getpid()}
    assert {result["profile"] for _, result in found} == {"ci"}


def test_one_operator_starts_no_process():
    ((_, result),) = checked(["one"], None, 8, describe)
    assert result["pid"] == os.getpid()


def test_several_jobs_run_elsewhere_and_share_the_threads(four_threads):
    found = dict(checked(NAMES, None, 2, describe))
    assert sorted(found) == sorted(NAMES)
    for name, result in found.items():
        assert result["name"] == name
        assert result["pid"] != os.getpid()
        assert result["threads"] == 2


def test_a_process_that_dies_is_the_result_of_its_operator_and_the_others_go_on():
    names = ["one", "exits", "two", "crashes", "three", "four"]
    found = dict(checked(names, None, 2, end_badly))
    assert sorted(found) == sorted(names)
    assert found["exits"].startswith(
        "the process that checked it died of an exit with code 3, after check F201; operad check exits"
    )
    assert "died of SIGSEGV, after check F201" in found["crashes"]
    assert "check_jobs.py" in found["crashes"], "where it was is not shown"
    assert all(found[name]["name"] == name for name in ("one", "two", "three", "four"))


def test_a_process_that_hangs_is_stopped_and_shows_where_it_was():
    found = dict(checked(["hangs", "one", "two"], None, 2, end_badly, limit_s=3.0))
    assert "was stopped after 3 s, after check F201" in found["hangs"]
    assert "in wait_for_ever" in found["hangs"]
    assert [found[name]["name"] for name in ("one", "two")] == ["one", "two"]


def test_what_a_check_raises_is_its_result():
    found = dict(checked(["raises", "one"], None, 2, end_badly))
    assert found["raises"].endswith("ZeroDivisionError: raises\n")
    assert found["one"]["name"] == "one"
