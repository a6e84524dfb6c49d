"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    ("_contrib_MultiProposal", "_contrib_Proposal"), "ONNX has no proposals of regions"
)
