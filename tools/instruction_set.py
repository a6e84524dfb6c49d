"""Tests as on an x86 with fewer instructions than this one, as a plugin of pytest.

    python -m pytest -p tools.instruction_set --instructions avx2 plugins/convolution

* avx2: without AVX-512, so with registers for 8 vectors of 64 bytes.
* sse: without fused multiply-add and AVX, so without vector code.

Vector code, numba, NumPy and OpenBLAS are told so. Processes that a test starts hear nothing of vector code:
`tools.emulated` emulates such a processor whole, which takes many times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

_MISSING: Final = {
    "avx2": ("amx", "avx10", "avx512", "evex512"),
    "sse": ("amx", "avx", "evex512", "f16c", "fma", "vaes", "vpclmulqdq", "xop"),
}
"""Beginnings of the names of missing instruction sets, in LLVM's words."""
_MODELS: Final = {"avx2": "haswell", "sse": "nehalem"}
_NUMPY: Final = """
import json, numpy
print(json.dumps(numpy._core._multiarray_umath.__cpu_dispatch__))
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--instructions`."""
    parser.addoption("--instructions", choices=list(_MODELS), help="the newest instructions that there are")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Tell all that compiles or chooses code for the processor, before anything imports NumPy."""
    if (name := early_config.known_args_namespace.instructions) is None:
        return
    if "numpy" in sys.modules:
        raise pytest.UsageError("NumPy was imported before --instructions was read; name the plugin by -p")
    listing = subprocess.run(
        [sys.executable, "-c", _NUMPY], capture_output=True, text=True, check=True
    ).stdout
    os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(beyond(name, json.loads(listing)))
    os.environ["OPENBLAS_CORETYPE"] = _MODELS[name].capitalize()

    from operad_sdk.vector import machine  # noqa: PLC0415 - it imports NumPy

    given = machine._asked
    machine._asked = lambda: given()._replace(features=without(name, given().features))
    found = machine._asked()
    os.environ |= {"NUMBA_CPU_NAME": found.cpu, "NUMBA_CPU_FEATURES": found.features}


def beyond(name: str, dispatched: list[str]) -> list[str]:
    """Those of NumPy's instruction sets that are missing."""
    kept = ("AVX2", "FMA3", "AVX", "F16C", "X86_V3") if name == "avx2" else ()
    return [
        each for each in dispatched if each not in kept and not each.startswith(("SSE", "SSSE", "POPCNT"))
    ]


def without(name: str, features: str) -> str:
    """Features of a processor, in LLVM's words, with those that are missing switched off."""
    switched = (
        f"-{each[1:]}" if each[1:].startswith(_MISSING[name]) else each for each in features.split(",")
    )
    return ",".join(switched)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what was switched off."""
    if config.option.instructions is None:
        return None
    from operad_sdk.vector import reason_against  # noqa: PLC0415 - as above

    off, reason = os.environ["NPY_DISABLE_CPU_FEATURES"], reason_against()
    return f"instructions: {config.option.instructions}; NumPy without {off}; {reason or 'vector code'}"
