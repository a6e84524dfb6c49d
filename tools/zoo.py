"""Run the contract checks on the zoo's operators, each in a process of its own, and say what they found.

`python -m tools.zoo reported circumstances right` measures these folders of `operator_sdk/check/tests/zoo`.
An operator that is wrong is caught if any check is red; one that is right is a false alarm if any is.
A process that dies or takes too long is neither.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

WITHOUT = frozenset(("S107", "S108"))
"""Checks of documentation, which the zoo is not written for."""
WITHOUT_PROGRAM = frozenset(("X801", "X803", "X804", "R503"))
"""Checks of other checks' outcomes, and of threads, which do not lose every race."""
AUDIT = "X804"
"""Needs an operator that is right; it injects faults, which takes longest."""


class Result(NamedTuple):
    """Findings about one inhabitant.

    Attributes:
        verdict: caught, missed, accused, cleared, or what its process came to.
        red: Ids of the checks that are red.
        mute: Ids of those whose printed program does not fail in the same way.
    """

    title: str
    verdict: str
    red: list[str]
    words: str
    mute: list[str]


def check(folder: str, number: int, examples: int) -> dict[str, Any]:
    """Check one inhabitant in this process."""
    from operad_check import Profile, check_operator  # noqa: PLC0415 - in the process that needs it
    from operad_check.running.register import all_checks  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.fault import Fault  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.folders import inhabitants  # noqa: PLC0415

    inhabitant = list(inhabitants(folder))[number]
    is_wrong = isinstance(inhabitant, Fault)
    ids = [id for id in all_checks() if id not in WITHOUT and not (is_wrong and id == AUDIT)]
    profile = Profile("dev", examples, 0.15)
    report = check_operator(inhabitant.operator, checks=ids, profile=profile)
    why = {o.red_id: o.failure.message if o.failure else o.reason for o in report.outcomes if o.red_id}
    programs = {o.red_id: o.failure.script for o in report.outcomes if o.red_id and o.failure}
    mute = [id for id, text in programs.items() if id not in WITHOUT_PROGRAM and not _fails_as(id, text)]
    return {"is_wrong": is_wrong, "red": sorted(why), "why": why, "mute": sorted(mute)}


def _fails_as(id: str, program: str) -> bool:
    """Return whether a printed program fails under the id of the check that printed it."""
    try:
        exec(compile(program, "<program>", "exec"), {})  # noqa: S102 - our own
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return str(error).startswith(f"[{id}]")
    return False


_CONTEXT: Final[Any] = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["operad_check.running.runner", "operator_sdk.check.tests.zoo.folders"])


def _tell(sender: Connection, folder: str, number: int, examples: int) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    sender.send(check(folder, number, examples))


def result(folder: str, number: int, inhabitant: Any, examples: int, limit_s: float) -> Result:
    """The result of one inhabitant, by a process of its own, which has checked nothing else."""
    title, words = inhabitant.title, inhabitant.words
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_tell, args=(sender, folder, number, examples))
    process.start()
    sender.close()
    try:
        found = receiver.recv() if receiver.poll(limit_s) else None
    except EOFError:
        process.join()
        return Result(title, f"exit {process.exitcode}", [], words, [])
    finally:
        process.kill()
    if found is None:
        return Result(title, "timeout", [], words, [])
    verdict = ("missed", "caught") if found["is_wrong"] else ("cleared", "accused")
    why = "; ".join(f"{id}: {text.splitlines()[0]}" for id, text in found["why"].items())
    told = words if found["is_wrong"] else why
    return Result(title, verdict[bool(found["red"])], found["red"], told, found["mute"])


def main() -> int:
    """Measure folders, or one inhabitant of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only", nargs="*", default=[], help="names of those to measure; none: all")
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one operator")
    options = parser.parse_args()
    from operator_sdk.check.tests.zoo.folders import inhabitants  # noqa: PLC0415 - slow to import

    everybody = [
        (folder, number, one)
        for folder in options.folders
        for number, one in enumerate(inhabitants(folder))
        if not options.only or one.operator.name in options.only
    ]
    measure = partial(result, examples=options.examples, limit_s=options.limit)
    sums: dict[str, Counter[str]] = {folder: Counter() for folder in options.folders}
    with ThreadPoolExecutor(options.jobs) as pool:
        found_by = pool.map(lambda args: measure(*args), everybody)
        for (folder, *_), found in zip(everybody, found_by, strict=True):
            mute = f" (no program: {' '.join(found.mute)})" if found.mute else ""
            row = f"{found.verdict:8} {found.title:34} {' '.join(found.red):40} {found.words}{mute}"
            print(row, flush=True)
            sums[folder][found.verdict] += 1
    for folder, counts in sums.items():
        print(f"{folder}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
