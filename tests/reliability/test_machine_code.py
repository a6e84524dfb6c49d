"""Suites of kernels under checks of their addresses, and beside guard pages with other instructions."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

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


FENCED = ("-p", "tests.reliability.fence", "-m", "not slow and not contract")
OPERATORS = {
    "of elements": [
        "plugins/activation",
        "plugins/broadcast",
        "plugins/dropout",
        "plugins/elemwise",
        "plugins/loss",
    ],
    "of shapes": ["plugins/indexing", "plugins/init", "plugins/numpy", "plugins/sequence", "plugins/shape"],
    "that reduce": ["plugins/loops", "plugins/normalization", "plugins/pooling", "plugins/reduce"],
    "of products": ["plugins/convolution", "plugins/fully_connected", "plugins/matrix", "plugins/rnn"],
    "others": [
        "contrib_ops",
        "plugins/control_flow",
        "plugins/optimizer",
        "plugins/sampling",
        "plugins/transformer",
    ],
}


@pytest.mark.parametrize("suites", OPERATORS.values(), ids=OPERATORS)
def test_tests_of_operators_pass_with_every_array_before_a_guard_page(suites: list[str]) -> None:
    assert "passed" in passed(*FENCED, *suites)


def test_a_touch_behind_an_array_ends_the_process(tmp_path: Path) -> None:
    source = (
        "import ctypes\nimport numpy as np\nimport operad as od\n\n\ndef test_touch():\n"
        "    found = np.from_dlpack(od.nd.ones((5,)))\n    ctypes.string_at(found.ctypes.data + {}, 1)\n"
    )
    codes = []
    for offset in (19, 20):
        (tmp_path / "test_touch.py").write_text(source.format(offset))
        words = ["-q", "-p", "tests.reliability.fence", "--rootdir", str(tmp_path), str(tmp_path)]
        command = [sys.executable, "-m", "pytest", *words]
        codes.append(subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode)
    assert codes == [0, -signal.SIGSEGV]
