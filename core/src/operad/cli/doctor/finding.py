"""Findings of `operad doctor` about an installation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know or to do.

    Attributes:
        level: error (something does not work), warning (something is probably not meant), advice.
        about: What it concerns: a distribution, a setting, a library.
        text: What was found.
        suggestion: What to do about it.
    """

    level: Literal["error", "warning", "advice"]
    about: str
    text: str
    suggestion: str


def error(about: str, text: str, suggestion: str) -> Finding:
    """Something does not work."""
    return Finding("error", about, text, suggestion)


def warning(about: str, text: str, suggestion: str) -> Finding:
    """Something works, and is probably not what was meant."""
    return Finding("warning", about, text, suggestion)


def advice(about: str, text: str, suggestion: str) -> Finding:
    """Something could be better."""
    return Finding("advice", about, text, suggestion)
