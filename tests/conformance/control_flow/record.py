"""The record of MXNet's loops and branches."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

PATH: Final = Path(__file__).with_name("mxnet.json")


def load() -> dict[str, Any]:
    """Results that MXNet computed, by program."""
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def digest(text: str) -> str:
    """Digest that tells operad's file of a program from any other."""
    return sha256(text.encode()).hexdigest()
