"""`docs/authoring/words.md` against the words of the kit: every word is listed, and no other."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import operad_sdk
from operad_sdk import Options, gradient, param
from operad_sdk.declare.names import WORDS
from operad_sdk.shapes import parse

PAGE = Path(__file__).parents[2] / "docs/authoring/words.md"
ROW = re.compile(r"^\| `(?P<word>[^`]+)` \| (?P<meaning>.+?) \| `(?P<example>.+)` \|$")


def rows(heading: str) -> dict[str, str]:
    """The examples under a heading, by word."""
    (section,) = re.findall(
        rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.S | re.M
    )
    return {found["word"]: found["example"] for line in section.splitlines() if (found := ROW.match(line))}


def every_row() -> list[tuple[str, str, str]]:
    """Heading, word and example of each row."""
    headings = re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.M)
    return [(heading, word, example) for heading in headings for word, example in rows(heading).items()]


def exported() -> dict[str, object]:
    """Words that `from operad_sdk import *` gives, by name."""
    found: dict[str, object] = {}
    exec("from operad_sdk import *", found)  # noqa: S102 - no function can say it
    return {name: value for name, value in found.items() if not name.startswith("_")}


def test_every_word_that_can_be_imported_is_listed() -> None:
    assert set(exported()) - {word for _, word, _ in every_row()} == set()


def test_every_listed_name_that_looks_imported_can_be() -> None:
    headings = ("Declaring", "Values in signatures", "Errors to raise", "For the contract checks")
    listed = {word for heading in headings for word in rows(heading)}
    assert listed <= set(exported())


def test_options_of_functions_are_attributes_of_classes() -> None:
    listed = rows("Members of a class, options of a function")
    assert set(Options.__annotations__) <= set(listed)
    known = {*Options.__annotations__, *dir(operad_sdk.OperatorProperty), "forward", "backward"}
    assert set(listed) <= known


@pytest.mark.parametrize(
    ("heading", "function", "beside"),
    [("Options of a gradient", gradient, {"of", "function"}), ("Options of a parameter", param, set())],
)
def test_keywords_are_those_of_the_signature(heading: str, function: object, beside: set[str]) -> None:
    assert set(rows(heading)) == set(inspect.signature(function).parameters) - beside  # type: ignore[arg-type]


def test_words_of_functions_are_those_of_the_binder() -> None:
    assert set(rows("Arguments of a function")) == set(WORDS)


def test_every_row_is_read() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(lines) == len(every_row())


@pytest.mark.walk
@pytest.mark.parametrize(("heading", "word", "example"), every_row())
def test_the_example_can_be_read_and_shows_the_word(heading: str, word: str, example: str) -> None:
    if heading == "Shape lines":
        parse(example)
    elif heading == "Mappers: functions of elements" and "(" in example and "huber" not in example:
        value = eval(example, {**exported(), "abs": abs})  # noqa: S307 - the examples of our own page
        assert value == value  # noqa: PLR0124 - no NaN
    else:
        code = example + ("\ndef f(): pass" if example.startswith("@") else "")
        ast.parse(code)
        assert word in example or heading == "Options of a parameter"  # some are given by position
