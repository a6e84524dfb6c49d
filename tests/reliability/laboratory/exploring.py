"""All schedules of a program with at most two deviations, each in a forked child of one clean process.

A program is first run some times with no deviation, so that modules, plans and caches are there. Such a run
tells how many points there are, and which threads could have gone on instead at each. Every such choice is
a schedule with one deviation; the points behind it, in its own run, give those with two. Forked children
start from the same state. One child runs many schedules, since a fork costs more than most of them; what
does not end right is run again in a child of its own.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, NoReturn, final

from tests.reliability.laboratory import primitives
from tests.reliability.laboratory.scheduler import Scheduler

LIMIT_S: Final = 60.0
"""A child that says nothing for so long waits for something that the scheduler does not know of."""

BATCH: Final = 100
"""Schedules that one child runs, as long as they end right."""

HUNG_STATUS: Final = 41
"""How a child that a program forked itself ends when it hangs."""

Schedule = Mapping[int, int]


@final
@dataclass(frozen=True, slots=True)
class Run:
    """What became of one schedule.

    Attributes:
        schedule: The deviations.
        verdict: "right"; "hang"; "lost", a failure that nobody was told of; "wrong", a value; "unrest", what
            is left over when all is done; "error", one that nobody expected; "unsteady", where the program
            itself took another way than before.
        text: What was seen instead of what was expected.
        masks: For each point, the threads that could have gone on instead.
        late: Waits that nobody ended but time.
        switches: What happened; only where it was asked for.
    """

    schedule: Schedule
    verdict: str
    text: str
    masks: bytes
    late: int
    switches: list[str]


@final
@dataclass(slots=True)
class Tally:
    """What became of all schedules of one program.

    Attributes:
        program: Its name.
        singles: Schedules with at most one deviation, all of which were tried.
        pairs: Schedules with two.
        tried_pairs: How many of those were tried.
        verdicts: How many schedules ended how.
        late: Schedules in which some wake-up was lost until a slice of time had passed.
        first: The first schedule that did not end right, with the fewest deviations there are.
    """

    program: str
    singles: int = 0
    pairs: int = 0
    tried_pairs: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    late: int = 0
    first: Run | None = None


class Violation(Exception):  # noqa: N818 - of the serial model
    """A program did what the serial model does not.

    Args:
        verdict: "lost", "wrong" or "unrest"; see `Run`.
        text: What was seen, and what was expected.
    """

    def __init__(self, verdict: str, text: str) -> None:
        super().__init__(text)
        self.verdict = verdict


Work = Callable[[Scheduler], object]
"""Runs a program under a scheduler; raises a `Violation` where it ends wrong."""

RunAll = Callable[[Iterable[Schedule]], Iterator["Run"]]


def written(schedule: Schedule) -> str:
    """`{12: 2, 40: 1}` as `12>2,40>1`."""
    return ",".join(f"{point}>{thread}" for point, thread in sorted(schedule.items())) or "-"


def parsed(text: str) -> dict[int, int]:
    """What `written` wrote."""
    pairs = [part.split(">") for part in text.split(",") if part not in ("", "-")]
    return {int(point): int(thread) for point, thread in pairs}


def explore(name: str, run_all: RunAll, most_pairs: int | None) -> Tally:
    """Try every schedule with one deviation, and of those with two at most `most_pairs`, evenly spread.

    What is wrong after one deviation is not tried with a second.

    Args:
        name: What the tally calls the program.
        run_all: Runs it under schedules, one after another.
        most_pairs: None for all.
    """
    tally = Tally(name)
    [plain] = run_all([{}])
    _count(tally, plain)
    tally.singles = 1
    singles = []
    for done in run_all(_deviations(plain)):
        _count(tally, done)
        tally.singles += 1
        if done.verdict != "right":
            continue
        tally.pairs += sum(mask.bit_count() for mask in done.masks[max(done.schedule) + 1 :])
        singles.append(done)
    if most_pairs == 0:
        return tally
    stride = 1 if most_pairs is None else max(-(-tally.pairs // most_pairs), 1)
    pairs = chain.from_iterable(map(_deviations, singles))
    for done in run_all(islice(pairs, 0, None, stride)):
        tally.tried_pairs += 1
        _count(tally, done)
    return tally


def _count(tally: Tally, done: Run) -> None:
    tally.verdicts[done.verdict] += 1
    tally.late += done.late > 0
    if done.verdict != "right" and tally.first is None:
        tally.first = done


def _deviations(done: Run) -> Iterator[dict[int, int]]:
    """The schedules that deviate from `done` once more, behind its last deviation."""
    first = max(done.schedule, default=-1) + 1
    for point, mask in enumerate(done.masks[first:], first):
        for thread in range(mask.bit_length()):
            if mask >> thread & 1:
                yield {**done.schedule, point: thread}


def freeze() -> None:
    """Make the process a clean one to fork: its objects are never collected, nor copied for a count."""
    gc.collect()
    gc.freeze()
    gc.disable()  # so that no finalizer runs at another moment when a schedule is run again


def in_children(work: Work, folders: tuple[str, ...], is_fresh: bool) -> RunAll:
    """A function that runs `work` under schedules, some after another in one forked child.

    A schedule that does not end right is the last one of its child, and is run again in a child of its own.

    Args:
        work: Runs the program.
        folders: Where the code lies that has points.
        is_fresh: Whether each schedule has a child of its own.
    """

    def run_all(schedules: Iterable[Schedule]) -> Iterator[Run]:
        waiting = iter(schedules)
        while batch := list(islice(waiting, 1 if is_fresh else BATCH)):
            while batch:
                *done, last = _run_in_child(work, batch, folders, False)
                yield from done
                if last.verdict != "right" and done:
                    last = _confirmed(last, next(_run_in_child(work, [last.schedule], folders, False)))
                yield last
                batch = batch[len(done) + 1 :]

    return run_all


def _confirmed(last: Run, alone: Run) -> Run:
    """What to say of a schedule that ended as `last` after others in its process, and as `alone` without."""
    if alone.verdict != "right" or last.verdict == "unsteady":
        return alone
    return replace(last, text=f"only after other schedules in the same process: {last.text}")


def run_alone(work: Work, schedule: Schedule, folders: tuple[str, ...]) -> Run:
    """What becomes of `work` under `schedule` in a child of its own, with every switch written down."""
    [done] = _run_in_child(work, [schedule], folders, True)
    return done


def _run_in_child(
    work: Work, batch: list[Schedule], folders: tuple[str, ...], is_verbose: bool
) -> Iterator[Run]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _be_child(writing, work, batch, folders, is_verbose)
    os.close(writing)
    try:
        said = _read(reading, pid)
    finally:
        os.close(reading)
        os.waitpid(pid, 0)
    is_over = False
    for schedule, line in zip(batch, said.splitlines(), strict=False):
        found = json.loads(line)
        masks = bytes.fromhex(found["masks"])
        yield Run(schedule, found["verdict"], found["text"], masks, found["late"], found["switches"])
        is_over = found["verdict"] != "right"
    count = said.count(b"\n")
    if count < len(batch) and not is_over:
        text = "the process ended, or was stuck where no scheduler reaches"
        yield Run(batch[count], "hang", text, b"", 0, [])


def _read(reading: int, pid: int) -> bytes:
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading], [], [], LIMIT_S)
        if not ready:
            os.kill(pid, signal.SIGKILL)
            return b"".join(parts)
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _be_child(
    writing: int, work: Work, batch: list[Schedule], folders: tuple[str, ...], is_verbose: bool
) -> NoReturn:
    pid = os.getpid()
    scheduler: Scheduler

    def say(verdict: str, text: str) -> None:
        line = {
            "verdict": verdict, "text": text, "late": scheduler.late, "switches": scheduler.switches,
            "masks": scheduler.masks.hex(),
        }  # fmt: skip
        data = memoryview(json.dumps(line).encode() + b"\n")
        while data:
            data = data[os.write(writing, data) :]

    def end(verdict: str, text: str) -> NoReturn:
        if os.getpid() != pid:  # a fork of the program's own, whose parent looks at the status
            os.write(2, f"in the forked child: {text}\n".encode())
            os._exit(HUNG_STATUS)
        say(verdict, text)
        os._exit(0)

    for schedule in batch:
        scheduler = Scheduler(schedule, folders, end, is_verbose)
        primitives.enter(scheduler)
        try:
            work(scheduler)
        except Violation as violation:
            end(violation.verdict, str(violation))
        except BaseException:  # noqa: BLE001 - a verdict
            end("error", traceback.format_exc())
        say("right", "")
        gc.collect()  # what the schedule leaves behind, such as an engine, is not there for the next one
    os._exit(0)
