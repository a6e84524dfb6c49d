"""The tree of errors."""

from __future__ import annotations

import inspect

import pytest

from operad import errors

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]


@pytest.mark.walk
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_is_of_the_tree_and_of_a_builtin_and_documented(cls):
    assert issubclass(cls, errors.OperadError)
    builtins = [base for base in cls.__mro__ if base.__module__ == "builtins"]
    # An operator error is a builtin's besides only once it is known what was raised.
    assert cls in (errors.OperadError, errors.OperatorError) or builtins[0] is not Exception
    assert inspect.getdoc(cls).endswith(".")


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("ShapeError", ValueError),
        ("DTypeError", TypeError),
        ("ArgumentError", TypeError),
        ("IndexOutOfRangeError", IndexError),
        ("OutOfMemoryError", MemoryError),
        ("OperatorNotFoundError", AttributeError),
        ("BrokenPluginError", ImportError),
    ],
)
def test_an_error_can_be_caught_as_the_builtin_it_refines(name, builtin):
    assert issubclass(getattr(errors, name), builtin)
