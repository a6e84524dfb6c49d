"""Fewer instructions: which of LLVM's and of NumPy's are switched off."""

from __future__ import annotations

import pytest

from tools.instruction_set import beyond, without

FEATURES = "+64bit,+avx,+avx2,+avx512f,-avx512fp16,+bmi2,+f16c,+fma,+sse4.2,+vaes"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("avx2", "+64bit,+avx,+avx2,-avx512f,-avx512fp16,+bmi2,+f16c,+fma,+sse4.2,+vaes"),
        ("sse", "+64bit,-avx,-avx2,-avx512f,-avx512fp16,+bmi2,-f16c,-fma,+sse4.2,-vaes"),
    ],
)
def test_features_beyond_the_set_are_switched_off(name: str, expected: str) -> None:
    assert without(name, FEATURES) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("avx2", ["X86_V4", "AVX512_SPR"]), ("sse", ["X86_V3", "X86_V4", "AVX512_SPR"])],
)
def test_numpy_dispatches_to_nothing_beyond_the_set(name: str, expected: list[str]) -> None:
    assert beyond(name, ["SSE42", "X86_V3", "X86_V4", "AVX512_SPR"]) == expected
