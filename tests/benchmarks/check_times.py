"""Processor time of the checks of each operator, and of the first red check of wrong ones of the zoo.

    python -m tests.benchmarks.check_times FILE [operators | zoo] [NAME ...]

Each operator is checked on one thread by a process that has imported the harness and nothing else, as by
`operad check`; what that process imports and what the processes that it starts compute counts. The file has a
line of JSON for each, and a run goes on with those that it lacks. The summary is of all that the file has.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from tools.zoo import AUDIT, WITHOUT

_THREADS: Final = ("OPERAD_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_FOLDERS: Final = ("reported", "circumstances", "weighed", "strangers")
_SLOWEST: Final = 12
_LIMIT_S: Final = 300


def main(file: str, kind: str = "operators", *names: str) -> None:
    """Measure what the file lacks, and print the summary."""
    import operad_check.running.runner  # noqa: F401 - what every process would import

    path = Path(file)
    for name, check in _operators() if kind == "operators" else _zoo():
        if name not in {row["name"] for row in rows(path)} and (not names or name in names):
            row = {"name": name, **_apart(check)}
            with path.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
            print(f"{row['seconds']:7.2f} {name} {' '.join(row['red'])}", flush=True)
    print(summary(rows(path)))


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, if there is one."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(found: list[dict[str, Any]]) -> str:
    """Median and ninth decile, the slowest operators, and the checks that take most of all time."""
    seconds = [row["seconds"] for row in found]
    checks: Counter[str] = Counter()
    for row in found:
        checks.update(row["checks"])
    slowest = sorted(found, key=lambda row: -row["seconds"])[:_SLOWEST]
    share = {id: f"{100 * spent / sum(seconds):.0f} %" for id, spent in checks.most_common(_SLOWEST)}
    most = quantiles(seconds, n=10)[-1]
    return "\n".join(
        [
            f"{len(found)}: median {median(seconds):.2f} s, nine of ten at most {most:.2f} s",
            f"all {sum(seconds):.0f} s",
            ", ".join(f"{row['name']} {row['seconds']:.1f} s" for row in slowest),
            ", ".join(f"{id} {part}" for id, part in share.items()),
        ]
    )


Check = Callable[[Callable[[Any], None]], Any]
"""Checks an operator, and calls what it is given with each outcome."""


def _all(operator: str, told: Callable[[Any], None]) -> None:
    from operad_check import check_operator

    check_operator(operator, progress=told)


def _until_red(operator: Any, ids: list[str], told: Callable[[Any], None]) -> None:
    from operad_check import check_operator

    check_operator(operator, checks=ids, progress=told, until_red=True)


def _operators() -> Iterator[tuple[str, Check]]:
    from operad import registry

    for name in sorted(registry.list_operators(aliases=False)):
        yield name, partial(_all, name)


def _zoo() -> Iterator[tuple[str, Check]]:
    from operad_check.register import all_checks
    from operator_sdk.check.tests.zoo.fault import Fault
    from operator_sdk.check.tests.zoo.folders import inhabitants

    ids = [id for id in all_checks() if id not in {*WITHOUT, AUDIT}]
    for folder in _FOLDERS:
        for one in inhabitants(folder):
            if isinstance(one, Fault):
                yield f"{folder}/{one.operator.name}", partial(_until_red, one.operator, ids)


def _apart(check: Check) -> dict[str, Any]:
    """Processor time and findings of a check in a process of its own."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT_S, _LIMIT_S))
        with os.fdopen(theirs, "w") as pipe:
            json.dump(_measured(check), pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    found = json.loads(text) if text else {"checks": {}, "red": [f"ended with status {status}"]}
    return {"seconds": usage.ru_utime + usage.ru_stime, **found}


def _measured(check: Check) -> dict[str, Any]:
    checks: dict[str, float] = {}
    red: list[str] = []
    last = [_spent()]

    def told(outcome: Any) -> None:
        now = _spent()
        checks[outcome.check_id] = checks.get(outcome.check_id, 0.0) + now - last[0]
        last[0] = now
        if outcome.red_id or outcome.traceback:
            red.append(outcome.red_id or outcome.check_id)

    try:
        check(told)
    except Exception as error:  # noqa: BLE001 - the next one is measured
        red.append(repr(error)[:200])
    return {"checks": checks, "red": red}


def _spent() -> float:
    """Processor time of this process, and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    main(*sys.argv[1:])
