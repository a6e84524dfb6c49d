"""Tests that need vector code."""

from __future__ import annotations

import pytest

from operad_sdk.vector import reason_against

VECTOR = pytest.param(
    "vector", marks=pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
)
"""The back end of mappers, as a value of a parameter."""


def require_vector_code() -> None:
    """Skip the test, or the module, that calls this where there is no vector code: no LLVM, or no FMA."""
    if (reason := reason_against()) is not None:
        pytest.skip(f"no vector code: {reason}", allow_module_level=True)
