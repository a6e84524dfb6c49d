"""One program, one result: whatever the engine, the number of workers and the way operations are run."""

from __future__ import annotations

import itertools

import pytest

from tests.reliability.processes import run
from tests.reliability.training import Training, digest

pytestmark = pytest.mark.slow

PROGRAM = ("-m", "tests.reliability.training")
ALWAYS, NEVER = 1 << 40, 0
"""`OPERAD_INLINE_US`: everything, or nothing, runs in the thread that pushes it."""


def test_a_training_program_gives_the_same_bits_under_every_engine_and_number_of_workers() -> None:
    found = {}
    for engine, workers, inline in itertools.product(("threaded", "naive"), (1, 2, 4, 8), (ALWAYS, NEVER)):
        done = run(*PROGRAM, engine=engine, num_threads=workers, inline_us=inline)
        assert done.returncode == 0, done.stderr
        found[engine, workers, inline] = done.stdout
    assert len(set(found.values())) == 1, found


def test_repeated_runs_beside_a_busy_machine_give_the_same_bits() -> None:
    first = run(*PROGRAM, engine="threaded", num_threads=4, inline_us=NEVER)
    for _ in range(20):
        assert run(*PROGRAM, engine="threaded", num_threads=4, inline_us=NEVER).stdout == first.stdout


def test_debug_mode_changes_no_bit() -> None:
    assert run(*PROGRAM, debug=1).stdout == run(*PROGRAM).stdout


def test_the_digest_tells_one_changed_bit() -> None:
    training = Training()
    state = training.state()
    before = digest(state)
    state["fc0_bias"][0] += 1e-7
    assert digest(state) != before
