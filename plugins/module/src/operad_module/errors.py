"""Errors of training loops: steps out of order, values that are missing."""

from __future__ import annotations

from operad import OperadError


class ModuleStateError(OperadError):
    """A module was asked for something before the step that makes it possible, such as `bind`."""


class MissingParameterError(OperadError):
    """Values were given for a module's parameters, and one of the parameters is not among them."""


def no_copy(module: object) -> TypeError:
    """The error for a module that is copied or pickled."""
    name = type(module).__name__
    if hasattr(module, "save_checkpoint"):
        files = f"save_checkpoint(prefix, epoch) and read it with {name}.load(prefix, epoch)"
    else:
        files = "save_params(file) and give a new one, bound alike, its parameters with load_params(file)"
    return TypeError(
        f"a {name} cannot be copied or pickled; write it with {files}, or share its memory with "
        "bind(..., shared_module=...)"
    )
