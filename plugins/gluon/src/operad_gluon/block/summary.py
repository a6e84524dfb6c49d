"""Printed table of a block's layers."""

from __future__ import annotations

from typing import Any


def summarize(block: Any, inputs: Any) -> None:
    """Print the layers that a forward pass of some inputs goes through."""
    raise NotImplementedError
