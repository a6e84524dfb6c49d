"""Stages in processes of their own: one that dies or hangs costs a case, a slow one its own time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, final

from tests.devices.day.records import BEGUN, NOT_RUN, Outcome, Record, page, read, write
from tests.devices.day.stages import Stage
from tests.devices.day.worker import LOST

ROOT: Final = Path(__file__).parents[3]
CASE_LIMIT_S: Final = 60.0
"""Time without a line after which a process counts as hung; it has CUDA to start, and kernels to compile."""
START_LIMIT_S: Final = 60.0
"""The same before the first line of a process."""
_BETWEEN_LOOKS_S: Final = 0.05


@final
class Worker:
    """A process that runs a part of a stage, and is started again while cases of its part are left.

    Args:
        file: Where it writes.
        arguments: Of `worker`, behind the file.
        case_limit_s: Time without a line after which it is ended.
    """

    def __init__(self, file: Path, arguments: Sequence[str], case_limit_s: float) -> None:
        self._file = file
        self._command = [sys.executable, "-m", "tests.devices.day.worker", str(file), *arguments]
        self._case_limit_s = case_limit_s
        self._start()

    def _start(self) -> None:
        self._errors = self._file.with_suffix(".log").open("a", encoding="utf-8")
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors
        )
        self._size = self._first_size = self._written()
        self._seen = time.monotonic()

    def _written(self) -> int:
        """Size of what it wrote."""
        return self._file.stat().st_size if self._file.exists() else 0

    def look(self) -> bool:
        """Return whether it still runs; one that died or hung is started again for the cases behind."""
        status = self._process.poll()
        if status is None:
            size, limit_s = self._written(), self._case_limit_s
            if size == self._first_size:
                limit_s = max(limit_s, START_LIMIT_S)
            if size != self._size:
                self._size, self._seen = size, time.monotonic()
            elif time.monotonic() - self._seen > limit_s:
                self.end()
                return self._begin_again(f"no end within {self._case_limit_s:.0f} s", "hung")
            return True
        self._errors.close()
        return status != 0 and self._begin_again(f"exit status {status}", "died")

    def _begin_again(self, message: str, result: str) -> bool:
        """Start again, unless no case was the reason for its end: another process would end so, too."""
        begun = [name for name, record in read(self._file).items() if record.result == BEGUN]
        for name in begun:
            log = self._file.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
            write(self._file, Record(name, result, message="\n".join([log[-2000:], message])))
        if not begun and self._process.returncode != LOST:
            return False
        self._start()
        return True

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._errors.close()


def run_stage(
    folder: Path, stage: Stage, kind: str, seconds: float, word: str = "", case_limit_s: float = CASE_LIMIT_S
) -> Outcome:
    """Run a stage's cases for so many seconds at most; what was written before is kept, and not run again."""
    start = time.monotonic()
    names = [name for name in stage.load().names() if word in name]
    files = [folder / f"{stage.name}-{part}.jsonl" for part in range(stage.workers)]
    workers = [
        Worker(file, [stage.name, stage.module, str(part), str(stage.workers), kind, word], case_limit_s)
        for part, file in enumerate(files)
    ]
    while workers and time.monotonic() - start < seconds:
        workers = [worker for worker in workers if worker.look()]
        time.sleep(_BETWEEN_LOOKS_S)
    for worker in workers:
        worker.end()
    done: dict[str, Record] = {}
    for file in files:
        done.update(read(file))
    cases = {name: _last(done.get(name), name) for name in names}
    return Outcome(stage.name, stage.shows, cases, time.monotonic() - start)


def _last(record: Record | None, name: str) -> Record:
    return record if record is not None and record.result != BEGUN else Record(name, NOT_RUN)


def run_day(
    folder: Path, stages: Sequence[Stage], kind: str, device: str, seconds: float, **options: Any
) -> list[Outcome]:
    """Run the stages one after another and write `folder/results.md` after each.

    Args:
        kind: "device" or "stand-in".
        device: What the page calls it.
        seconds: Time for all of them; one that ends early leaves its time to those behind.
        options: Of `run_stage`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun, scale = time.monotonic(), seconds / sum(stage.seconds for stage in stages)
    outcomes: list[Outcome] = []
    shares = 0.0
    for stage in stages:
        shares += stage.seconds * scale
        left = max(shares - (time.monotonic() - begun), 0.0)
        outcomes.append(run_stage(folder, stage, kind, left, **options))
        (folder / "results.md").write_text(page(device, outcomes), encoding="utf-8")
    return outcomes
