"""What the processes of `test_check_workers.py` run: they import it by name."""

from __future__ import annotations

import os
from typing import Any

from operad import config


def describe(name: str, profile: str | None) -> dict[str, Any]:
    """Where and how it runs."""
    return {"name": name, "profile": profile, "pid": os.getpid(), "threads": config.settings().num_threads}


def die(name: str, profile: str | None) -> dict[str, Any]:
    """As a kernel that writes where it must not may do."""
    os._exit(3)
