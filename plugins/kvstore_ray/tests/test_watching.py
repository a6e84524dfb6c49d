from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import operad as od
from operad_kvstore_ray.watching import WorkerStatus, report_of
from operad_kvstore_ray.workers import Workers

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
time.sleep(1.5)  # some refreshes of the screen
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


def states_seen(body: str, restarts: int = 0) -> list[list[WorkerStatus]]:
    seen: list[list[WorkerStatus]] = []
    command = [sys.executable, "-c", "import os, time; rank = int(os.environ['OPERAD_KV_RANK']); " + body]
    workers = Workers(command, os.environ, 2, lambda _: None, restarts)
    workers.run(20.0, watch=lambda statuses: seen.append(list(statuses)))
    workers.end()
    return seen


def test_a_worker_that_ended_is_told_apart_from_one_that_runs() -> None:
    seen = states_seen("time.sleep(0.5 * rank); os._exit(0)")
    assert seen[0] == [WorkerStatus("running", "", True)] * 2
    assert [WorkerStatus("ended", "", False), WorkerStatus("running", "", True)] in seen


def test_a_worker_that_is_started_again_begins_without_a_report(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    first = f"first = rank and not os.path.exists({mark!r}); open({mark!r}, 'a').close() if rank else None; "
    said = "print('Epoch[4] Time cost=1', flush=True) if first else None; "
    ends = "time.sleep(0.5); os._exit(9 if first else 0)"
    mine = [statuses[1] for statuses in states_seen(first + said + ends, restarts=1)]
    assert list(dict.fromkeys(mine)) == [
        WorkerStatus("running", "", True),
        WorkerStatus("running", "epoch 4", True),
        WorkerStatus("running again, 1 of 1", "", True),
    ]


def command(folder: Path) -> list[str]:
    program = folder / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    return [sys.executable, "-c", LAUNCHER, "-n", "2", str(program)]


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
        except OSError:  # Linux's word for the end of a terminal
            pass
        code = started.wait(60)
    os.close(terminal)
    text = shown.decode()
    assert code == 7
    for part in (
        "[0] Epoch[2] Batch [20-40]",  # the line itself
        "epoch 2, batch 40, 81.25 samples/sec",
        "rank 0: running",
        "rank 1: running",
        "[1] nothing to report",
        "operad launch: rank 1 exited with 7",
    ):
        assert part in text, text
    assert "\x1b[2J" not in text  # the worker's own, which would have cleared the screen
    assert text.rindex("\x1b[?25h") > text.rindex("rank 0: ")  # the cursor is there again after the rows
    assert text.rindex("\x1b[2K") > text.rindex("rank 0: ")  # and these are gone


def test_output_that_is_no_terminal_has_lines_alone(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 7
    assert done.stderr == ""
    assert sorted(done.stdout.splitlines()) == [
        "[0] Epoch[2] Batch [20-40]\tSpeed: 81.25 samples/sec\taccuracy=0.5",
        "[1] nothing to report",  # click leaves out colours and the like where no terminal is
        "operad launch: rank 1 exited with 7",
        "operad launch: starting 2 workers; servers: 1",
    ]
