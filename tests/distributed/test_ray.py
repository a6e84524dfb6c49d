"""What stores on Ray promise, with real servers and `operad launch`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest

from tests.distributed.conftest import Run, _environment, ray_command

pytestmark = pytest.mark.timeout(240)
slow = pytest.mark.slow


def test_the_rules_of_synchronous_stores_hold_for_2_workers(run_ray: Run) -> None:
    ended = run_ray(2, "rules", "dist_sync", PORT="nonsense")
    assert (ended.code, sorted(ended.lines("passed"))) == (0, ["[0] passed", "[1] passed"]), ended.output


def test_values_are_exact_after_servers_were_killed_and_came_back(run_ray: Run) -> None:
    ended = run_ray(2, "failures", "killed_server", "dist_sync", options=("-s", "2"))
    assert (ended.code, len(ended.lines("exact; longest step"))) == (0, 2), ended.output


@slow
@pytest.mark.parametrize("kind", ["dist_sync", "dist_device_sync"])
def test_the_rules_of_synchronous_stores_hold_for_3_workers_and_2_servers(run_ray: Run, kind: str) -> None:
    ended = run_ray(3, "rules", kind, options=("-s", "2"))
    assert (ended.code, len(ended.lines("passed"))) == (0, 3), ended.output


@slow
def test_values_are_exact_with_3_workers_and_3_servers_of_which_some_are_killed(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "killed_server", "dist_sync", options=("-s", "3"))
    assert (ended.code, len(ended.lines("exact; longest step"))) == (0, 3), ended.output


@slow
def test_the_rules_of_asynchronous_stores_hold(run_ray: Run) -> None:
    ended = run_ray(2, "asynchronous")
    assert (ended.code, len(ended.lines("passed"))) == (0, 2), ended.output


@slow
@pytest.mark.parametrize("workers", [2, 3])
def test_survivors_of_a_killed_worker_get_its_rank_within_seconds(run_ray: Run, workers: int) -> None:
    ended = run_ray(workers, "failures", "killed_worker", "dist_sync")
    found = re.findall(r"lost \[(\d)\] after ([\d.]+) s: rank \d was killed by signal 9", ended.output)
    assert [int(rank) for rank, _ in found] == [workers - 1] * (workers - 1), ended.output
    assert all(float(seconds) < 10 for _, seconds in found)
    assert ended.code == 128 + signal.SIGKILL


@slow
def test_with_shrink_the_others_go_on(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "shrunk", "dist_sync", OPERAD_KV_ON_LOSS="shrink")
    assert len(ended.lines("sum 2.0")) == 2, ended.output


@slow
def test_a_worker_that_does_not_push_is_named_when_the_time_is_over(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "silent_worker", "dist_sync", OPERAD_KV_TIMEOUT_S="30")
    assert len(ended.lines("timeout [2]: rank")) == 2, ended.output


@slow
def test_the_loss_of_a_server_for_good_is_raised(run_ray: Run) -> None:
    ended = run_ray(2, "failures", "lost_server", "dist_sync")
    assert len(ended.lines("server 0 has ended and does not come back")) == 2, ended.output


@slow
def test_ctrl_c_ends_all_workers_within_seconds(cluster: dict[str, str]) -> None:
    command = ray_command(2, "failures", "interrupted", "dist_sync")
    with subprocess.Popen(
        command, env=_environment(cluster), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as started:
        assert started.stdout is not None
        while "waiting" not in started.stdout.readline():
            pass
        start = time.monotonic()
        os.kill(started.pid, signal.SIGINT)
        started.communicate(timeout=100)
        assert time.monotonic() - start < 40
    assert started.returncode == 128 + signal.SIGINT
