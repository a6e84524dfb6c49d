"""The page of figures is current."""

from __future__ import annotations

import re

import pytest

from tests.conformance import figures

pytestmark = pytest.mark.timeout(600)  # 15 s of processor time, which a busy machine makes minutes of


@pytest.fixture(scope="module")
def page() -> str:
    return figures.page()


def test_the_page_is_what_would_be_written(page: str) -> None:
    assert figures.PAGE.read_text(encoding="utf-8") == page, "python -m tests.conformance.figures"


def test_every_row_adds_up(page: str) -> None:
    rows = re.findall(r"^\| [^|`]+" + 4 * r" \| ([\d,]+)" + r" \|$", page, re.MULTILINE)
    numbers = [[int(cell.replace(",", "")) for cell in row] for row in rows]
    assert len(numbers) == 12
    assert all(recorded == equal + differing + absent for recorded, equal, differing, absent in numbers)
