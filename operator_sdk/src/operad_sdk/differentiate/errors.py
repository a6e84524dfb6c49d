"""Errors of functions that cannot be differentiated."""

from __future__ import annotations

from operad.errors import OperadError


class TraceError(OperadError, TypeError):
    """A function of arrays does something that its derivative cannot be found through."""
