"""Trials of one thing at many places, each in a process that a hang ends with a stack dump.

The program that runs in such a process calls `conduct` with what it tries. It says on its output what it is
about to try, and then what became of it. A fault ends the process, since whatever it tore would spoil what
comes after; so does a trial that does not end in time, which is a verdict and not a time-out of the suite.
`run`, in the process of the test, begins another one after each, and passes on what was tried already.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.reliability.processes import environment

LIMIT_S: Final = float(os.environ.get("LABORATORY_LIMIT_S", "30"))
"""How long a trial of some milliseconds may take on a loaded machine."""

HARMLESS_LIMIT_S: Final = LIMIT_S / 6
"""The same where a trial that does not end is no fault."""

HANG: Final = "hang"
LOST: Final = "lost error"
WRONG: Final = "wrong"
BROKEN: Final = "broken"
CRASH: Final = "crash"
MISSED: Final = "missed"
NEVER: Final = "never delivered"
PYTHON: Final = "crash of Python"
"""Verdicts. LOST: the error did not come out of the call it interrupted, or came out once more elsewhere.
WRONG: a number or a count. BROKEN: the engine refuses what it should do. These are no faults: MISSED: the
program did not come to that place this time; NEVER: only a trace function can raise where that does harm;
PYTHON: the interpreter itself crashed, at a place that is known for it."""

_CRASHES: Final = ("in _written",)
"""Where an allocation that fails crashes CPython 3.11, in lines of Python alone: its iterator over the lines
of a code. Since 3.12 it crashes where it makes a function or a generator, at once or when that is used, and
so anywhere."""

FAULTS: Final = (HANG, LOST, WRONG, BROKEN, CRASH)


class Verdict(NamedTuple):
    """What became of one trial: `kind` is empty where all was as promised."""

    key: str
    kind: str
    text: str


class Fault(Exception):  # noqa: N818 - a verdict, not an error of this program
    """What a trial found."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Trials:
    """The trials of this process; those that an earlier one has made are left out."""

    def __init__(self) -> None:
        tried = json.load(sys.stdin)
        self._tried = set(tried)
        self._last = tried[-1].split()[0] if tried else ""

    def is_behind(self, subject: str) -> bool:
        """Whether an earlier process has made all trials of a subject."""
        return subject != self._last and any(key.split()[0] == subject for key in self._tried)

    def wants(self, key: str) -> bool:
        """Whether `key` was not tried yet."""
        return key not in self._tried

    def make(self, key: str, attempt: Callable[[str], str], unended: str = HANG) -> bool:
        """Try one thing; whether it went well.

        Args:
            attempt: Raises `Fault` for a fault, and returns MISSED, another remark or an empty text.
            unended: The verdict where it does not end.
        """
        report(key=key, unended=unended)
        faulthandler.dump_traceback_later(LIMIT_S if unended == HANG else HARMLESS_LIMIT_S, exit=True)
        try:
            report(kind=attempt(key), text="")
        except Fault as fault:
            report(kind=fault.kind, text=str(fault))
            return False
        return True

    @staticmethod
    def end() -> None:
        """Say that there is no more to try, and end the process."""
        report(over=True)
        os._exit(0)  # what an engine does at the end is tried elsewhere


def conduct(
    subjects: Iterable[str],
    keys: Callable[[str], Iterable[str]],
    attempt: Callable[[str], str],
    unended: Callable[[str], str] = lambda _: HANG,
) -> None:
    """Make the trials `keys(subject)` of all subjects, up to the first fault, and end the process.

    Each key begins with its subject; `unended(key)` is the verdict on a trial that does not end.
    """
    trials = Trials()
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    for subject in subjects:
        if trials.is_behind(subject):
            continue
        try:
            for key in keys(subject):
                if trials.wants(key) and not trials.make(key, attempt, unended(key)):
                    os._exit(0)
        except Fault as fault:  # of what is done before a subject's first trial
            report(key=f"{subject} preparing")
            report(kind=fault.kind, text=traceback.format_exc())
            os._exit(0)
    trials.end()


def report(**line: object) -> None:
    """Write one line of what `run` reads."""
    os.write(1, json.dumps(line).encode() + b"\n")


def run(module: str, *arguments: str, most_faults: int = 400, **settings: object) -> list[Verdict]:
    """Conduct the trials of `module`, a program, in as many processes as its faults need."""
    verdicts: list[Verdict] = []
    while sum(verdict.kind in FAULTS for verdict in verdicts) < most_faults:
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", module, *arguments],
            env=environment(**settings), input=json.dumps([verdict.key for verdict in verdicts]),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        is_over = bool(lines) and "over" in lines[-1]
        begun = len(verdicts)
        is_late = "Timeout" in done.stderr or -done.returncode == getattr(signal, "SIGALRM", None)
        verdicts += _verdicts(lines, done.stderr, is_late, is_starved="memory" in arguments)
        if is_over:
            return verdicts
        if len(verdicts) == begun:
            raise AssertionError(f"{module} {arguments} ended with {done.returncode}:\n{done.stderr}")
    return verdicts


def _verdicts(
    lines: Sequence[Mapping[str, Any]], stderr: str, is_late: bool, is_starved: bool
) -> Iterable[Verdict]:
    key, unended = None, HANG
    for line in lines:
        if "key" in line:
            key, unended = line["key"], line.get("unended", HANG)
        elif key is not None and "kind" in line:
            yield Verdict(key, line["kind"], line["text"])
            key = None
    if key is not None:
        is_known = (
            is_starved
            and "Segmentation fault" in stderr
            and (sys.version_info >= (3, 12) or any(place in stderr for place in _CRASHES))
        )
        yield Verdict(key, unended if is_late else PYTHON if is_known else CRASH, stderr)


def table(verdicts: Iterable[Verdict]) -> dict[str, Counter[str]]:
    """By subject, which is a key's first word, how many verdicts of each kind; "tried" is all but MISSED."""
    found: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        counts = found.setdefault(verdict.key.split()[0], Counter())
        counts["tried"] += verdict.kind != MISSED
        counts[verdict.kind] += 1
    return found


def faults(verdicts: Iterable[Verdict], most: int = 6) -> str:
    """The first faults, for a test's message; empty where there is none."""
    found = [verdict for verdict in verdicts if verdict.kind in FAULTS]
    listed = "\n".join(f"{verdict.kind}: {verdict.key}\n{verdict.text[-3000:]}" for verdict in found[:most])
    return listed and f"{len(found)} faults\n{listed}"


def options_of(parser: argparse.ArgumentParser, module: str) -> argparse.Namespace:
    """Parse the command line of `module`; with `--report` show what its trials find, and end."""
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        _report_of(module)
        sys.exit()
    return options


def _report_of(module: str) -> None:
    """Conduct the trials that the command line asks `module` for, under these settings, and print them."""
    settings = {name[7:].lower(): value for name, value in os.environ.items() if name.startswith("OPERAD_")}
    show(run(module, *[argument for argument in sys.argv[1:] if argument != "--report"], **settings))


def show(verdicts: Sequence[Verdict]) -> None:
    """Print the table and the faults."""
    for subject, counts in table(verdicts).items():
        listed = ", ".join(f"{count} {kind or 'sound'}" for kind, count in counts.items())
        sys.stdout.write(f"{subject:16} {listed}\n")
    for verdict in verdicts:
        if verdict.kind in (*FAULTS, NEVER):
            lines = verdict.text.strip().splitlines()
            # The main thread comes last in a dump, with its newest call first.
            heads = [at for at, line in enumerate(lines) if line.startswith(("Thread 0x", "Current thread"))]
            shown = lines[heads[-1] :][:9] if heads else lines[-9:]
            sys.stdout.write("\n    ".join([f"{verdict.kind}: {verdict.key}", *shown, ""]))
            sys.stdout.write("\n")
