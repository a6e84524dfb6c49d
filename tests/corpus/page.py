"""Write `docs/measurements/check-corpus.md` from the results of a run and `triage.toml`."""

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

from tools.workspace import ROOT

PAGE: Final = ROOT / "docs/measurements/check-corpus.md"
TRIAGE: Final = Path(__file__).with_name("triage.toml")
VERDICTS: Final = ("fault", "known", "range", "by design", "ours")
_TITLES: Final = {"torch": "PyTorch", "jax": "JAX"}

_HEAD: Final = """\
# The checks on functions of PyTorch and JAX

Written by `make check-corpus` from the functions of `tests/corpus/` and the verdicts of
`tests/corpus/triage.toml`. Each function has its line and nothing else: no reference, and a domain where not
every number will do. 20 drawn cases of each kind beside those that are designed; on the CPU, one thread,
seconds of processor time. `gradcheck` was shown the same cases for derivatives: *2 of 14* are refused by it.

Each red entry was looked at:

* **fault**: the function is wrong there; the program shows it.
* **known**: wrong there, and reported to its authors before.
* **range**: an intermediate result leaves the range or the digits of its type, as every operation rounds for
  itself; the result or its gradient would fit. Most are of float16.
* **by design**: what the function does is what it means to do.
* **ours**: the check is wrong; a false alarm.
"""


def rows(library: str) -> list[dict[str, Any]]:
    """Results of a library's functions; none where they were not checked."""
    file = ROOT / f"build/corpus-{library}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def causes(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Red outcomes that no other outcome explains."""
    return [outcome for outcome in row["outcomes"] if not outcome["echo_of"]]


def section(library: str, found: list[dict[str, Any]], triage: dict[str, Any]) -> Iterator[str]:
    """The part of the page on one library."""
    red = [row for row in found if row["red"]]
    verdicts: dict[str, Counter[str]] = {}
    for row in red:
        names = {_verdict(triage, row, outcome)["verdict"] for outcome in causes(row)} or {"ours"}
        verdicts.setdefault(min(names, key=VERDICTS.index), Counter())[row["name"]] += 1
    seconds = sorted(row["seconds"] for row in found)
    total = len(import_module(f"tests.corpus.of_{library}").TABLE)
    version = next((row["version"] for row in found if "version" in row), "")
    yield f"\n## {_TITLES[library]} {version}\n"
    yield "| functions | green | fault | known | range | by design | ours | median s | most s |"
    yield "|---|---|---|---|---|---|---|---|---|"
    counts = " | ".join(str(len(verdicts.get(name, ()))) for name in VERDICTS)
    yield (
        f"| {len(found)} of {total} | {len(found) - len(red)} | {counts} | {median(seconds):.1f} | "
        f"{seconds[-1]:.1f} |"
    )
    yield (
        "\nThose of the table that are missing have not been run yet. A function with several findings\n"
        "counts under the first of these columns.\n"
    )
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
    verdict: dict[str, str] = found.get(outcome["check_id"]) or found.get(
        "all", {"verdict": "ours", "because": "not looked at"}
    )
    return verdict


def _short(text: str) -> str:
    return _cell(text if len(text) < 160 else f"{text[:157]}...")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write the page."""
    triage = tomllib.loads(TRIAGE.read_text())
    parts = [_HEAD]
    for library in _TITLES:
        found = rows(library)
        parts += section(library, found, triage.get(library, {})) if found else ()
    PAGE.write_text("\n".join(parts).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
