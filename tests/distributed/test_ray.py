"""What stores on Ray promise, with real servers and `operad launch`."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from tests.distributed.conftest import (
    LIMIT_S,
    PROGRAMS,
    Run,
    _ended,
    _environment,
    interrupted_after,
    ray_command,
)

pytestmark = pytest.mark.timeout(LIMIT_S + 60)
slow = pytest.mark.slow


def test_the_rules_of_synchronous_stores_hold_for_2_workers(run_ray: Run) -> None:
    ended = run_ray(2, "rules", "dist_sync", PORT="nonsense", OPERAD_KV_ALLOW_PICKLE="1")
    assert (ended.code, sorted(ended.lines("passed"))) == (0, ["[0] passed", "[1] passed"]), ended.output


def test_values_are_exact_after_servers_were_killed_and_came_back(run_ray: Run) -> None:
    ended = run_ray(2, "failures", "killed_server", "dist_sync", options=("-s", "2"))
    assert (ended.code, len(ended.lines("exact"))) == (0, 2), ended.output


@slow
@pytest.mark.parametrize("kind", ["dist_sync", "dist_device_sync"])
def test_the_rules_of_synchronous_stores_hold_for_3_workers_and_2_servers(run_ray: Run, kind: str) -> None:
    ended = run_ray(3, "rules", kind, options=("-s", "2"), OPERAD_KV_ALLOW_PICKLE="1")
    assert (ended.code, len(ended.lines("passed"))) == (0, 3), ended.output


@slow
def test_values_are_exact_with_3_workers_and_3_servers_of_which_some_are_killed(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "killed_server", "dist_sync", options=("-s", "3"))
    assert (ended.code, len(ended.lines("exact"))) == (0, 3), ended.output


@slow
def test_the_rules_of_asynchronous_stores_hold(run_ray: Run) -> None:
    ended = run_ray(2, "asynchronous")
    assert (ended.code, len(ended.lines("passed"))) == (0, 2), ended.output


@slow
@pytest.mark.parametrize("workers", [2, 3])
def test_survivors_of_a_killed_worker_get_its_rank(run_ray: Run, workers: int) -> None:
    ended = run_ray(workers, "failures", "killed_worker", "dist_sync")
    found = re.findall(r"lost \[(\d)\]: rank \d was killed by signal 9", ended.output)
    assert [int(rank) for rank in found] == [workers - 1] * (workers - 1), ended.output
    assert ended.code == 128 + signal.SIGKILL


@slow
def test_with_shrink_the_others_go_on(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "shrunk", "dist_sync", OPERAD_KV_ON_LOSS="shrink")
    assert len(ended.lines("sum 2.0")) == 2, ended.output


@slow
def test_a_worker_that_is_started_again_goes_on_and_all_sums_are_exact(run_ray: Run, tmp_path: Path) -> None:
    options = ("-s", "2", "--restart", "1")
    allowed = {"OPERAD_KV_ON_LOSS": "wait", "OPERAD_KV_ALLOW_PICKLE": "1"}
    words = ("failures", "restarted", "dist_sync", str(tmp_path / "mark"))
    ended = run_ray(2, *words, options=options, **allowed)
    assert ended.code == 0, ended.output
    assert len(ended.lines("rank 1 was killed by signal 9; starting it again, 1 of 1")) == 1
    assert sorted(ended.lines("exact")) == ["[0] exact from step 0 on", "[1] exact from step 5 on"]


@slow
def test_with_shrink_a_worker_that_is_started_again_takes_part_from_the_next_round_on(
    run_ray: Run, tmp_path: Path
) -> None:
    words = ("failures", "rejoined", "dist_sync", str(tmp_path / "mark"))
    ended = run_ray(3, *words, options=("--restart", "1"), OPERAD_KV_ON_LOSS="shrink")
    assert ended.code == 0, ended.output
    assert len(ended.lines("rounds [2, 3], the last of 3")) == 2, ended.output
    assert len(ended.lines("[2] rounds [3], the last of 3")) == 1, ended.output


@slow
def test_with_wait_the_wait_ends_with_the_rank_that_has_not_come_back(run_ray: Run) -> None:
    limits = {"OPERAD_KV_ON_LOSS": "wait", "OPERAD_KV_TIMEOUT_S": "15"}
    ended = run_ray(3, "failures", "waited_in_vain", "dist_sync", options=("--grace", "60"), **limits)
    assert len(ended.lines("timeout [2]: rank")) == 2, ended.output
    assert len(ended.lines("rank 2 was killed by signal 9 and has not come back")) == 2


@slow
def test_a_worker_that_does_not_push_is_named_when_the_time_is_over(run_ray: Run) -> None:
    ended = run_ray(3, "failures", "silent_worker", "dist_sync", OPERAD_KV_TIMEOUT_S="30")
    assert len(ended.lines("timeout [2]: rank")) == 2, ended.output


@slow
def test_a_job_is_complete_though_the_server_is_killed_after_a_worker_has_left(
    run_ray: Run, tmp_path: Path
) -> None:
    ended = run_ray(2, "failures", "left_before_a_kill", "dist_sync", str(tmp_path / "left"))
    assert (ended.code, ended.lines("exact")) == (0, ["[0] exact"]), ended.output


@slow
def test_the_loss_of_a_server_for_good_is_raised(run_ray: Run) -> None:
    ended = run_ray(2, "failures", "lost_server", "dist_sync")
    assert len(ended.lines("server 0 has ended and does not come back")) == 2, ended.output


@slow
@pytest.mark.parametrize("content", ["damaged", ""])
def test_a_server_that_cannot_read_its_picture_ends_and_says_why_to_every_worker(
    run_ray: Run, content: str
) -> None:
    ended = run_ray(2, "failures", "damaged_picture", "dist_sync", content)
    (picture,) = re.findall(r"\[0\] damaged (.*)", ended.output)
    why = f"the picture '{picture}' is no picture of a server; it begins with {content.encode()!r}"
    told = [line for line in ended.lines("server 0 has ended and does not come back") if why in line]
    assert len(told) == 2, ended.output
    assert all(line.endswith("start the job again from a checkpoint") for line in told)


@slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_all_workers(cluster: dict[str, str], number: int) -> None:
    command = ray_command(2, "failures", "interrupted", "dist_sync")
    assert interrupted_after(command, _environment(cluster), "waiting", number) == 128 + number


@slow
@pytest.mark.parametrize(
    "kills",
    [
        ("1:13", "0:25"),
        ("server:5", "server:20"),
        ("0:3", "server:19", "1:30"),
        ("0@2", "1@7", "server@20"),
        ("server@1", "server@20", "0@31"),
    ],
)
def test_a_job_that_is_started_again_trains_what_an_undisturbed_one_does(
    run_ray: Run, tmp_path: Path, kills: tuple[str, ...]
) -> None:
    undisturbed = run_ray(2, "training", str(tmp_path / "undisturbed"))
    ended = run_ray(2, "training", str(tmp_path / "killed"), *kills, options=("--restart", "2"))
    assert (ended.code, undisturbed.code) == (0, 0), ended.output
    assert [kill for kill in kills if f"killing {kill}" not in ended.output] == []
    lost = [kill for kill in kills if not kill.startswith("server")]
    assert len(ended.lines("starting the job again")) == len(lost)
    assert sorted(ended.lines("trained")) == sorted(undisturbed.lines("trained"))


@slow
def test_fit_in_the_place_of_a_worker_of_a_job_that_goes_on_is_refused(run_ray: Run, tmp_path: Path) -> None:
    options = ("--restart", "1")
    words = ("training", str(tmp_path), "1:13")
    ended = run_ray(2, *words, options=options, OPERAD_KV_ON_LOSS="wait", OPERAD_KV_TIMEOUT_S="20")
    assert ended.code == 1
    assert ended.lines("[1] operad.errors.ArgumentError: fit: this process takes the place of an earlier one")


@slow
def test_the_first_line_of_a_lost_worker_is_its_own(run_ray: Run) -> None:
    ended = run_ray(2, "failures", "killed_worker", "dist_sync")
    assert ended.code == 128 + signal.SIGKILL
    said = [
        line
        for line in ended.output.splitlines()
        if not re.search("starting|connecting|waiting for a first", line)
    ]
    assert said[0] == "operad launch: rank 1 was killed by signal 9", ended.output


@pytest.mark.parametrize("given", [{"RAY_AUTH_TOKEN": "0" * 64}, {"RAY_AUTH_MODE": "disabled"}])
def test_who_has_not_the_password_of_the_cluster_is_refused_at_once(
    cluster: dict[str, str], given: dict[str, str]
) -> None:
    if not cluster:
        pytest.skip("RAY_ADDRESS names a cluster of somebody else's")
    # Told apart by what is said: Ray would try for 20 s, and then say that it cannot reach the cluster.
    program = [sys.executable, PROGRAMS / "failures.py", "interrupted", "dist_sync"]
    for command in (program, ray_command(1, "failures", "interrupted", "dist_sync")):
        ended = _ended(command, _environment(cluster | given))
        assert ended.code == 1
        assert "refuses this process: its password is missing or wrong" in ended.output


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux's list of processes")
def test_the_password_of_the_cluster_stands_in_no_command_line_and_in_no_file_of_ray(
    cluster: dict[str, str],
) -> None:
    if not cluster:
        pytest.skip("RAY_ADDRESS names a cluster of somebody else's")
    password = cluster["RAY_AUTH_TOKEN"].encode()
    lines = {file: read(file) for file in Path("/proc").glob("[0-9]*/cmdline")}
    own = [line for line in lines.values() if cluster["RAY_ADDRESS"].encode() in line]
    folders = {found for line in own for found in re.findall(rb"(/[^\0=]*/session_[^/\0]*)", line)}
    found = [file for folder in folders for file in Path(folder.decode()).rglob("*") if file.is_file()]
    files = {file: read(file) for file in found}
    assert files
    assert [str(file) for file, content in {**lines, **files}.items() if password in content] == []


def read(file: Path) -> bytes:
    """The bytes of a file that may be gone."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


@slow
@pytest.mark.parametrize("numbers", [("1", "2", "6"), ("3", "4"), ("5", "12", "13")])
def test_values_are_exact_after_the_server_was_killed_at_certain_messages(
    run_ray: Run, numbers: tuple[str, ...]
) -> None:
    ended = run_ray(2, "failures", "killed_at_message", "dist_sync", *numbers)
    assert (ended.code, len(ended.lines("exact; not reached: []"))) == (0, 2), ended.output


@slow
def test_training_goes_on_with_another_kind_of_store(run_ray: Run, tmp_path: Path) -> None:
    ended = run_ray(1, "kinds", str(tmp_path))
    assert (ended.code, len(ended.lines("passed"))) == (0, 1), ended.output
