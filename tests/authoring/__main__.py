"""Measure an author's day, and write the page of it.

    python -m tests.authoring --json build/authoring.json --page docs/measurements/authoring.md

For each kind of `operad new`: seconds of this machine from nothing to a wheel, in an environment of its own
into which pip installs the wheels of this checkout, with nothing to download. And the lines of three
operators beside other libraries. Kinds that are in the record are kept, unless they are named; so is what the
page says of the six operators that were written by hand.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import operad
from operad_check.new import KINDS
from operad_check.new.requests import OF_OTHERS
from tests.authoring.lines import LIBRARIES, OPERATORS, count, program
from tests.benchmarks.page import cores, processor
from tests.integration.environments import CleanEnvironment, build_wheels

STEPS: Final = ("operad new", "pip install", "mypy", "pytest", "operad check --strict", "wheel")
_TITLES: Final = {
    "elementwise": "`x sigmoid(beta x)`",
    "row_norm": "rows with mean 0 and variance 1",
    "loss": "mean of `log cosh` of errors",
    "operad": "operad",
    "torch": "PyTorch `custom_op`",
    "mxnet": "MXNet `CustomOp`",
}
_BY_HAND: Final = "## Six operators"
_WHEEL: Final = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


def measured(kind: str, wheels: Path, scratch: Path) -> dict[str, float]:
    """Seconds of each step for a package with one operator of a kind, nothing in it edited."""
    environment = CleanEnvironment(scratch / "environment", wheels)
    environment.install("operad-check[new]", "operad-sdk[fast]", "operad-fully-connected")
    environment.add_libraries(["mypy", "ruff", "hatchling", "editables"])
    folder = scratch / "acme-ops"
    name = "FullyConnected" if kind in OF_OTHERS else "AcmeExample"

    def run(*words: str) -> None:
        environment.execute(*words, cwd=folder)

    asked = ["new", str(folder), "--op", f"{name}:{kind}", "--author", "Ada Lovelace"]
    steps: list[Callable[[], object]] = [
        lambda: environment.execute("-m", "operad", *asked),
        lambda: environment.install_project(folder, "test"),
        lambda: run("-m", "mypy"),
        lambda: run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--ignore=tests/test_contract.py"),
        lambda: run("-m", "operad", "check", "--strict", "--plugin", "acme-ops"),
        lambda: run("-c", _WHEEL, str(scratch)),
    ]
    found = {}
    for title, step in zip(STEPS, steps, strict=True):
        start = time.perf_counter()
        step()
        found[title] = round(time.perf_counter() - start, 1)
    assert list(scratch.glob("acme_ops-*.whl")), "no wheel was built"
    return found


def page(record: dict[str, dict[str, float]], before: str) -> str:
    """The text of the page, which ends as it did before."""
    lines = [
        "# An author's day",
        "",
        f"`python -m tests.authoring`; {datetime.now(UTC):%-d %B %Y}; {processor()}, {cores()} cores, which",
        f"do other work as well; Python {platform.python_version()}; operad {operad.__version__}.",
        "",
        "## From nothing to a wheel",
        "",
        "Seconds of the clock for a package of one operator as `operad new` makes it, nothing edited. pip",
        "installs wheels of the checkout where the libraries are; downloads would come on top.",
        "",
        f"| kind | {' | '.join(STEPS)} | minutes in all |",
        f"|---|{'--:|' * (len(STEPS) + 1)}",
    ]
    for kind in KINDS:
        if kind in record:
            times = record[kind]
            cells = " | ".join(f"{times[step]:.1f}" for step in STEPS)
            minutes = sum(times[step] for step in STEPS) / 60
            lines.append(f"| `{kind}` | {cells} | {minutes:.1f} |")
    lines += [
        "",
        "## Lines of an operator",
        "",
        "Lines of code of programs that compute the same (`tests/authoring/programs`; tests compare them",
        "with NumPy), imports and all, without blank lines, comments and docstrings. Each has a gradient and",
        "shapes without a run, and refuses shapes and parameters that do not fit. To be installed, operad's",
        "takes a line of `pyproject.toml` besides.",
        "",
        f"| operator | {' | '.join(_TITLES[library] for library in LIBRARIES)} |",
        f"|---|{'--:|' * len(LIBRARIES)}",
    ]
    for operator in OPERATORS:
        counts = [str(count(program(operator, library).read_text())) for library in LIBRARIES]
        lines.append(f"| {_TITLES[operator]} | {' | '.join(counts)} |")
    _, _, by_hand = before.partition(_BY_HAND)
    return "\n".join(lines) + (f"\n\n{_BY_HAND}{by_hand}" if by_hand else "\n")


def main() -> None:
    """Measure the kinds; write the record after each, and the page at the end."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("kinds", nargs="*", help="kinds to measure again; left out: those not in the record")
    parser.add_argument("--json", type=Path, required=True, help="the record")
    parser.add_argument("--page", type=Path, help="the page to write")
    arguments = parser.parse_args()
    record = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    missing = arguments.kinds or [kind for kind in KINDS if kind not in record]
    with TemporaryDirectory() as folder:
        if missing:
            build_wheels(Path(folder))
        for kind in missing:
            with TemporaryDirectory() as scratch:
                record[kind] = measured(kind, Path(folder), Path(scratch))
            arguments.json.write_text(json.dumps(record, indent=1) + "\n")
            sys.stderr.write(f"{kind} {record[kind]}\n")
    if arguments.page:
        before = arguments.page.read_text() if arguments.page.exists() else ""
        arguments.page.write_text(page(record, before))


if __name__ == "__main__":
    main()
