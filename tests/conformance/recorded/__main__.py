"""Print the recorded facts and cases of each operator, and operad's comparison with them today.

python -m tests.conformance.recorded [--only OPERATOR ... | --update]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.recorded import differences, faults, store
from tests.conformance.recorded.checks import Check, checks
from tests.conformance.recorded.operators import PLUGIN_OF
from tests.conformance.recorded.store import Record
from tests.conformance.recorded.update import updated


@dataclass(frozen=True)
class Row:
    """Comparison of one operator with its record.

    Attributes:
        facts: Facts recorded.
        cases: Cases recorded.
        checks: Comparisons made.
        equal: Comparisons that hold.
        listed: Those that do not hold, by kind of difference; `unlisted` for those of no entry.
        stale: Those that hold although an entry lists them.
    """

    operator: str
    facts: int
    cases: int
    checks: int
    equal: int
    listed: Counter[str]
    stale: int


def main() -> None:
    """Print the table, or bring the table of differences up to date."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.recorded", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="OPERATOR", help="these operators alone")
    parser.add_argument("--update", action="store_true", help="write the table of differences again")
    options = parser.parse_args()
    if options.update and options.only:
        parser.error("--update needs the checks of every operator; leave --only out")
    record = store.load()
    chosen = options.only or list(record.facts)
    some = Record({op: record.facts[op] for op in chosen}, record.results, record.verdicts)
    found = list(checks(some))
    ran = [(check, check.run()) for check in found if not faults.excuses(check.id)]
    matcher = differences.Matcher(differences.load())
    if options.update:
        differences.TABLE.write_text(updated(ran, matcher), encoding="utf-8")
        return
    table = rows(some, ran, matcher)
    print_table(table)
    print_reasons(ran, matcher)
    print(f"{len(found) - len(ran)} checks are excused by faults of MXNet")
    if stale := sum(row.stale for row in table):
        sys.exit(f"{stale} checks hold although a difference lists them; see --update")


def rows(record: Record, ran: Sequence[tuple[Check, str | None]], matcher: differences.Matcher) -> list[Row]:
    """A row for each operator."""
    by_operator: dict[str, list[tuple[Check, str | None]]] = defaultdict(list)
    for check, words in ran:
        by_operator[check.operator].append((check, words))
    return [_row(op, record, by_operator[op], matcher) for op in record.facts]


def _row(
    op: str, record: Record, ran: Sequence[tuple[Check, str | None]], matcher: differences.Matcher
) -> Row:
    listed: Counter[str] = Counter()
    stale = 0
    for check, words in ran:
        entry = matcher.find(check.id)
        if words:
            listed[entry.kind if entry else "unlisted"] += 1
        elif entry:
            stale += 1
    cases = record.results.get(op, {})
    return Row(op, len(record.facts[op]), len(cases), len(ran), len(ran) - listed.total(), listed, stale)


def print_table(table: Sequence[Row]) -> None:
    """Print rows by plugin, and their sums."""
    kinds = [*differences.KINDS, "unlisted"]
    print(
        f"{'operator':48}" + "".join(f"{head:>17}" for head in ("facts", "cases", "checks", "equal", *kinds))
    )
    plugin = ""
    for row in table:
        if PLUGIN_OF[row.operator] != plugin:
            plugin = PLUGIN_OF[row.operator]
            print(f"[{plugin}]")
        _print(
            f"  {row.operator}", row.facts, row.cases, row.checks, row.equal, *(row.listed[k] for k in kinds)
        )
    sums = [sum(getattr(row, key) for row in table) for key in ("facts", "cases", "checks", "equal")]
    _print(f"{len(table)} operators", *sums, *(sum(row.listed[kind] for row in table) for kind in kinds))


def print_reasons(ran: Sequence[tuple[Check, str | None]], matcher: differences.Matcher) -> None:
    """Print how many checks fail for each reason, the most frequent first."""
    counts = Counter(
        (entry.kind, entry.reason) for check, words in ran if words and (entry := matcher.find(check.id))
    )
    for (kind, reason), count in counts.most_common():
        print(f"{count:6}  {kind}: {reason}")


def _print(label: str, *numbers: int) -> None:
    print(f"{label:48}" + "".join(f"{number or '-':>17}" for number in numbers))


if __name__ == "__main__":
    main()
