"""Suites of kernels under checks of their addresses, and beside guard pages with other instructions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.util import find_spec

import pytest

from operator_sdk.sdk.tests.vector_code import require_vector_code
from tools.workspace import ROOT

require_vector_code()

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

SUITES = {
    "SDK": ["operator_sdk/sdk/tests"],
    "products": ["plugins/convolution", "plugins/fully_connected", "plugins/matrix"],
    "graphs": ["plugins/fusion", "plugins/rnn", "plugins/transformer"],
}
GUARDED = (
    "operator_sdk/sdk/tests/vector/test_guarded_kernels.py",
    "plugins/convolution/tests/test_guarded.py",
)
AVX2 = ("-p", "tools.instruction_set", "--instructions", "avx2")
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


def passed(*words: str, **settings: str) -> str:
    """The last line of a suite that passed."""
    limits = ("-o", "timeout=900", "-o", "watchdog_timeout=1200")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *limits, *words],
        env={**os.environ, "OPERAD_NUM_THREADS": "1", **settings}, cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert not done.returncode, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("suites", SUITES.values(), ids=SUITES)
def test_suites_of_kernels_touch_nothing_outside_of_their_arrays(suites: list[str]) -> None:
    assert "passed" in passed("-m", "not slow and not contract", *suites, OPERAD_VECTOR="checked")


@pytest.mark.parametrize("mode", ["on", "checked"])
@pytest.mark.parametrize("instructions", [(), AVX2], ids=["of this processor", "AVX2"])
def test_all_kinds_of_kernels_beside_guard_pages(instructions: tuple[str, ...], mode: str) -> None:
    if instructions and not IS_X86:
        pytest.skip("AVX2 is of x86-64")
    assert "passed" in passed("-m", "more or slow", *instructions, *GUARDED, OPERAD_VECTOR=mode)


@pytest.mark.skipif(find_spec("numba") is None, reason="loops are compiled by numba")
def test_compiled_loops_touch_nothing_outside_of_their_arrays() -> None:
    words = ("-m", "not slow and not contract", "operator_sdk/sdk/tests/test_loops.py", "plugins/loops")
    assert "passed" in passed(*words, NUMBA_BOUNDSCHECK="1")
