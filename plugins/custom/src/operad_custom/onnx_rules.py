"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = {"Custom": "it runs a class of the program that defines it"}
