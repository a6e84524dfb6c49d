"""Errors of blocks and parameters, each also of the class that MXNet raises there."""

from operad.errors import OperadError


class DeferredInitializationError(OperadError):
    """A parameter's values are asked for before the first batch has told its shape."""


class UninitializedError(OperadError):
    """A parameter's values or gradient are asked for where it has none."""


class ParameterError(OperadError, AssertionError):
    """A parameter does not have the shape, type, context or name that is asked of it."""


class BlockValueError(OperadError, ValueError):
    """A block gets what it cannot use: arguments of another kind, or a file of another network."""


class BlockTypeError(OperadError, TypeError):
    """An attribute or a child of a block is of another type than it can have."""


class ConstantNotFoundError(OperadError, KeyError):
    """A dictionary has no constant of that name, and no value to make one of."""

    __str__ = OperadError.__str__  # not the representation, as of a KeyError
