"""Stage: files of tests that need a device, and those of programs of a user."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from tests.devices.day.running import ROOT
from tests.devices.device import is_stand_in

_OF_USERS: Final = ("tests/devices/test_programs.py", "tests/devices/test_stores.py")
_MARK: Final = "@pytest.mark.gpu"
_FOLDERS: Final = ("core/tests", "operator_sdk/*/tests", "plugins/*/tests", "contrib_ops/*/tests", "tests")


def names() -> list[str]:
    """Programs of a user, and every file with a test that is marked."""
    files = {file for place in _FOLDERS for folder in ROOT.glob(place) for file in folder.rglob("test_*.py")}
    marked = [file for file in files if _MARK in file.read_text(encoding="utf-8")]
    return [*_OF_USERS, *sorted(str(file.relative_to(ROOT)) for file in marked)]


def run(name: str) -> Mapping[str, object]:
    """Run a file in a process of its own."""
    chosen = "not slow" if name in _OF_USERS else "gpu"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen, name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    *_, ending = done.stdout.splitlines() or [""]
    assert is_stand_in() or "skipped" not in ending, done.stdout
    return {"tests": ending.strip("= ")}
