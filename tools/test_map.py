"""Map of the tests of an earlier commit to those of today: the same id, a row of another test, or a reason.

    python -m tools.test_map             # from 88d4267d, the last commit with one suite
    python -m tools.test_map --old FILE  # ids that were collected before, one per line

Tests are collected as by `pytest --collect-only`, contract suites left out. The command fails if an earlier
test is neither there nor in a rule of `tools/test_map.toml`, or if what a rule promises is not there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, final

import pytest

from tools.workspace import ROOT

BEFORE: Final = "88d4267d"
WALK: Final = "[*]"
"""End of the id of a walk's rows, which are tests no more."""
_MXNET: Final = "tests/conformance/test_mxnet.py"
_DOCS: Final = "tests/conformance/test_docs.py"


@cache
def recorded_checks() -> Mapping[str, str]:
    """Ids of the tests that walk the record of MXNet, by the ids of their rows."""
    from tests.conformance import test_mxnet as walks  # noqa: PLC0415 - loads the record

    return {
        check.id: f"{_MXNET}::{walks.walk_of(check).__name__}[{operator}]"
        for operator, checks in walks.compared().items()
        for check in checks
    }


@cache
def pages_that_are_read() -> Mapping[str, str]:
    """The test of pages without code, by page."""
    from tests.conformance import test_docs as docs  # noqa: PLC0415 - reads the pages

    walk = f"{_DOCS}::test_pages_without_code_can_be_read"
    return {page.relative_to(ROOT).as_posix(): walk for page in docs.READ}


@cache
def pages() -> Mapping[str, str]:
    """The test of links, by page."""
    from tests.conformance import test_docs as docs  # noqa: PLC0415 - as above

    return {
        page.relative_to(ROOT).as_posix(): f"{_DOCS}::test_links_of_pages_lead_to_files"
        for page in docs.PAGES
    }


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A change of ids.

    Attributes:
        old: Pattern of a whole id.
        new: Id now, with the groups of the pattern; "": there is none.
        rows: Ids of walking tests by rows, of which the group `row` is one.
        reason: Why there is no such test any more; with `new`, why that is another one.
    """

    old: str
    new: str = ""
    rows: Callable[[], Mapping[str, str]] | None = None
    reason: str = ""


def rules_of(text: str) -> tuple[Rule, ...]:
    r"""Rules of a TOML text, in this order.

    Args:
        text: A table `files`: files then and now, whose tests keep their names. Tables `moved`: names of
            tests of a file, with or without parameters, and what they are today
            (`\1`: the parameters that they had; `file::name`: in another file). `patterns` of whole ids.
            `renumbered`: patterns where pytest counts parameters from another place. `gone`, with the reason.
    """
    data = tomllib.loads(text)
    files = (
        Rule(re.escape(old) + "::(.*)", new + r"::\1", reason="the same test")
        for old, new in data["files"].items()
    )
    moved = (
        Rule(
            re.escape(f"{each['file']}::{old}") + r"(\[.*\])?",
            new if "::" in new else f"{each['file']}::{new}",
            reason=each.get("reason", ""),
        )
        for each in data["moved"]
        for old, new in each["names"].items()
    )
    patterns = (Rule(**each) for each in data["patterns"])
    renumbered = (
        Rule(
            each["old"].replace("{number}", str(number)),
            each["new"].replace("{number}", str(number + each["by"])),
        )
        for each in data["renumbered"]
        for number in each["numbers"]
    )
    gone = (Rule(pattern, reason=each["reason"]) for each in data["gone"] for pattern in each["ids"])
    return *files, *moved, *patterns, *renumbered, *gone


WALKED: Final = (
    Rule(re.escape(_MXNET) + r"::test_operad_does_as_mxnet\[(?P<row>.*)\]", rows=recorded_checks),
    Rule(re.escape(_DOCS) + r"::test_code_of_the_page_runs\[(?P<row>.*)\]", rows=pages_that_are_read),
    Rule(re.escape(_DOCS) + r"::test_links_of_the_page_lead_to_files\[(?P<row>.*)\]", rows=pages),
)
_TABLE: Final = Path(__file__).with_suffix(".toml").read_text("utf-8")
RULES: Final = (*rules_of(_TABLE), *WALKED)
FOLDERS: Final[Mapping[str, str]] = tomllib.loads(_TABLE)["folders"]
"""Folders now by folders then, of which the first that an id begins with counts; rules name those of now."""


def place_of(old: str, now: Mapping[str, str]) -> tuple[str, str] | None:
    """Kind of an id's place, and the id now; None where nothing says it.

    Args:
        now: Suites by the ids of today's tests.
    """
    before = next((folder for folder in FOLDERS if old.startswith(folder)), "")
    old = FOLDERS.get(before, "") + old.removeprefix(before)
    if found := _in(now, old):
        return f"{'the same test' if found == old else 'a row of a walk'}, {now[found]}", found
    for rule in RULES:
        match = re.fullmatch(rule.old, old, re.S)
        if match is None:
            continue
        if rule.reason and not rule.new:
            return f"gone: {rule.reason}", ""
        new = rule.rows().get(match["row"], "") if rule.rows else match.expand(rule.new)
        kind = "a row of a test" if rule.rows else rule.reason or "another test"
        if found := _in(now, new):
            return f"{kind}, {now[found]}", found
    return None


def _in(now: Mapping[str, str], id: str) -> str:
    """The id of today's test that is this one, or that has it as a row; empty where there is none."""
    return next((each for each in (id, id.partition("[")[0] + WALK) if each in now), "")


def pytest_collection_finish(session: pytest.Session) -> None:
    """As a plugin of pytest, write the suite of each test before its id."""
    writer = session.config.get_terminal_writer()
    for item in session.items:
        suite = next((mark for mark in ("slow", "more") if item.get_closest_marker(mark)), "fast")
        writer.line(f"{suite}\t{item.nodeid}")
        if item.get_closest_marker("walk"):
            writer.line(f"{suite}\t{item.nodeid.partition('[')[0]}{WALK}")


def collected(root: Path, *plugins: str) -> list[str]:
    """Lines with the ids of a checkout's tests, the contract suites left out.

    Raises:
        SystemExit: They cannot be collected.
    """
    sources = ":".join(map(str, sorted(root.glob("*/src")) + sorted(root.glob("*/*/src"))))
    words = ["--collect-only", "-q", "-m", "not contract", "-p", "no:cacheprovider", *plugins]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=root, env={**os.environ, "PYTHONPATH": sources}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{root}: pytest cannot collect\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    # Some ids hold the path of the checkout.
    return [line.replace(f"{root}/", "") for line in done.stdout.splitlines() if "::" in line]


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A commit in a folder of its own."""
    with TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def table(old: Iterable[str], now: Mapping[str, str]) -> tuple[Counter[str], list[str]]:
    """Numbers of earlier tests by what became of them, and the ids of which nothing says it."""
    counts: Counter[str] = Counter()
    lost = []
    for each in old:
        place = place_of(each, now)
        if place is None:
            lost.append(each)
        else:
            counts[place[0]] += 1
    return counts, lost


def main() -> int:
    """Print the table, and what is lost."""
    parser = argparse.ArgumentParser(prog="python -m tools.test_map")
    parser.add_argument("--old", type=Path, metavar="FILE", help=f"earlier ids; left out: those of {BEFORE}")
    given = parser.parse_args()
    if given.old:
        old = [line for line in given.old.read_text("utf-8").splitlines() if "::" in line]
    else:
        with checkout(BEFORE) as folder:
            old = collected(folder)
    pairs = [line.partition("\t") for line in collected(ROOT, "-p", "tools.test_map") if "\t" in line]
    now = {id: suite for suite, _, id in pairs}
    rows = sum(id.endswith(WALK) for id in now)
    counts, lost = table(old, now)
    for what, count in counts.most_common():
        print(f"{count:6} {what}")
    for each in lost:
        print(f"lost: {each}")
    print(f"{len(old)} earlier tests, {len(lost)} lost; {len(now) - rows} tests today, {rows} of them walks")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
