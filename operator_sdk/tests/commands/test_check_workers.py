from __future__ import annotations

import os

import pytest

from operad import config
from operad_sdk.commands.check.workers import checked
from operator_sdk.tests.commands.check_jobs import describe, die

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


def test_a_process_that_dies_is_a_result_for_each_operator():
    found = dict(checked(NAMES, None, 2, die))
    assert sorted(found) == sorted(NAMES)
    assert all("died; check it alone with --jobs 1" in result for result in found.values())
