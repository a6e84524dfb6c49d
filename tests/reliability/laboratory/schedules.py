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
from pathlib import Path

from tests.reliability.laboratory import primitives
from tests.reliability.laboratory.exploring import (
    Violation,
    explore,
    freeze,
    in_children,
    parsed,
    run_alone,
    written,
)
from tests.reliability.laboratory.scheduler import Scheduler

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # or every fork would begin with 10 ms in OpenBLAS
primitives.install()

import operad  # noqa: E402 - behind `install`
from operad import engine  # noqa: E402 - as above
from tests.reliability.laboratory.programs import PROGRAMS, Program  # noqa: E402 - as above
from tests.reliability.laboratory.rest import unrest  # noqa: E402 - as above

_WARMING: int = 3
_REST_S = 1.0


def work(program: Program, scheduler: Scheduler) -> None:
    """Run a program under a scheduler; a `Violation` if it ends otherwise than the serial model."""
    threads, check = program.begin()
    errors: list[BaseException] = []

    def guarded(function: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                function()
            except BaseException as error:  # noqa: BLE001 - raised again below
                errors.append(error)

        return run

    tasks = [scheduler.start(guarded(function), f"{i}") for i, function in enumerate(threads, 1)]
    scheduler.explore()
    for task in tasks:
        while not task.is_done:
            scheduler.wait(task)
    scheduler.rest()
    if errors:
        raise errors[0]
    check()
    _come_to_rest(scheduler)


def _come_to_rest(scheduler: Scheduler) -> None:
    current = engine.get()
    current.wait_for_all()
    scheduler.wait(object(), _REST_S)  # until the workers have nothing more to do either
    if found := unrest(current):
        raise Violation("unrest", "; ".join(found))
    engine.stop()


def _folders(program: Program) -> tuple[str, ...]:
    root = Path(operad.__file__).parent
    return tuple(f"{root / package}{os.sep}" for package in program.packages)


def _warm(program: Program) -> None:
    """Run `program` in this process, so that what is made once is there before any fork."""

    def end(verdict: str, text: str) -> None:
        raise SystemExit(f"{program.name}: {verdict} without any deviation: {text}")

    for _ in range(_WARMING):
        scheduler = Scheduler({}, _folders(program), end)
        primitives.enter(scheduler)
        work(program, scheduler)
    primitives.enter(None)
    freeze()


def main() -> None:
    """Explore or replay one program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=sorted(PROGRAMS))
    parser.add_argument("--pairs", type=int, help="schedules with two deviations; default: all")
    parser.add_argument("--replay", metavar="SCHEDULE", help="run this one, such as 12>2,40>1, switch by switch")
    given = parser.parse_args()
    program = PROGRAMS[given.program]
    _warm(program)

    def run(scheduler: Scheduler) -> None:
        work(program, scheduler)

    if given.replay is not None:
        done = run_alone(run, parsed(given.replay), _folders(program))
        print("\n".join([*done.switches, f"{done.verdict}: {done.text}"]))
        return
    tally = explore(program.name, in_children(run, _folders(program)), given.pairs)
    found = {field.name: getattr(tally, field.name) for field in dataclasses.fields(tally)}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["cpu_s"] = round(sum(each.ru_utime + each.ru_stime for each in used), 1)
    if tally.first is not None:
        found["first"] = [written(tally.first.schedule), tally.first.verdict, tally.first.text]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
