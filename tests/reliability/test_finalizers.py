"""A finalizer may push and wait wherever Python runs it: it gets its value or an error, and nothing hangs."""

from __future__ import annotations

import json

import pytest

from tests.reliability.processes import run

pytestmark = pytest.mark.slow

ROUNDS = 2_000


@pytest.mark.parametrize(("engine", "workers"), [("threaded", 1), ("threaded", 4), ("naive", 1)])
def test_finalizers_that_push_and_wait_end_with_a_value_or_an_error(engine: str, workers: int) -> None:
    done = run("-m", "tests.reliability.finalizers", str(ROUNDS), engine=engine, num_threads=workers)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["wrong"] == 0
    assert seen["read"] + seen["refused"] == 4 * ROUNDS
    assert seen["sum"] == 8.0
