"""What the processes of `test_check_workers.py` run: they import it by name."""

from __future__ import annotations

import os
from signal import SIGSEGV
from threading import Event
from typing import Any

from operad import config
from operad_check.commands.check.workers import Told


def describe(name: str, profile: str | None, told: Told) -> dict[str, Any]:
    """Where and how it runs."""
    return {"name": name, "profile": profile, "pid": os.getpid(), "threads": config.settings().num_threads}


def end_badly(name: str, profile: str | None, told: Told) -> dict[str, Any] | str:
    """As the name says."""
    told({"check_id": "F201"})
    if name == "exits":
        os._exit(3)
    if name == "leaves":
        os._exit(0)
    if name == "prints":
        os.write(1, b"a line\n")
        os.write(2, b"and one from below\n")
    if name == "crashes":
        os.kill(os.getpid(), SIGSEGV)
    if name == "hangs":
        wait_for_ever()
    if name == "raises":
        raise ZeroDivisionError(name)
    return describe(name, profile, told)


def wait_for_ever() -> None:
    """What a trace shows."""
    Event().wait()
