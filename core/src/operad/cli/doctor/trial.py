"""Imports every plugin in a process of its own, so that the doctor works where one is broken.

What is wrong with a plugin often shows only when it is imported, and a plugin may then do anything:
raise, end the process, never return, or change what all code of the process shares. The second process says
which plugin it is about to import, what that changed, and at the end which of them failed, one JSON object in
a line.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, final

from operad import registry
from operad.cli.extras import lacking_extras, without_optional
from operad.registry import PluginRecord, loading

_TIMEOUT_S: Final = 120.0


@final
class Failed(NamedTuple):
    """A plugin that cannot be imported, or changes the process, or an entry point of an absent extra.

    Attributes:
        name: Of the distribution; empty where the trial itself failed.
        reason: What happened.
        extra: The requirement that brings what is missing; empty: it is broken.
        works: True where it can be imported, and changes what is of the whole process.
    """

    name: str
    reason: str
    extra: str = ""
    works: bool = False


def failed_plugins(timeout_s: float = _TIMEOUT_S) -> list[Failed]:
    """The plugins that fail or change the process when they are imported, and what extras would bring.

    Args:
        timeout_s: How long all imports together may take.
    """
    # Safe path: as the script `operad`, it finds no package in the current folder.
    command = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=timeout_s)
    except subprocess.TimeoutExpired as late:
        return _interrupted(late.stdout or b"", f"importing it did not end within {timeout_s:g} s")
    if done.returncode:
        return _interrupted(done.stdout, f"importing it ended the process with code {done.returncode}")
    return [Failed(**line["failed"]) for line in _lines(done.stdout) if "failed" in line]


def _interrupted(said: bytes, reason: str) -> list[Failed]:
    tried = [line["trying"] for line in _lines(said) if "trying" in line]
    return [Failed(tried[-1] if tried else "", reason)]


def _lines(said: bytes) -> list[dict[str, Any]]:
    complete = said.decode().rpartition("\n")[0]
    return [json.loads(line) for line in complete.splitlines()]


def _try_all() -> None:
    """Body of the second process."""
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what plugins print is no part of the result
    plugins = loading.current()
    for owner in plugins.manifest.distributions:
        print(json.dumps({"trying": owner.name}), file=result, flush=True)
        before = _process_state()
        for named in plugins.manifest.groups.values():
            for entry in (e for entries in named.values() for e in entries if e.owner == owner):
                plugins.try_load(entry)
        after = _process_state()
        if changes := [
            f"{what} ({before.get(what)} -> {after[what]})"
            for what in after
            if after[what] != before.get(what)
        ]:
            changed = Failed(
                owner.name, f"importing it changes {', '.join(changes)} of the process", works=True
            )
            print(json.dumps({"failed": changed._asdict()}), file=result)
    for record in registry.load_all():
        for failed in _failures(record):
            print(json.dumps({"failed": failed._asdict()}), file=result)
    result.flush()
    # Threads that plugins started, and their exit handlers, are none of the doctor's business.
    os._exit(0)


def _process_state() -> dict[str, object]:
    """Settings that all code of a process shares, and that a loader does not put back."""
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    return {
        "the current folder": os.getcwd(),
        "the recursion limit": sys.getrecursionlimit(),
        "garbage collection": (gc.isenabled(), *gc.get_threshold()),
        "the switch interval": sys.getswitchinterval(),
        "the hook of uncaught exceptions": sys.excepthook,
        "the hook of exceptions in threads": threading.excepthook,
        **{f"the handler of {getattr(number, 'name', number)}": one for number, one in handlers.items()},
    }


def _failures(record: PluginRecord) -> Iterator[Failed]:
    rest = without_optional(record)
    if rest.state == "broken":
        yield Failed(rest.name, rest.reason or "")
    yield from (Failed(record.name, words, extra) for extra, words in lacking_extras(record).items())


if __name__ == "__main__":
    _try_all()
