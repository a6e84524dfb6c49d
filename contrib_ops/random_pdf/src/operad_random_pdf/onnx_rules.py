"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    [
        f"_random_pdf_{name}"
        for name in (
            "dirichlet", "gamma", "generalized_negative_binomial", "negative_binomial", "poisson",
        )
    ],
    "ONNX has no logarithm of the gamma function",
)  # fmt: skip
