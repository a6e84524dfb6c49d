"""Programs that use an engine in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def finished(kind: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, on an engine of this kind with two threads."""
    environment = {**os.environ, "OPERAD_ENGINE": kind, "OPERAD_NUM_THREADS": "2"}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
