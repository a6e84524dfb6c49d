"""A stage whose cases end in every way; they note in the file `ODD_STAGE_NOTES` that they ran."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import operad as od


def names() -> list[str]:
    """The cases, in this order."""
    return [
        "ended: passes",
        "ended: fails",
        "ended: dies",
        "ended: measures",
        "stuck: hangs",
        "stuck: ends",
    ]


def run(name: str) -> Mapping[str, object]:
    """End in the way of the name."""
    with Path(os.environ["ODD_STAGE_NOTES"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    if name == "ended: fails":
        raise AssertionError("two is not three")
    if name == "ended: dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "stuck: hangs":
        threading.Event().wait()
    if name == "ended: measures":
        return {"sum": float(od.nd.ones((3,), ctx=od.gpu(0)).sum().asscalar())}
    return {}
