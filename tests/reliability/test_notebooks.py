"""Interrupts in a real notebook kernel: each stops its cell, and the next cell computes."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.reliability import processes

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(importlib.util.find_spec("ipykernel") is None, reason="ipykernel is not installed"),
]

LOOPS = ("tanh", "train", "push", "step")


def _interrupt(loop: str, count: int, seed: int) -> None:
    done = processes.run(
        "-m", "tests.reliability.laboratory.jupyter", loop, "--count", str(count), "--seed", str(seed)
    )
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert seen == [{"ended": "KeyboardInterrupt: ", "used": "ok"}] * count, done.stderr


@pytest.mark.parametrize("loop", ["train", "push"])
def test_interrupts_stop_their_cells(loop: str) -> None:
    _interrupt(loop, 6, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loop", LOOPS)
def test_thirty_interrupts_of_a_kernel_stop_their_cells(loop: str, seed: int) -> None:
    _interrupt(loop, 30, seed)
