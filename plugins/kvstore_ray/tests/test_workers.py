from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

import operad_kvstore_ray.launch as launching
from operad_kvstore_ray import reminders, session
from operad_kvstore_ray.launch import launch
from operad_kvstore_ray.workers import Workers

PROGRAM = "import os, sys, time; rank = int(os.environ['OPERAD_KV_RANK']); "


@pytest.fixture(autouse=True)
def _no_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reminders, "REMIND_S", 3600)


def run(body: str, grace_s: float = 20.0, restarts: int = 0, **env: str) -> tuple[int, list[str], list[Any]]:
    lines: list[str] = []
    lost: list[Any] = []
    command = [sys.executable, "-c", PROGRAM + body, "word"]
    workers = Workers(command, {**os.environ, **env}, 2, lines.append, restarts)
    code = workers.run(grace_s, lambda rank, why: lost.append((rank, why)))
    workers.end()
    return code, sorted(lines), lost


def test_each_line_has_its_rank_in_front_and_workers_get_arguments_and_variables() -> None:
    code, lines, lost = run("print(sys.argv[1], os.environ['COLOUR'], file=sys.stderr)", COLOUR="red")
    assert (code, lines, lost) == (0, ["[0] word red", "[1] word red"], [])


def test_the_exit_code_is_that_of_the_worker_that_failed() -> None:
    code, lines, _ = run("sys.exit(7 * rank)")
    assert (code, lines) == (7, ["operad launch: rank 1 exited with 7"])


def test_a_worker_killed_by_a_signal_is_told_to_the_servers_and_the_others_end_after_the_grace() -> None:
    body = "os.kill(os.getpid(), 9) if rank else time.sleep(600)"
    code, lines, lost = run(body, grace_s=0.1)
    assert code == 128 + signal.SIGKILL
    assert lines == ["operad launch: ending rank 0", "operad launch: rank 1 was killed by signal 9"]
    assert lost == [(1, "was killed by signal 9")]


def test_a_worker_that_fails_is_started_again_and_the_code_is_that_of_its_last_life(tmp_path: Path) -> None:
    body = f"path = {str(tmp_path)!r} + f'/{{rank}}'; lives = os.path.exists(path); open(path, 'w').close(); "
    code, lines, lost = run(body + "sys.exit(0 if lives else 7 * rank)", restarts=2)
    assert (code, lines) == (0, ["operad launch: rank 1 exited with 7; starting it again, 1 of 2"])
    assert lost == [(1, "exited with 7")]


def test_a_worker_that_fails_more_often_than_it_may_ends_the_job() -> None:
    code, lines, _ = run("sys.exit(7 * rank)", restarts=1)
    assert code == 7
    assert lines == [
        "operad launch: rank 1 exited with 7",
        "operad launch: rank 1 exited with 7; starting it again, 1 of 1",
    ]


@pytest.mark.parametrize("words", [["-n", "2", "--env", "COLOUR", "x.py"], ["x.py"], ["-n", "0", "x.py"]])
def test_a_wrong_command_line_is_an_error_before_anything_starts(words: list[str]) -> None:
    done = CliRunner().invoke(launch, words)
    assert done.exit_code == 2


def test_a_lost_worker_is_a_line_before_anybody_else_is_told() -> None:
    said: list[str] = []
    body = PROGRAM + "sys.exit(7) if rank else time.sleep(600)"
    workers = Workers([sys.executable, "-c", body], os.environ, 2, said.append)
    workers.run(0.0, lambda rank, why: said.append(f"told of {rank}"))
    workers.end()
    assert said == ["operad launch: rank 1 exited with 7", "told of 1", "operad launch: ending rank 0"]


def test_a_launcher_says_what_it_waits_for_before_it_waits_and_again_while_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    is_reminded = threading.Event()

    def echo(line: str) -> None:
        said.append(line)
        if "still" in line:
            is_reminded.set()

    def start(*_: object) -> str:
        assert said[0] == "operad launch: starting Ray on this machine"
        assert is_reminded.wait(60)
        return "127.0.0.1:1"

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(launching, "start_cluster", start)
    monkeypatch.setattr(launching, "imported_ray", lambda: None)
    monkeypatch.setattr(reminders, "REMIND_S", 0.001)
    launching.Cluster(1 << 20, 1, echo)
    assert re.fullmatch(r"operad launch: still starting Ray on this machine, \d+ s", said[1])


def test_a_launcher_says_to_which_cluster_it_connects_before_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(launching, "check_password", lambda address: said.append(f"asked {address}"))
    monkeypatch.setattr(launching, "imported_ray", lambda: None)
    launching.Cluster(1 << 20, 1, said.append)
    assert said == ["operad launch: connecting to Ray at 127.0.0.1:1", "asked 127.0.0.1:1"]


def test_ray_that_does_not_start_in_time_is_started_again_and_a_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    ray = Mock()
    ray.init.side_effect = [TimeoutError, TimeoutError, None]
    ray.get_runtime_context().gcs_address = "127.0.0.1:1"
    monkeypatch.setattr(session, "imported_ray", lambda: ray)
    for name in (*session._ALONE, "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))  # put back after the test
    assert session.start_cluster(1 << 20, 1, said.append) == "127.0.0.1:1"
    again = "operad launch: Ray did not start in time; trying again, "
    assert said == [f"{again}1 of 2", f"{again}2 of 2"]


def test_a_launcher_names_the_workers_that_have_printed_nothing_yet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reminders, "REMIND_S", 0.0)
    said: list[str] = []
    is_over = threading.Event()

    def echo(line: str) -> None:
        said.append(line)
        (tmp_path / "said").touch()
        if line == "operad launch: waiting for a first line of rank 0, 0 s":
            is_over.set()

    body = f"""{PROGRAM}
while not os.path.exists({str(tmp_path / "said")!r}):
    time.sleep(0.01)
print("here", flush=True) if rank else None
time.sleep(600)"""
    workers = Workers([sys.executable, "-c", body], os.environ, 2, echo)
    runner = threading.Thread(target=workers.run, args=(0.0,))
    runner.start()
    assert is_over.wait(60)
    workers.end()
    runner.join()
    assert "[1] here" in said[: said.index("operad launch: waiting for a first line of rank 0, 0 s")]
    assert said[0] == "operad launch: waiting for a first line of rank 0, 1, 0 s"
