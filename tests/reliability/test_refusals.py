"""Every operator answers what it cannot take with an `OperadError`, before memory or time is gone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.reliability.processes import environment

pytestmark = pytest.mark.slow


def test_every_operator_refuses_what_it_cannot_take_by_an_operad_error() -> None:
    program = [sys.executable, "-W", "ignore", "-X", "faulthandler", "-m", "tests.reliability.refusals"]
    done = subprocess.run(
        program, env=environment(num_threads=1), capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *problems, count = [json.loads(line) for line in done.stdout.splitlines()]
    assert problems == []
    assert count > 20_000
