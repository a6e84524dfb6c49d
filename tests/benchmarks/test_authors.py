"""The operators that are timed as authors write them keep every promise of the checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.benchmarks.libraries.arrays import author_arrays, author_head
from tests.benchmarks.libraries.operad_rows import INSTALLED, author_operator
from tests.benchmarks.rows import ROWS

AUTHORS: Final = Path(__file__).parent / "authors"
NAMES: Final = sorted(path.stem for path in AUTHORS.glob("*.py"))
ALL: Final = sorted([*NAMES, *INSTALLED])
TIMED: Final = {
    (row.options["name"], row.options["backward"]): row.options["shape"]
    for row in ROWS
    if row.maker == "author"
}


def test_every_operator_is_timed_forward_and_with_gradients() -> None:
    assert sorted(TIMED) == [(name, backward) for name in ALL for backward in (False, True)]


@pytest.mark.parametrize("name", ALL)
def test_what_is_timed_fits_the_operator_and_its_gradient(name: str) -> None:
    shape = TIMED[name, True]
    arrays, operator = author_arrays(name, shape), author_operator(name)
    operator.infer_type([array.dtype for array in arrays])

    _, outputs, _ = operator.infer_shape([array.shape for array in arrays])

    assert outputs[: operator.num_visible_outputs] == [author_head(name, shape).shape]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_operators_of_authors_are_green_under_strict(name: str) -> None:
    words = ["check", f"author_{name}", "--module", str(AUTHORS / f"{name}.py"), "--strict"]
    done = subprocess.run(
        [sys.executable, "-m", "operad", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
