"""Figures of the comparison with MXNet 1.9.1, and the page of them: `docs/measurements/mxnet.md`.

    python -m tests.conformance.figures

writes the page. What is counted as equal is what the tests of this folder expect to be, so nothing is
compared here again but imports, signatures and attributes of instances.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Final, NamedTuple, final

import operad as od
from operad_mxnet.port.names import every_name, find, record
from tests.conformance.recorded import api, behaviour, differences, faults, gluon, store
from tests.conformance.recorded.checks import checks
from tests.conformance.recorded.paths import imports, paths
from tests.conformance.recorded.programs import PROGRAMS

_DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE: Final = _DOCS / "measurements" / "mxnet.md"
LEFT_OUT: Final = (
    "np", "npx", "numpy", "ndarray.np", "ndarray.numpy", "ndarray.sparse", "symbol.np", "symbol.numpy",
    "symbol.sparse",
)  # fmt: skip
"""MXNet's NumPy and sparse arrays, which operad leaves out as a whole."""

_HEAD: Final = """\
# MXNet's programs, in figures

What was recorded from MXNet 1.9.1, and how much of it is the same here. `python -m tests.conformance.figures`
writes this page; a test fails where it is not current, and another for each fact that is not as this page
counts it. How the records are made, and how to find a fact in them: [conformance.md](../conformance.md).
Each difference on purpose has its row in [differences.md](../differences.md).
"""


@final
class Row(NamedTuple):
    """Facts of one kind.

    Attributes:
        kind: In plain words.
        recorded: How many.
        differing: Those that differ on purpose.
        absent: Those of names that are left out, each with its reason.
    """

    kind: str
    recorded: int
    differing: int = 0
    absent: int = 0


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The text of the page."""
    return "\n".join([_HEAD, *_facts(), *_files(), *_names(), *_programs()])


def _facts() -> Iterator[str]:
    rows = [
        *_behaviour(),
        *_imports(),
        *_api(),
        *_operators(),
        *_gluon(),
        Row("results of short programs", len(PROGRAMS)),
    ]
    yield "## Facts by kind\n"
    yield from _table(
        ("kind", "recorded", "equal", "differ on purpose", "absent, with the reason"),
        (
            (row.kind, row.recorded, row.recorded - row.differing - row.absent, row.differing, row.absent)
            for row in rows
        ),
    )
    excused = len(_checks()) - sum(row.recorded for row in rows if row.kind.endswith("of operators"))
    yield _paragraph(f"""
        The first four rows are the subjects of `tests/conformance/recorded/behaviour`. A fact of order is the
        sequence in which a loop calls what it was given: data, forward, metric, callback, update. {excused:,}
        results of operators are left out, for MXNet's own are wrong or undefined there.
    """)


@cache
def _checks() -> list[str]:
    return [check.id for check in checks(store.load())]


def _behaviour() -> Iterator[Row]:
    recorded, rows = behaviour.record(), behaviour.rows()
    kinds = {fact: _kind(fact, outcome) for fact, outcome in recorded.items()}
    total, differing = Counter(kinds.values()), Counter(kinds[fact] for fact in rows)
    for kind in ("what a call returns", "the exception that comes", "the order of calls"):
        yield Row(kind, total[kind], differing[kind])
    instances = [fact for fact, kind in kinds.items() if kind == "attributes"]
    missing = list(chain.from_iterable(map(_missing, instances)))
    yield Row("attributes of instances", sum(len(recorded[fact]) for fact in instances), absent=len(missing))


def _kind(fact: str, outcome: object) -> str:
    if fact.startswith("instances."):
        return "attributes"
    if fact.startswith("order."):
        return "the order of calls"
    is_error = isinstance(outcome, dict) and "raises" in outcome
    return "the exception that comes" if is_error else "what a call returns"


def _missing(fact: str) -> list[str]:
    found = behaviour.outcome(fact, behaviour.facts()[fact], od)
    names = behaviour.missing_attributes(found, behaviour.record()[fact], fact)
    return [name for name in names if any(fnmatch(name, pattern) for pattern in behaviour.absent())]


def _imports() -> Iterator[Row]:
    yield Row("import paths: files of the package", len(paths()), absent=len(imports().errors))
    stars = {module: names for module, names in record().items() if module in imports().stars}
    missing = sum(len(names.difference(imports().stars[module])) for module, names in stars.items())
    yield Row("names that a star imports", sum(map(len, stars.values())), absent=missing)


def _api() -> Iterator[Row]:
    found = Counter(one.kind for module in api.modules() for one in api.findings(module))
    yield Row("signatures of functions and methods", api.count_signatures(), differing=found["signature"])


def _operators() -> Iterator[Row]:
    matcher = differences.Matcher(differences.load())
    total: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    for one in _checks():
        if not faults.excuses(one):
            kind = "results of operators" if "/" in one else "descriptions of operators"
            total[kind] += 1
            differing[kind] += matcher.find(one) is not None
    for kind in sorted(total):
        yield Row(kind, total[kind], differing[kind])


def _gluon() -> Iterator[Row]:
    recorded = gluon.names()
    found = [(module, one) for module in recorded for one in api.findings(module, recorded[module])]
    sizes = {module: sum(map(_size, names.values())) for module, names in recorded.items()}
    absent = sum(sizes[module] if one.name == module else 1 for module, one in found)
    yield Row("names of Gluon, with their signatures", sum(sizes.values()), absent=absent)
    yield Row("behaviour of Gluon", len(gluon.record()), len(gluon.rows()))


def _size(recorded: object) -> int:
    return len(recorded) if isinstance(recorded, dict) else 1


def _files() -> Iterator[str]:
    errors = imports().errors
    count = len(paths())
    yield "## Files of the package"
    yield _paragraph(f"""
        MXNet's package has {count} Python files, programs and private ones among them. {count - len(errors)}
        are imported here by their paths (`import mxnet.module.bucketing_module`). Each of the others raises
        an `ImportError` that says why:
    """)
    reasons = Counter(_reason(text) for text in errors.values())
    firsts = {_reason(text): path for path, text in reversed(errors.items())}
    yield from _table(
        ("files", "such as", "reason"),
        ((number, f"`{firsts[reason]}`", reason) for reason, number in reasons.most_common()),
    )


def _reason(text: str) -> str:
    return text.partition("no package of operad does: ")[2]


def _names() -> Iterator[str]:
    names = list(every_name())
    asked = [name for name in names if not name.startswith(LEFT_OUT)]
    yield "\n## The score of `operad port`"
    yield _paragraph("""
        `operad port` knows each public name of MXNet 1.9.1: here, with the package that has it, or absent,
        with what to do instead. No name is without one of the two.
    """)
    yield from _table(
        ("names", "public", "here", "share"),
        (
            (words, f"{len(some):,}", f"{(here := _here(some)):,}", f"{100 * here / len(some):.0f} %")
            for words, some in (
                ("all", names),
                ("outside of MXNet's NumPy and sparse arrays", asked),
            )
        ),
    )


def _here(names: Iterable[str]) -> int:
    return sum(find(name).standing == "here" for name in names)


def _programs() -> Iterator[str]:
    text = (_DOCS / "measurements" / "programs.md").read_text(encoding="utf-8")
    lines = [int(found) for found in re.findall(r"^\| `.*\| (\d+) \|$", text, re.MULTILINE)]
    yield "\n## Programs"
    yield _paragraph(f"""
        Of {len(lines)} public programs that were run ([programs.md](programs.md)) {lines.count(0)} run with
        no line changed for operad but the import, which `operad run-mxnet` leaves as it is, too.
    """)


def _paragraph(text: str) -> str:
    return "\n" + fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False) + "\n"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
