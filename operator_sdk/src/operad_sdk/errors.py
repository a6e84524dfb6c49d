"""Errors an author sees while an operator is being declared."""

from __future__ import annotations

from operad.errors import OperadError


class DeclarationError(OperadError, TypeError):
    """An operator's declaration contradicts itself: a name, a signature or an option is wrong."""


class SpecError(OperadError, ValueError):
    """A line of the shape language cannot be read."""
