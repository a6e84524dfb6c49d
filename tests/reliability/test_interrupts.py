"""Ctrl-C, hundreds of times at random moments, leaves the engine whole."""

from __future__ import annotations

import pytest

from tests.reliability.processes import run

pytestmark = [pytest.mark.slow, pytest.mark.serial]


@pytest.mark.parametrize("engine", ["threaded", "naive"])
def test_three_hundred_interrupts_leave_the_engine_whole(engine: str) -> None:
    done = run("-m", "core.tests.engine.interrupted", "300", engine=engine, num_threads=2)
    assert (done.stdout, done.stderr, done.returncode) == ("sound\n", "", 0)
