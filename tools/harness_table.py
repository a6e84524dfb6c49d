"""Write the table of `docs/harness.md`: what the harness, and a plain gradient check, find in the zoo.

Runs every check on every operator of `operator_sdk/check/tests/zoo/`, which takes some minutes.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tools.workspace import ROOT

BEGIN = "<!-- zoo: written by `python -m tools.harness_table`, do not edit -->"
END = "<!-- zoo: end -->"
PAGE = ROOT / "docs" / "harness.md"


Finding = tuple[str, bool, bool, bool]
"""The id meant for a fault; whether the harness, a gradient check, and one with ten shapes see it."""


def findings(number: int) -> Finding:
    """Findings about one inhabitant."""
    from operad import registry  # noqa: PLC0415 - in the process that needs it
    from operad_check import check_operator  # noqa: PLC0415
    from operad_check.running.register import all_checks  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.plain_gradient_check import plain_gradient_check  # noqa: PLC0415
    from operator_sdk.check.tests.zoo.table import ZOO  # noqa: PLC0415

    fault = ZOO[number]
    operator = fault.operator
    if fault.registered_as:
        registry.register(operator, fault.registered_as)
        operator = fault.registered_as
    # rules on evidence are no checks of their own: any of them may be red under such an id
    own = [fault.id] if fault.id in all_checks() else None
    red = check_operator(operator, checks=own, profile="dev").red_ids
    return (
        fault.id,
        fault.id in red,
        plain_gradient_check(operator),
        plain_gradient_check(operator, shapes=10),
    )


def table(found: list[Finding]) -> str:
    """One row per check, and the sums."""
    from operad_check.catalogue import CATALOGUE  # noqa: PLC0415 - as above

    by_id: dict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        by_id[finding[0]].append(finding)
    rows = [
        "| check | what holds | faults | caught | gradient check | with ten shapes |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {id} | {CATALOGUE[id].title} | {_counts(entries)} |" for id, entries in sorted(by_id.items())
    ]
    rows.append(f"| | **all** | {_counts(found)} |")
    return "\n".join(rows)


def _counts(entries: list[Finding]) -> str:
    caught = [sum(column) for column in zip(*(entry[1:] for entry in entries), strict=True)]
    return " | ".join(map(str, [len(entries), *caught]))


def main() -> int:
    """Measure and write; 1 if a fault was missed."""
    from operator_sdk.check.tests.zoo.table import ZOO  # noqa: PLC0415 - slow to import

    context: Any = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context) as pool:
        found = list(pool.map(findings, range(len(ZOO))))
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}")
    missed = [ZOO[i].title for i, finding in enumerate(found) if not finding[1]]
    print("\n".join(["missed:", *missed]) if missed else f"all {len(found)} faults caught")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
