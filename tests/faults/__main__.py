"""Does the suite notice? Faults are put into this checkout one by one, and tests run until one fails.

    python -m tests.faults                 # by the tests of `make test`
    python -m tests.faults --all --only 3  # by those of `make test-more` too, the third fault alone
    python -m tests.faults --draw          # what would be drawn, for a new list

The tests nearest to the fault run first: those of its module, of its room, of its distribution; then all.
Take a clone for it: the sources change while it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults.drawing import draw, shares
from tests.faults.listed import LIST, Fault, applied, load
from tools.workspace import ROOT, distributions

SEED = "2026"
NUMBER = 30
_PASSED = (0, 5)
"""Exit statuses of pytest: nothing failed; nothing was selected."""


def stages(file: str) -> Iterator[list[str]]:
    """Paths of tests for a fault in `file`, the nearest first; the last is the whole suite."""
    path = ROOT / file
    (own,) = [each.folder for each in distributions(ROOT) if path.is_relative_to(each.folder)]
    inner = path.relative_to(own / "src").parts[1:]
    module = own / "tests" / Path(*inner[:-1], f"test_{inner[-1]}")
    wanted = [module, module.parent, own / "tests", own]
    there = dict.fromkeys(each.relative_to(ROOT).as_posix() for each in wanted if each.exists())
    yield from ([each] for each in there)
    yield []


def caught_by(fault: Fault, marks: str, *, near: bool) -> tuple[str, list[str]]:
    """Paths of tests of which one failed, with its lines; or nothing.

    Args:
        near: Leave out the tests of other distributions.
    """
    for paths in stages(fault.edit.file):
        if near and not paths:
            break
        workers = [] if paths and paths[0].endswith(".py") else ["-n", "2", "--dist", "worksteal"]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks]
        done = subprocess.run(
            [*command, *workers, *paths], check=False, cwd=ROOT, capture_output=True, text=True
        )
        if done.returncode not in _PASSED:
            lines = done.stdout.splitlines()
            named = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
            return " ".join(paths) or "the rest", named or lines[-3:]
    return "", []


def main() -> int:
    """Run the faults, and write what each was caught by to `build/faults.json` as it is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--all", action="store_true", help="with the tests of make test-more")
    parser.add_argument("--only", type=int, nargs="*", metavar="N", help="these faults of the list, from 1")
    parser.add_argument("--near", action="store_true", help="only with the tests of the distribution")
    parser.add_argument("--draw", action="store_true", help="print edits in the order of the draw, and stop")
    given = parser.parse_args()
    if given.draw:
        for group, share in shares(NUMBER).items():
            for edit, _ in zip(draw(group, SEED), range(share + 8), strict=False):
                print(f"{edit.file}:{edit.line}\n- {edit.before.strip()}\n+ {edit.after.strip()}")
        return 0
    # Not the words of pyproject.toml, which would bring `more` with the paths that the stages name.
    marks = "not (slow or contract)" if given.all else "not (more or slow or contract)"
    written = ROOT / "build" / "faults.json"
    written.parent.mkdir(exist_ok=True)
    found: dict[int, dict[str, object]] = {}
    os.environ.setdefault("OPERAD_NUM_THREADS", "1")
    for number, fault in enumerate(load(LIST), 1):
        if given.only and number not in given.only:
            continue
        begin = time.monotonic()
        try:
            with applied(fault.edit):
                where, lines = caught_by(fault, marks, near=given.near)
        except LookupError as error:
            where, lines = "", [str(error)]
        took_s = round(time.monotonic() - begin)
        found[number] = {"file": fault.edit.file, "caught by": where, "lines": lines, "seconds": took_s}
        written.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(
            f"{number:2} {fault.edit.file}:{fault.edit.line} {where or 'NOT CAUGHT'} ({took_s} s)", flush=True
        )
    caught = sum(bool(each["caught by"]) for each in found.values())
    print(f"{caught} of {len(found)} faults were caught")
    return 0 if caught == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
