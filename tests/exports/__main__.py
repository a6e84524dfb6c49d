"""Sweep over every first-party operator, exported to PyTorch and JAX.

    python -m tests.exports --json build/exports.json --page docs/measurements/exports.md

Where these are not installed it goes on in the environment of `make bench-peers` that has them, with the
distributions of the checkout. Rows that are in the record are kept, unless their operators are named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.benchmarks.environments import ENVIRONMENTS, made
from tests.exports.page import page
from tests.exports.sweep import CHECKS, first_party, measured, swept

_ELSEWHERE: Final = """
import runpy, site, sys
site.addsitedir(sys.argv.pop(1))
runpy.run_module("tests.exports", run_name="__main__", alter_sys=True)
"""
COMMAND: Final = "python -m tests.exports --json build/exports.json --page docs/measurements/exports.md"


def main() -> None:
    """Run the checks; write the record after each operator, and the page at the end."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "operators", nargs="*", help="operators to check again; left out: those not in the record"
    )
    parser.add_argument(
        "--framework", choices=sorted(CHECKS), action="append", help="torch, jax; left out: both"
    )
    parser.add_argument("--json", type=Path, required=True, help="the record")
    parser.add_argument("--times", action="store_true", help="measure the times in the record again, no more")
    parser.add_argument("--page", type=Path, help="the page to write")
    parser.add_argument("--most", type=int, help="stop after so many operators per framework")
    arguments = parser.parse_args()
    record = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    for framework in arguments.framework or sorted(CHECKS):
        rows = record.setdefault(framework, {})
        if arguments.times:
            for name in arguments.operators or [name for name, row in rows.items() if row["us"]]:
                rows[name]["us"] = measured(framework, name)
            continue
        names = arguments.operators or [name for name in first_party() if name not in rows]
        for row in swept(framework, names[: arguments.most]):
            rows[row.operator] = row.record()
            arguments.json.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
            for check, text in row.failures.items():
                print(f"{framework} {row.operator} {check}: {text}", flush=True)
    arguments.json.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    if arguments.page:
        arguments.page.write_text(page(record, COMMAND))


def elsewhere() -> int:
    """Run the same in the environment that has the frameworks."""
    python = made(next(one for one in ENVIRONMENTS if "torch" in one.libraries))
    site = sysconfig.get_path("purelib")
    return subprocess.run([python, "-c", _ELSEWHERE, site, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    if all(find_spec(framework) for framework in CHECKS):
        main()
    else:
        sys.exit(elsewhere())
