"""Results of a day on a device: a line of JSON for each case as it ends, and a page of them.

A case is written down when it begins, too, so that a process that dies says by which case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, final

BEGUN: Final = "begun"
PASSED: Final = "passed"
NOT_RUN: Final = "not run"
SHOWN: Final = 12
"""Lines of a failure that the page shows."""


@final
@dataclass(frozen=True, slots=True)
class Record:
    """One case.

    Attributes:
        result: BEGUN, PASSED, "failed", "died" or "hung".
        seconds: Time that it took.
        message: The error.
        figures: What it measured, by name.
    """

    case: str
    result: str
    seconds: float = 0.0
    message: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


def write(file: Path, record: Record) -> None:
    """Append a line."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(record)) + "\n")


def read(file: Path) -> dict[str, Record]:
    """The last record of each case, in the order in which they began, without a line that was cut short."""
    found: dict[str, Record] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            record = Record(**json.loads(line))
        except json.JSONDecodeError:
            continue
        found[record.case] = record
    return found


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """A stage as far as it came.

    Attributes:
        shows: What it is for, in a line.
        cases: All of its cases, by name, also those that did not run.
    """

    stage: str
    shows: str
    cases: Mapping[str, Record]
    seconds: float

    @property
    def is_passed(self) -> bool:
        """Return whether all cases passed."""
        return all(record.result == PASSED for record in self.cases.values())


def page(device: str, outcomes: Sequence[Outcome]) -> str:
    """The results as Markdown: a table, what did not pass, and the figures."""
    return (
        "\n".join(["# On a device", "", f"Device: {device}", "", *_table(outcomes), *_details(outcomes)])
        + "\n"
    )


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "| stage | what it shows | cases | passed | not run | others | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for one in outcomes:
        results = [record.result for record in one.cases.values()]
        passed, not_run = results.count(PASSED), results.count(NOT_RUN)
        others = len(results) - passed - not_run
        numbers = f"{len(results)} | {passed} | {not_run} | {others} | {one.seconds:.0f}"
        yield f"| {one.stage} | {one.shows} | {numbers} |"


def _details(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for one in outcomes:
        for record in one.cases.values():
            if record.result not in (PASSED, NOT_RUN):
                yield from ["", f"## {one.stage}: {record.case} {record.result}", ""]
                yield from (f"    {line}" for line in record.message.splitlines()[-SHOWN:])
    for one in outcomes:
        rows = [record for record in one.cases.values() if record.figures]
        if rows:
            yield from ["", f"## Figures: {one.stage}", "", "| case | figures |", "|---|---|"]
            for record in rows:
                words = [f"{name} {_short(value)}" for name, value in record.figures.items()]
                yield f"| {record.case} | {', '.join(words)} |"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
