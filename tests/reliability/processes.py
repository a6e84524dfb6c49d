"""Programs run in a process of their own, under settings of their own and a time limit."""

from __future__ import annotations

import os
import subprocess
import sys

LIMIT_S = 400


def environment(**settings: object) -> dict[str, str]:
    """This process's environment with other `OPERAD_*` settings: `engine="naive"` is OPERAD_ENGINE."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPERAD_")}
    return {**kept, **{f"OPERAD_{name.upper()}": str(value) for name, value in settings.items()}}


def run(*arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run this Python on `arguments`; a program that does not end within `LIMIT_S` fails the test."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments],
        env=environment(**settings), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
