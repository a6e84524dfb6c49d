"""What `import operad` costs over `import numpy`, in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.benchmarks.case import Case


def _importing(module: str) -> Callable[[], object]:
    def run() -> object:
        return subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    return run


def cases() -> list[Case]:
    """`import operad` beside `import numpy`; the difference of the two is operad's own cost."""
    return [
        Case("import operad", _importing("operad"), peer=_importing("numpy"), unit="ms", peer_name="numpy")
    ]
