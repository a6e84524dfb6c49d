"""Write the pages of the corpus from the results of a run and `triage.toml`.

`docs/measurements/check-corpus.md` has the libraries of arrays, and `docs/measurements/corpus.md` those
built upon them, and the functions that were written for the corpus.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.corpus.tables import BACKENDS
from tools.workspace import ROOT

FOLDER: Final = ROOT / "docs/measurements"
TRIAGE: Final = Path(__file__).with_name("triage.toml")
VERDICTS: Final = ("fault", "known", "range", "by design", "stopped", "ours")
_TITLES: Final = {
    "torch": "PyTorch",
    "jax": "JAX",
    "kornia": "kornia",
    "torchvision": "torchvision",
    "own_torch": "`autograd.Function`s written for the corpus",
    "optax": "optax",
    "flax": "flax",
    "own_jax": "`custom_vjp`s written for the corpus",
}
PAGES: Final = {
    "check-corpus.md": ("torch", "jax"),
    "corpus.md": tuple(name for name in _TITLES if name not in ("torch", "jax")),
}

_HEAD: Final = """\
# The checks on functions of {title}

Written by `make check-corpus` from the functions of `tests/corpus/` and the verdicts of
`tests/corpus/triage.toml`. Each function has its line and nothing else: no reference, and a domain where not
every number will do. 20 drawn cases of each kind beside those that are designed, 8 of JAX, which
compiles every operation for every shape (with most optimisations off, and a cache that all functions
share); on the CPU, one thread, seconds of processor time. `gradcheck` was shown the same cases for
derivatives: *2 of 14* are refused by it.

Each red entry was looked at, and a function counts under the first of these that one of its entries has:

* **fault**: the function is wrong there; the program shows it.
* **known**: wrong there, and reported to its authors before.
* **range**: an intermediate result leaves the range or the digits of its type, as every operation rounds for
  itself; the result or its gradient would fit. Most are of float16.
* **by design**: what the function does is what it means to do.
* **stopped**: it used up its 120 s of processor time, and nothing is said of it.
* **ours**: the check is wrong; a false alarm.

*Hard* and *undeclared* are functions that have such findings beside; neither is an accusation. A program
that *cannot run* lacks a name or a module. *16 of 115*: the others of the table have not been run;
`make check-corpus` goes on with them.
"""


def rows(library: str) -> list[dict[str, Any]]:
    """Results of a library's functions; none where they were not checked."""
    file = ROOT / f"build/corpus-{library}.jsonl"
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return list({row["name"]: row for row in found}.values())


def causes(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Red outcomes that no other outcome explains."""
    if "error" in row:
        return [{"check_id": "R506", "reason": row["error"], "failure": None}]
    found = [outcome for outcome in row["outcomes"] if not outcome["echo_of"]]
    told = {outcome["check_id"] for outcome in row["outcomes"]}
    unproved = [id for id in row["red"] if id not in told]
    return [*found, *({"check_id": id, "reason": "not proved", "failure": None} for id in unproved)]


def totals(found: dict[str, list[dict[str, Any]]], triage: dict[str, Any]) -> Iterator[str]:
    """The table of all libraries."""
    columns = [
        "library",
        "functions",
        "green",
        "hard",
        "undeclared",
        *VERDICTS,
        "false alarm",
        "programs that cannot run",
        "median s",
        "most s",
    ]
    yield f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|"
    for library, rows_found in found.items():
        named = {row["name"]: verdicts(triage.get(library, {}), row) for row in rows_found}
        first = Counter(min(each, key=VERDICTS.index) for each in named.values() if each)
        alarms = sum("ours" in each for each in named.values())
        seconds = sorted(row["seconds"] for row in rows_found)
        total = len(import_module(f"tests.corpus.of_{library}").TABLE)
        cells = [
            _title(library, rows_found),
            f"{len(rows_found)} of {total}",
            len(named) - first.total(),
            _with(rows_found, "hard"),
            _with(rows_found, "undeclared"),
            *(first[name] for name in VERDICTS),
            f"{100 * alarms / len(named):.1f} %",
            _lame(rows_found),
            f"{median(seconds):.1f}",
            f"{seconds[-1]:.1f}",
        ]
        yield f"| {' | '.join(map(str, cells))} |"
    yield "\nA false alarm is a function with any entry that is *ours*."
    yield from _minutes(found)
    on_torch = {name: each for name, each in found.items() if BACKENDS[name] == "torch"}
    yield from _by_gradcheck(on_torch, triage)


def _minutes(found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Sentences on processor time."""
    taken: Counter[str] = Counter()
    for name, rows_found in found.items():
        taken[BACKENDS[name]] += sum(row["seconds"] for row in rows_found)
    for library, seconds in taken.items():
        yield f"Functions of {_TITLES[library]}'s arrays take {seconds / 60:.0f} minutes of processor time."
    yield "As many tables run beside one another as there are cores."


def _with(found: list[dict[str, Any]], verdict: str) -> int:
    """Number of functions that have a finding of a verdict which does not count as red."""
    return sum(bool(row.get(verdict)) for row in found)


def _lame(found: list[dict[str, Any]]) -> int:
    """Number of printed programs that end before they compare."""
    programs = [outcome.get("program", "") for row in found for outcome in row["outcomes"]]
    return sum(program.startswith("cannot run") for program in programs)


def _by_gradcheck(found: dict[str, list[dict[str, Any]]], triage: dict[str, Any]) -> Iterator[str]:
    """The sentence on functions of which `gradcheck` refuses some case."""
    shown = [
        (library, row) for library, rows_found in found.items() for row in rows_found if row.get("gradcheck")
    ]
    wrong = [row for name, row in shown if verdicts(triage.get(name, {}), row) & {"fault", "known"}]
    green = [row for _, row in shown if not row["red"]]
    refused, alarmed = (sum(row["gradcheck"][0] > 0 for row in rows) for rows in (wrong, green))
    yield (
        f"`gradcheck` refuses a case of {refused} of the {len(wrong)} functions of PyTorch's arrays "
        f"that are a fault or known,\nand one of {alarmed} of the {len(green)} that are green."
    )


def verdicts(triage: dict[str, Any], row: dict[str, Any]) -> set[str]:
    """Verdicts on the entries of a function."""
    return {_verdict(triage, row, outcome)["verdict"] for outcome in causes(row)}


def _title(library: str, found: list[dict[str, Any]]) -> str:
    version = next((row["version"] for row in found if "version" in row), "")
    return f"{_TITLES[library]} {version}".strip() if library == BACKENDS[library] else _TITLES[library]


def section(library: str, found: list[dict[str, Any]], triage: dict[str, Any]) -> Iterator[str]:
    """The part of the page on one library."""
    red = [row for row in found if row["red"]]
    yield f"\n## {_title(library, found)}\n"
    yield "| function | check | verdict | found | because | gradcheck |"
    yield "|---|---|---|---|---|---|"
    for row in red:
        for outcome in causes(row):
            judged = _verdict(triage, row, outcome)
            message = _short((outcome["failure"] or {}).get("message") or outcome["reason"])
            check = "{} of {}".format(*row["gradcheck"]) if row.get("gradcheck") else ""
            because = _cell(judged["because"])
            yield (
                f"| `{row['name']}` | {outcome['check_id']} | {judged['verdict']} | {message} | {because} | "
                f"{check} |"
            )
    yield from _programs(red, triage)
    green = " ".join(f"`{row['name']}`" for row in found if not row["red"])
    yield f"### Green\n\n{green}"


def _programs(red: list[dict[str, Any]], triage: dict[str, Any]) -> Iterator[str]:
    """Programs that show the faults."""
    yield "\n### Programs\n"
    for row in red:
        for outcome in causes(row):
            judged = _verdict(triage, row, outcome)
            script = judged.get("program") or (outcome["failure"] or {}).get("script", "")
            if script and judged["verdict"] == "fault":
                body = "\n".join(line for line in script.strip().splitlines() if not line.startswith("#"))
                yield f"`{row['name']}`, {outcome['check_id']}:\n\n```text\n{body}\n```\n"


def _verdict(triage: dict[str, Any], row: dict[str, Any], outcome: dict[str, Any]) -> dict[str, str]:
    found = triage.get(row["name"], {})
    unknown = {"verdict": "ours", "because": "not looked at"}
    if row.get("error", "").startswith("stopped"):
        unknown = {"verdict": "stopped", "because": ""}
    verdict: dict[str, str] = found.get(outcome["check_id"]) or found.get("all", unknown)
    return verdict


def _short(text: str) -> str:
    return _cell(text if len(text) < 160 else f"{text[:157]}...")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write the pages of which there is some result."""
    triage = tomllib.loads(TRIAGE.read_text())
    for page, libraries in PAGES.items():
        found = {library: rows_found for library in libraries if (rows_found := rows(library))}
        if not found:
            continue
        title = "PyTorch and JAX" if page == "check-corpus.md" else "libraries built upon PyTorch and JAX"
        parts = [_HEAD.format(title=title), *totals(found, triage)]
        for library, rows_found in found.items():
            parts += section(library, rows_found, triage.get(library, {}))
        (FOLDER / page).write_text("\n".join(parts).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
