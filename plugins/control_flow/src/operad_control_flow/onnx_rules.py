"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    ("_cond", "_foreach", "_while_loop"), "graphs inside operators are not written"
)
