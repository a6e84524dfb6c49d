from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.authoring.__main__ import page
from tests.authoring.lines import LIBRARIES, OPERATORS, count, program
from tools.workspace import ROOT

RNG = np.random.default_rng(0)
ARRAYS = [RNG.standard_normal((3, 4)).astype("float32") for _ in range(2)]


def expected(operator: str, x: Any, other: Any) -> tuple[Any, Any]:
    """Output and the gradient of `x`, in float64, the gradient by differences."""

    def output(x: Any) -> Any:
        if operator == "elementwise":
            return x / (1 + np.exp(-2 * x))
        if operator == "row_norm":
            return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.01)
        return np.log(np.cosh(x - other)).mean(1)

    head = np.ones(len(x)) if operator == "loss" else other
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-5
        gradient[place] = ((output(x + step) - output(x - step)) * head).sum() / 2e-5
    return output(x), gradient


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_programs_that_are_counted_are_right(operator: str, library: str, tmp_path: Path) -> None:
    if not any(metadata.distributions(name=library)):
        pytest.skip(f"{library} is not installed")
    np.savez(tmp_path / "in.npz", *ARRAYS)
    command = [sys.executable, str(program(operator, library)), "in.npz", "out.npz"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
    with np.load(tmp_path / "out.npz") as found:
        output, gradient = expected(operator, *(array.astype("float64") for array in ARRAYS))
        np.testing.assert_allclose(found["arr_0"], output, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["arr_1"], gradient, rtol=1e-4, atol=1e-5)


def test_lines_of_code_are_counted_and_no_others() -> None:
    text = '"""Title\n\nmore."""\n\nimport a  # why\n# alone\nx = """\ny"""\n\nf(\n    1,\n)\n'
    assert count(text + 'if __name__ == "__main__":\n    f()\n') == 6


def test_a_page_that_is_written_again_keeps_what_was_written_by_hand() -> None:
    by_hand = "## Six operators, written by hand\n\nOne.\n"
    written = page({}, f"# Old\n\n{by_hand}")
    assert written.endswith(f"\n\n{by_hand}")
    assert page({}, written) == written
