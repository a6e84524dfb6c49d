"""Errors of training loops: steps out of order, values that are missing."""

from __future__ import annotations

from operad import OperadError


class ModuleStateError(OperadError):
    """A module was asked for something before the step that makes it possible, such as `bind`."""


class MissingParameterError(OperadError):
    """Values were given for a module's parameters, and one of the parameters is not among them."""
