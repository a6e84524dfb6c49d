"""Training that is killed at any moment and resumed ends with the bits of training without a break."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import operad as od
from tests.reliability import resuming_images
from tests.reliability.processes import LIMIT_S, environment, run
from tests.reliability.resuming import EVERY, train

PROGRAM = "tests.reliability.resuming"
OF_IMAGES = "tests.reliability.resuming_images"
SYNCS = 4
"""Calls of `fsync` per checkpoint: weights, state, and the folder after each has got its name."""
FIRST = 6
"""Those of the first one, which writes the network too."""


def killed_after(folder: Path, epochs: int, batches: int, delay_s: float, program: str = PROGRAM) -> None:
    """Kill the program with SIGKILL some time after it has said that so many batches are done."""
    with subprocess.Popen(
        [sys.executable, "-m", program, str(folder), str(epochs)],
        env=environment(num_threads=2), stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        for _ in range(batches):
            child.stdout.readline()
        time.sleep(delay_s)  # the moment is the test's own choice, and nothing waits for anything
        child.kill()
        assert child.wait(LIMIT_S) in (-signal.SIGKILL, 0)


def killed_at_sync(folder: Path, epochs: int, number: int) -> None:
    """Kill the program at its `number`-th call of `fsync`."""
    assert run("-m", PROGRAM, str(folder), str(epochs), str(number)).returncode == -signal.SIGKILL


def finished(folder: Path, epochs: int, program: str = PROGRAM) -> str:
    """Let the program come to its end, and give what it prints last."""
    done = run("-m", program, str(folder), str(epochs))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_training_killed_twice_ends_as_training_without_a_break(tmp_path: Path) -> None:
    killed_after(tmp_path, 2, batches=EVERY + 1, delay_s=0.01)
    killed_at_sync(tmp_path, 2, number=FIRST - 1)  # a checkpoint's last file, which makes it one
    assert finished(tmp_path, 2) == train(None, 2)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_training_killed_at_twenty_random_moments_ends_as_training_without_a_break(tmp_path: Path) -> None:
    draws = random.Random(20)
    for _ in range(20):
        batches = draws.randrange(8)
        # Without a batch: while it starts, which takes seconds. Else while it trains, or writes.
        killed_after(tmp_path, 12, batches, delay_s=draws.uniform(0, 0.05 if batches else 5))
    assert finished(tmp_path, 12) == train(None, 12)


def test_training_on_images_that_threads_cut_at_random_is_resumed_exactly(tmp_path: Path) -> None:
    resuming_images.write_photographs(tmp_path)
    for batches in (EVERY + 2, 9):  # in the middle of the first epoch, then in the second one
        killed_after(tmp_path, 3, batches, delay_s=0.01, program=OF_IMAGES)
    assert finished(tmp_path, 3, OF_IMAGES) == resuming_images.train(str(tmp_path), 3, is_resumed=False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_training_on_images_killed_at_ten_random_moments_is_resumed_exactly(tmp_path: Path) -> None:
    draws = random.Random(10)
    resuming_images.write_photographs(tmp_path)
    for _ in range(10):
        batches = draws.randrange(1, 14)
        killed_after(tmp_path, 8, batches, delay_s=draws.uniform(0, 0.05), program=OF_IMAGES)
    assert finished(tmp_path, 8, OF_IMAGES) == resuming_images.train(str(tmp_path), 8, is_resumed=False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_training_killed_at_any_sync_of_three_checkpoints_ends_as_without_a_break(tmp_path: Path) -> None:
    whole = run("-m", PROGRAM, str(tmp_path), "2", "0")
    assert whole.returncode == 0, whole.stderr
    digest, count = whole.stdout.splitlines()[-2:]
    assert (int(count) - FIRST) % SYNCS == 0
    assert int(count) >= FIRST + 2 * SYNCS
    assert digest == train(None, 2)
    for number in range(1, FIRST + 2 * SYNCS + 1):
        folder = tmp_path / str(number)  # from the start, for what is resumed calls `fsync` less often
        folder.mkdir()
        killed_at_sync(folder, 2, number)
        assert finished(folder, 2) == digest, number


class BrokenOffError(Exception):
    """Ends training as a failure of the program would."""


@pytest.mark.parametrize(
    "given",
    [
        {"kvstore": None},
        {"kvstore": "local", "optimizer": "adam", "optimizer_params": {"learning_rate": 0.01}},
        {"kvstore": "device"},
        {"kvstore": "device", "compression": {"type": "2bit", "threshold": 0.01}},
        {"optimizer": "nadam", "optimizer_params": {"learning_rate": 0.01}},
        {"optimizer": "sgld", "optimizer_params": {"learning_rate": 0.001}},
    ],
    ids=lambda given: "-".join(map(str, given.values())),
)
def test_any_store_and_optimizer_is_resumed_exactly(given: Any, tmp_path: Path) -> None:
    def break_off(param: Any) -> None:
        if (param.epoch, param.nbatch) == (1, 4):
            raise BrokenOffError

    prefix = str(tmp_path / "net")
    with pytest.raises(BrokenOffError):
        train(prefix, 2, batch_end_callback=break_off, **given)
    assert train(prefix, 2, **given) == train(None, 2, **given)


def test_a_checkpoint_is_one_of_mxnet_too(tmp_path: Path) -> None:
    train(str(tmp_path / "net"), 1)
    symbol, arg_params, aux_params = od.model.load_checkpoint(str(tmp_path / "net"), 9)
    assert symbol.list_outputs() == ["softmax_output"]
    assert sorted(arg_params) == [
        "fc0_bias",
        "fc0_weight",
        "fc1_bias",
        "fc1_weight",
        "norm_beta",
        "norm_gamma",
    ]
    assert sorted(aux_params) == ["norm_moving_mean", "norm_moving_var"]
