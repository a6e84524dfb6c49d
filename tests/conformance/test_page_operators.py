"""Operators that the tutorials show keep their contract, and can be tried as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.overlay import as_a_reader
from tests.conformance.test_docs import ROOT

DECLARES: Final = re.compile(r"^@(operator|unary|binary|define|composed|update|random_operator|loss)\b", re.M)
PAGES: Final = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if DECLARES.search(page.read_text(encoding="utf-8")) and "decisions" not in page.parts
]
WRONG_ON_PURPOSE: Final = {"requests.md": ["acme_shifted_sum"]}
"""Operators whose page shows what the checks say of them."""
INSTALLED: Final = ("first-operator.md", "checks.md", "porting.md", "words.md")
"""Pages that check their operators themselves, by command, or that have pieces of operators alone."""
FAST: Final = ("losses.md", "broadcast-operator.md")


def tried(page: Path, folder: Path, *left_out: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.conformance.page_operators", str(page), *left_out]
    settings = {**as_a_reader(), "PYTHONPATH": str(ROOT), "OPERAD_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=() if page.name in FAST else pytest.mark.more)
        for page in PAGES
        if page.name not in INSTALLED
    ],
)
def test_operators_of_the_page_are_registered_called_and_right_on_a_few_cases(
    page: Path, tmp_path: Path
) -> None:
    done = tried(page, tmp_path, *WRONG_ON_PURPOSE.get(page.name, ()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\w+( \w+)*$", done.stdout, re.M), "no operator was found"


def test_an_operator_with_a_wrong_gradient_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        """```python
import numpy as np
from operad_sdk import unary


@unary("wrong_square", accepts="floating")
def wrong_square(x):
    return np.square(x)


@wrong_square.gradient
def _(output_grad, x):
    return output_grad * x
```
"""
    )
    done = tried(page, tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "wrong_square")
    assert "wrong_square: [B302]" in done.stdout or "wrong_square: [B301]" in done.stdout
