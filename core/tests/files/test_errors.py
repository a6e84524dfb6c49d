"""Errors of the system and of parsers leave as ours, and name the file."""

from __future__ import annotations

import struct
import zlib

import pytest

from operad.errors import FormatError, OperadError, OutOfMemoryError
from operad.files import translated


@pytest.mark.parametrize(
    "raised",
    [
        ValueError("x"), TypeError("x"), KeyError("x"), IndexError("x"), OverflowError("x"), EOFError("x"),
        AttributeError("x"), RecursionError("x"), struct.error("x"), zlib.error("x"), ZeroDivisionError("x"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), NotImplementedError("x"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_errors_about_contents_become_format_errors(raised):
    where = translated("states 'x'", "what save wrote")
    with pytest.raises(FormatError, match=r"states 'x'.*expected what save wrote") as caught, where:
        raise raised
    assert caught.value.__cause__ is raised


def test_errors_of_the_system_stay_of_their_class():
    with pytest.raises(PermissionError, match="states 'x': denied") as caught, translated("states 'x'", "it"):
        raise PermissionError(13, "denied")
    assert isinstance(caught.value, OperadError)
    assert caught.value.errno == 13


def test_missing_memory_is_told_with_the_file():
    with pytest.raises(OutOfMemoryError, match="states 'x'"), translated("states 'x'", "it"):
        raise MemoryError


@pytest.mark.parametrize(
    "raised", [FormatError("ours"), KeyboardInterrupt(), StopIteration(), GeneratorExit()]
)
def test_the_rest_passes_as_it_is(raised):
    with pytest.raises(type(raised)) as caught, translated("states 'x'", "it"):
        raise raised
    assert caught.value is raised
