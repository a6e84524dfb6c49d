from __future__ import annotations

from operad_check.register import entries
from tools.harness_table import PAGE, lacking


def test_the_tables_say_what_the_checks_say() -> None:
    assert lacking(PAGE.read_text()) == []


def test_a_title_that_changed_is_named() -> None:
    text = PAGE.read_text().replace(f"| B301 | {entries()['B301'].title} | ", "| B301 | it is right | ", 1)
    assert lacking(text) == ["B301"]


def test_another_table_of_variations_is_named() -> None:
    text = PAGE.read_text().replace("| F211 |", "| F211 | and", 1)
    assert lacking(text) == ["variations"]
