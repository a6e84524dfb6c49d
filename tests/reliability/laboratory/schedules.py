"""Explores the schedules of programs: `python -m tests.reliability.laboratory.schedules PROGRAM`.

A program of its own, since what locks are made of is decided before operad is imported. Prints what
became of the schedules as one line of JSON, or with `--replay` one run, switch by switch.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from tests.reliability.laboratory import primitives, toys
from tests.reliability.laboratory.exploring import (
    Violation,
    Work,
    explore,
    freeze,
    in_children,
    parsed,
    run_alone,
    written,
)
from tests.reliability.laboratory.scheduler import Scheduler
from tests.reliability.laboratory.toys import TOYS

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # or every fork would begin with 10 ms in OpenBLAS
primitives.install()

import operad  # noqa: E402 - behind `install`
from operad import engine, storage  # noqa: E402 - as above
from tests.reliability.laboratory.programs import PROGRAMS, Parts, Program  # noqa: E402 - as above
from tests.reliability.laboratory.rest import unrest  # noqa: E402 - as above

_WARMING: Final = 3
_REST_S: Final = 1.0


def play(begin: Callable[[], Parts], scheduler: Scheduler) -> None:
    """Run a program's threads under a scheduler; a `Violation` if it ends otherwise than the serial model."""
    threads, check = begin()
    errors: list[BaseException] = []

    def guarded(function: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                function()
            except BaseException as error:  # noqa: BLE001 - raised again below
                errors.append(error)

        return run

    tasks = [scheduler.start(guarded(function), "under test") for function in threads]
    scheduler.explore()
    for task in tasks:
        while not task.is_done:
            scheduler.wait(task)
    scheduler.rest()
    if errors:
        raise errors[0]
    check()


def play_on_engine(begin: Callable[[], Parts], scheduler: Scheduler) -> None:
    """`play`, and bring the engine to rest, and stop it."""
    play(begin, scheduler)
    current = engine.get()
    current.wait_for_all()
    scheduler.wait(object(), _REST_S)  # until the workers have nothing more to do either
    if found := unrest(current):
        raise Violation("unrest", "; ".join(found))
    storage.get().release_all(operad.cpu())  # the next schedule finds no blocks to use again
    engine.stop()


def _sources(program: Program) -> tuple[str, ...]:
    root = Path(operad.__file__).parent
    return tuple(f"{root / package}{os.sep}" for package in program.packages)


def _warm(run: Work, sources: tuple[str, ...]) -> None:
    """Run a program in this process, so that what is made once is there before any fork."""

    def end(verdict: str, text: str) -> NoReturn:
        raise SystemExit(f"{verdict} without any preemption: {text}")

    for _ in range(_WARMING):
        scheduler = Scheduler({}, sources, end)
        primitives.enter(scheduler)
        run(scheduler)
    primitives.enter(None)
    freeze()


def main() -> None:
    """Explore or replay one program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=[*PROGRAMS, *TOYS])
    parser.add_argument("--pairs", type=int, help="schedules with two preemptions to try; default: all")
    parser.add_argument("--replay", metavar="SCHEDULE", help="run this one alone, such as 12>2,40>1")
    given = parser.parse_args()
    if given.program in TOYS:
        run: Work = partial(play, TOYS[given.program])
        sources: tuple[str, ...] = (toys.__file__,)
        is_fresh = False
    else:
        program = PROGRAMS[given.program]
        run, sources = partial(play_on_engine, program.begin), _sources(program)
        is_fresh = program.is_fresh
    _warm(run, sources)
    if given.replay is not None:
        done = run_alone(run, parsed(given.replay), sources)
        print("\n".join([*done.switches, f"{done.verdict}: {done.text}"]))
        return
    tally = explore(given.program, in_children(run, sources, is_fresh), given.pairs)
    found = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["cpu_s"] = round(sum(each.ru_utime + each.ru_stime for each in used), 1)
    if tally.first is not None:
        found["first"] = {"schedule": written(tally.first.schedule), "text": tally.first.text}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
