"""Packages that bring rules, for operators whose package is not installed."""

from __future__ import annotations

import onnx


def package_for(name: str) -> str:
    """Reason why no rule for an ONNX operator is here, and what to install."""
    return f"no installed package brings a rule for {name} (entry point operad.onnx)"
