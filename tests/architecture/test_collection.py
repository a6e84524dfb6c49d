"""Every process collects the same tests by the same names, which is what lets several share them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.workspace import ROOT


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_names_of_tests_depend_neither_on_the_clock_nor_on_the_hash_seed() -> None:
    first = _collected(hash_seed="1")
    second = _collected(hash_seed="2")  # and some seconds later

    assert first == second
    assert len(first) > 40_000


def _collected(*, hash_seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "slow or not slow", "-p", "no:xdist"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]
