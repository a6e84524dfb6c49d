"""What stores on MPI promise, with real `mpirun`."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.distributed.conftest import (
    LIMIT_S,
    Run,
    _ended,
    _environment,
    interrupted_after,
    mpi_command,
    restarted_mpi_command,
)

pytestmark = pytest.mark.timeout(LIMIT_S + 60)
slow = pytest.mark.slow


def test_the_rules_of_synchronous_stores_hold_for_2_workers(run_mpi: Run) -> None:
    ended = run_mpi(2, "rules", "dist_sync", PORT="nonsense")
    assert (ended.code, len(ended.lines("passed"))) == (0, 2), ended.output


@slow
@pytest.mark.parametrize("kind", ["dist_sync", "dist_device_sync"])
def test_the_rules_of_synchronous_stores_hold_for_3_workers(run_mpi: Run, kind: str) -> None:
    ended = run_mpi(3, "rules", kind)
    assert (ended.code, len(ended.lines("passed"))) == (0, 3), ended.output


def test_a_worker_that_pushes_another_key_is_an_error_that_names_both_and_ends_the_job(run_mpi: Run) -> None:
    ended = run_mpi(2, "failures", "other_key", "dist_sync")
    assert ended.code == 1
    assert re.search(r"rank 0 called .push \['a'\].*rank 1 called .push \['b'\]", ended.output)


@slow
def test_a_worker_that_pushes_where_others_wait_is_an_error_that_names_both(run_mpi: Run) -> None:
    ended = run_mpi(2, "failures", "other_call", "dist_sync")
    assert ended.code == 1
    assert re.search(r"rank 0 called 'barrier', rank 1 called .push \['a'\]", ended.output), ended.output


@slow
@pytest.mark.parametrize("workers", [2, 3])
def test_survivors_of_a_killed_worker_get_its_rank(run_mpi: Run, workers: int) -> None:
    ended = run_mpi(workers, "failures", "killed_worker", "dist_sync", options=("--with-ft", "ulfm"))
    found = re.findall(r"lost \[(\d)\]: ", ended.output)
    assert [int(rank) for rank in found] == [workers - 1] * (workers - 1), ended.output


@slow
def test_without_ulfm_mpirun_ends_the_job_and_names_the_killed_rank(run_mpi: Run) -> None:
    ended = run_mpi(2, "failures", "killed_worker", "dist_sync")
    assert ended.code != 0
    assert re.search(r"process rank 1 .* exited on\s+signal 9", ended.output)


@slow
def test_a_worker_that_does_not_push_is_named_when_the_time_is_over(run_mpi: Run) -> None:
    ended = run_mpi(3, "failures", "silent_worker", "dist_sync", OPERAD_KV_TIMEOUT_S="5")
    assert len(ended.lines("timeout [2]: rank")) == 2, ended.output


@slow
def test_an_asynchronous_store_is_refused_with_the_engine_that_has_one(run_mpi: Run) -> None:
    ended = run_mpi(2, "rules", "dist_async")
    assert ended.code == 1
    assert "the engine 'mpi' has no servers, which type 'dist_async' needs" in ended.output


@slow
def test_ctrl_c_ends_all_workers(run_mpi: Run) -> None:
    command = mpi_command(2, "failures", "interrupted", "dist_sync")
    assert interrupted_after(command, _environment({}), "waiting") != 0


@pytest.mark.parametrize(
    "kills", [("1:13",), *(pytest.param(kills, marks=slow) for kills in [("0@1", "1@2"), ("1@12", "0@29")])]
)
def test_a_job_that_is_started_again_trains_what_an_undisturbed_one_does(
    run_mpi: Run, tmp_path: Path, kills: tuple[str, ...]
) -> None:
    undisturbed = run_mpi(2, "training", str(tmp_path / "undisturbed"))
    command = restarted_mpi_command(2, "training", str(tmp_path / "killed"), *kills)
    ended = _ended(command, _environment({}))
    assert (ended.code, undisturbed.code) == (0, 0), ended.output
    for number in range(1, len(kills) + 1):
        assert len(ended.lines(f"the job exited with 137; starting it again, {number} of 2")) == 1
    assert [kill for kill in kills if f"killing {kill}" not in ended.output] == []
    assert sorted(ended.lines("trained")) == sorted(undisturbed.lines("trained"))


@slow
def test_sigterm_to_the_launcher_ends_all_workers(run_mpi: Run) -> None:
    command = restarted_mpi_command(2, "failures", "interrupted", "dist_sync")
    assert interrupted_after(command, _environment({}), "waiting", signal.SIGTERM) == 128 + signal.SIGTERM


@slow
def test_training_goes_on_with_another_kind_of_store(run_mpi: Run, tmp_path: Path) -> None:
    ended = run_mpi(1, "kinds", str(tmp_path))
    assert (ended.code, len(ended.lines("passed"))) == (0, 1), ended.output


@slow
def test_a_job_that_ended_under_ray_goes_on_under_mpi_to_the_same_bits(
    run_ray: Run, run_mpi: Run, tmp_path: Path
) -> None:
    undisturbed = run_mpi(2, "training", str(tmp_path / "undisturbed"))
    assert run_ray(2, "training", str(tmp_path / "killed"), "1:13", options=("--grace", "0")).code == 137
    ended = run_mpi(2, "training", str(tmp_path / "killed"), "1:13")
    assert (ended.code, len(ended.lines("Resumed from"))) == (0, 2), ended.output
    assert sorted(ended.lines("trained")) == sorted(undisturbed.lines("trained"))
