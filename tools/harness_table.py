"""Write the tables of `docs/harness.md` from what modules of checks register.

The first has the checks that repeat a plain run in another way. The second says what the harness, and a plain
gradient check, find in the zoo: every check runs on every operator of `operator_sdk/check/tests/zoo/`, which
takes some minutes. `--check` only reads: 1 if the first table differs, or a title of the second.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tools.workspace import ROOT

MARKS = "<!-- {0}: written by `python -m tools.harness_table`, do not edit -->", "<!-- {0}: end -->"
PAGE = ROOT / "docs" / "harness.md"


Finding = tuple[str, bool, bool, bool]
"""The id meant for a fault; whether the harness, a gradient check, and one with ten shapes see it."""


def findings(number: int) -> Finding:
    """Findings about one inhabitant."""
    from operad import registry  # noqa: PLC0415 - in the process that needs it
    from operad_check import check_operator  # noqa: PLC0415
    from operad_check.register import all_checks  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.plain_gradient_check import plain_gradient_check  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.table import ZOO  # noqa: PLC0415

    fault = ZOO[number]
    operator = fault.operator
    if fault.registered_as:
        registry.register(operator, fault.registered_as)
        operator = fault.registered_as
    # rules on evidence are no checks of their own: any of them may be red under such an id
    own = [fault.id] if fault.id in all_checks() else None
    report = check_operator(operator, checks=own, profile="dev")
    red = [*report.red_ids, *report.undeclared_ids]
    return (
        fault.id,
        fault.id in red,
        plain_gradient_check(operator),
        plain_gradient_check(operator, shapes=10),
    )


def table(found: list[Finding]) -> str:
    """One row per check, and the sums."""
    from operad_check.register import entries  # noqa: PLC0415 - as above

    by_id: dict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        by_id[finding[0]].append(finding)
    rows = [
        "| check | what holds | faults | caught | gradient check | with ten shapes |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {id} | {entries()[id].title} | {_counts(counted)} |" for id, counted in sorted(by_id.items())
    ]
    rows.append(f"| | **all** | {_counts(found)} |")
    return "\n".join(rows)


def variation_table() -> str:
    """One row per check that repeats a plain run in another way."""
    from operad_check.register import entries  # noqa: PLC0415 - as above
    from operad_check.running.variation import variations  # noqa: PLC0415

    rows = ["| check | what it does | compared | how |", "|---|---|---|---|"]
    for id, line in variations().items():
        how = (line.compare.__doc__ or "").removeprefix("Compare ").partition("\n")[0].rstrip(".")
        runs = " ".join(entries()[id].words["How"].partition("\n\n")[0].split())
        rows.append(f"| {id} | {runs} | {line.values.words} | {how} |")
    return "\n".join(rows)


def lacking(text: str) -> list[str]:
    """Parts of a page that differ from the modules of checks: its first table, titles of its second."""
    from operad_check.register import entries  # noqa: PLC0415 - as above

    titles = dict(re.findall(r"^\| (\w+) \| (.*?) \| \d", _parted(text, "zoo")[1], re.MULTILINE))
    known = {id: entry.title for id, entry in entries().items()}
    found = [id for id, title in titles.items() if known.get(id) != title]
    return found if _parted(text, "variations")[1] == variation_table() else ["variations", *found]


def _parted(text: str, name: str) -> tuple[str, str, str]:
    """Text before a table, the table, and text after it."""
    begin, end = (mark.format(name) for mark in MARKS)
    before, _, rest = text.partition(begin)
    inside, _, after = rest.partition(end)
    return before + begin, inside.strip(), end + after


def _counts(found: list[Finding]) -> str:
    caught = [sum(column) for column in zip(*(finding[1:] for finding in found), strict=True)]
    return " | ".join(map(str, [len(found), *caught]))


def main() -> int:
    """Measure and write; 1 if a fault was missed, or if the page differs and nothing is to be written."""
    if "--check" in sys.argv[1:]:
        found = lacking(PAGE.read_text())
        if found:
            print(f"{PAGE} differs in {', '.join(found)}; run python -m tools.harness_table")
        return int(bool(found))
    from operator_sdk.check.tests.zoo.table import ZOO  # noqa: PLC0415 - slow to import

    context: Any = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context) as pool:
        measured = list(pool.map(findings, range(len(ZOO))))
    text = PAGE.read_text()
    for name, rows in (("variations", variation_table()), ("zoo", table(measured))):
        before, _, after = _parted(text, name)
        text = f"{before}\n\n{rows}\n\n{after}"
    PAGE.write_text(text)
    missed = [ZOO[i].title for i, finding in enumerate(measured) if not finding[1]]
    print("\n".join(["missed:", *missed]) if missed else f"all {len(measured)} faults caught")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
