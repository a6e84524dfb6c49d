"""What the laboratory found, as a table."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

from tests.reliability.laboratory.programs import PROGRAMS
from tests.reliability.processes import environment

LIMIT_S: Final = 1700
"""No verdict on the engine, whose hangs are known at once: on the laboratory itself."""

SLOW_PAIRS: Final = 8_000
"""Schedules with two preemptions that are tried of a program that is not small."""

_HEAD: Final = (
    "program", "one preemption", "two (of)", "hangs", "lost errors", "wrong numbers", "other",
    "late wake-ups", "CPU s", "first",
)  # fmt: skip


def explored(name: str, most_pairs: int | None) -> dict[str, Any]:
    """What became of a program's schedules: see `exploring.Tally`.

    Args:
        name: The program.
        most_pairs: How many schedules with two preemptions are tried, evenly spread; None for all.
    """
    done = _run(name, *([] if most_pairs is None else ["--pairs", str(most_pairs)]))
    if done.returncode:
        raise AssertionError(f"{name}: {done.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def slow_pairs(name: str) -> int | None:
    """How many schedules with two preemptions of a program the long tests and the table try; None for all."""
    return None if PROGRAMS[name].is_small else SLOW_PAIRS


def replay(name: str, schedule: str) -> str:
    """One run of a program, switch by switch."""
    done = _run(name, "--replay", schedule)
    return done.stdout + done.stderr


def _run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = PROGRAMS[name].settings if name in PROGRAMS else {"num_threads": 1}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.reliability.laboratory.schedules", name, *arguments],
        env=environment(**settings), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def faults(found: dict[str, Any]) -> str:
    """What did not end right, and how to see it again; nothing where all did."""
    wrong = {verdict: count for verdict, count in found["verdicts"].items() if verdict != "right"}
    if not wrong:
        return ""
    first = found["first"]
    name, count = found["program"], sum(found["verdicts"].values())
    command = f"python -m tests.reliability.laboratory schedules {name} --replay '{first['schedule']}'"
    return f"{name}: {wrong} of {count} schedules; the first:\n{command}\n{first['text']}"


def table(all_found: list[dict[str, Any]]) -> str:
    """The programs, one row each, as Markdown."""
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_row, all_found)]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _row(found: dict[str, Any]) -> tuple[object, ...]:
    verdicts = dict(found["verdicts"])
    verdicts.pop("right", None)
    named = [verdicts.pop(verdict, 0) for verdict in ("hang", "lost", "wrong")]
    pairs = f"{found['tried_pairs']:,} ({found['pairs']:,})"
    first = f"`{found['first']['schedule']}`" if found["first"] else ""
    return (
        f"`{found['program']}`", f"{found['singles']:,}", pairs, *named, sum(verdicts.values()),
        found["late"], found["cpu_s"], first,
    )  # fmt: skip
