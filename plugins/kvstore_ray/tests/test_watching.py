from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest

import operad as od
from operad_kvstore_ray import workers
from operad_kvstore_ray.watching import WorkerStatus, report_of

# The launcher without Ray, which a program without stores does not need.
LAUNCHER = """
import sys
from contextlib import nullcontext
import operad_kvstore_ray.launch as launching

class Cluster:
    variables = {}
    def __init__(self, *_): pass
    def job(self): return nullcontext(({}, None))
    def close(self): pass

launching.Cluster = Cluster
launching.launch()
"""
PROGRAM = """
import logging, os, sys, time
logging.basicConfig(level=logging.INFO, format="%(message)s")
if os.environ["OPERAD_KV_RANK"] == "1":
    print("\\x1b[2Jnothing to report", flush=True)
else:
    logging.info("Epoch[2] Batch [20-40]\\tSpeed: 81.25 samples/sec\\taccuracy=0.5")
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
sys.exit(7 * int(os.environ["OPERAD_KV_RANK"]))
"""


@pytest.mark.parametrize(
    ("line", "report"),
    [
        # As MXNet 1.9.1 and the versions before 1.4 write them.
        ("Epoch[0] Batch [0-50]\tSpeed: 12.50 samples/sec\tf1=0.5", "epoch 0, batch 50, 12.50 samples/sec"),
        ("INFO:root:Epoch[3] Batch [50]\tSpeed: 9.00 samples/sec", "epoch 3, batch 50, 9.00 samples/sec"),
        ("Iter[1] Batch[7] Train-accuracy=0.250000", "epoch 1, batch 7"),
        ("Epoch[12] Time cost=3.250", "epoch 12"),
        ("Epoch 3 is done, 5.0 samples/sec", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_epoch_batch_and_speed_are_read_from_lines(line: str, report: str) -> None:
    assert report_of(line) == report


def test_lines_of_operads_own_callbacks_are_read(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        for callback in (od.callback.Speedometer(8, 4), od.callback.ProgressBar(total=40)):
            for batch in range(5):
                callback(od.model.BatchEndParam(1, batch, None, None))
    found = [report_of(record.getMessage()).rpartition(" ") for record in caplog.records]
    assert [(text.rpartition(" ")[0], unit) for text, _, unit in found] == [
        ("epoch 1, batch 4,", "samples/sec"),
        ("epoch 1, batch 4/40,", "batches/sec"),
    ]


WORKER = """
import os, pathlib, sys, time
rank, folder = int(os.environ["OPERAD_KV_RANK"]), pathlib.Path(sys.argv[1])
def seen(what):
    while not (folder / what).exists():
        time.sleep(0.01)
"""
"""Begin of a worker that waits until the launcher has shown something."""


def states_seen(
    folder: Path, body: str, steps: dict[str, list[WorkerStatus]], restarts: int = 0
) -> list[list[WorkerStatus]]:
    """All different states that a watch is told; `steps` are those that workers wait for by name."""
    found: list[list[WorkerStatus]] = []

    def watch(statuses: Sequence[WorkerStatus]) -> None:
        found.append(list(statuses))
        for name, step in steps.items():
            if found[-1] == step:
                (folder / name).touch()

    command = [sys.executable, "-c", WORKER + body, str(folder)]
    made = workers.Workers(command, os.environ, 2, lambda _: None, restarts)
    try:
        made.run(20.0, watch=watch)
    finally:
        made.end()
    return [one for one, _ in groupby(found)]


RUNS, ENDED = WorkerStatus("running", "", True), WorkerStatus("ended", "", False)


def test_a_worker_that_ended_is_told_apart_from_one_that_runs(tmp_path: Path) -> None:
    steps = {"both": [RUNS, RUNS], "one": [ENDED, RUNS]}
    assert states_seen(tmp_path, "seen('one' if rank else 'both')", steps) == [*steps.values()]


def test_a_worker_that_is_started_again_begins_without_a_report(tmp_path: Path) -> None:
    steps = {
        "begun": [RUNS, RUNS],
        "alone": [ENDED, RUNS],
        "reported": [ENDED, WorkerStatus("running", "epoch 4", True)],
        "again": [ENDED, WorkerStatus("running again, 1 of 1", "", True)],
    }
    body = """
seen("begun")
if rank and not (folder / "reported").exists():
    seen("alone")
    print("Epoch[4] Time cost=1", flush=True)
    seen("reported")
    sys.exit(9)
if rank:
    seen("again")
"""
    assert states_seen(tmp_path, body, steps, restarts=1) == [*steps.values()]


def test_what_is_read_late_of_an_earlier_process_is_no_report_of_its_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report_late(line: str) -> str:
        while not (tmp_path / "again").exists():
            time.sleep(0.001)
        if "Epoch" not in line:  # the report before was taken
            (tmp_path / "again").unlink()
            (tmp_path / "read").touch()
        return report_of(line)

    monkeypatch.setattr(workers, "report_of", report_late)
    steps = {"again": [ENDED, WorkerStatus("running again, 1 of 1", "", True)]}
    body = """
if rank and not (folder / "died").exists():
    (folder / "died").touch()
    print("Epoch[4] Time cost=1\\n", flush=True)
    sys.exit(9)
if rank:
    seen("read")
    seen("again")
"""
    assert states_seen(tmp_path, body, steps, restarts=1)[-1] == steps["again"]


def command(folder: Path) -> list[str]:
    program = folder / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    return [sys.executable, "-c", LAUNCHER, "-n", "2", str(program), str(folder / "shown")]


PARTS = (
    "[0] Epoch[2] Batch [20-40]",  # the line itself
    "epoch 2, batch 40, 81.25 samples/sec",
    "rank 0: running",
    "rank 1: running",
    "[1] nothing to report",
)
"""Parts of what a terminal shows before the workers end."""


def test_a_terminal_shows_a_row_per_worker_below_the_lines_and_none_after_the_end(tmp_path: Path) -> None:
    terminal, inside = pty.openpty()
    shown = b""
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    with subprocess.Popen(
        command(tmp_path), stdin=inside, stdout=inside, stderr=inside, env=environ
    ) as started:
        os.close(inside)
        try:
            while got := os.read(terminal, 1 << 16):
                shown += got
                if all(part.encode() in shown for part in PARTS):
                    (tmp_path / "shown").touch()
        except OSError:  # Linux's word for the end of a terminal
            pass
        code = started.wait(60)
    os.close(terminal)
    text = shown.decode()
    assert code == 7
    assert "operad launch: rank 1 exited with 7" in text, text
    assert "\x1b[2J" not in text  # the worker's own, which would have cleared the screen
    assert text.rindex("\x1b[?25h") > text.rindex("rank 0: ")  # the cursor is there again after the rows
    assert text.rindex("\x1b[2K") > text.rindex("rank 0: ")  # and these are gone


def test_output_that_is_no_terminal_has_lines_alone(tmp_path: Path) -> None:
    (tmp_path / "shown").touch()
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert done.stderr == ""
    assert sorted(done.stdout.splitlines()) == [
        "[0] Epoch[2] Batch [20-40]\tSpeed: 81.25 samples/sec\taccuracy=0.5",
        "[1] nothing to report",  # click leaves out colours and the like where no terminal is
        "operad launch: rank 1 exited with 7",
        "operad launch: starting 2 workers; servers: 1",
    ]
