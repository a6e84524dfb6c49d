"""The operators that are timed as authors write them keep every promise of the checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

AUTHORS: Final = Path(__file__).parent / "authors"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in AUTHORS.glob("*.py")))
def test_operators_of_authors_are_green_under_strict(name: str) -> None:
    words = ["check", f"author_{name}", "--module", str(AUTHORS / f"{name}.py"), "--strict"]
    done = subprocess.run(
        [sys.executable, "-m", "operad", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
