"""What pages show of distributed training is what the programs of these tests run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.distributed.conftest import PROGRAMS, ROOT

TRAINING = PROGRAMS / "training.py"


def blocks(page: Path) -> list[str]:
    """The code that a page shows without running it."""
    return re.findall(r"^```\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_training_that_survives_is_the_one_that_is_killed_in_tests() -> None:
    (shown,) = [block for block in blocks(ROOT / "docs" / "scaling.md") if "resume=True" in block]
    assert f"\n{shown}" in TRAINING.read_text()
