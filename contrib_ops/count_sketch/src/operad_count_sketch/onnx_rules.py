"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = {"_contrib_count_sketch": "ONNX has no sketches"}
