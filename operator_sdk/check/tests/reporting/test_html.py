from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from operad_check import Profile, Report, check_operator
from operad_check.reporting.html import page
from operad_sdk import unary

FEW = Profile("few", examples=5, seconds=1.0)


@unary("wrong_by_<one>")
def wrong(x: Any) -> Any:
    """One more."""
    return x + 1


@wrong.gradient
def _(output_grad: Any) -> Any:
    return 3 * output_grad


class Reader(HTMLParser):
    """Collects what a browser would fetch, and the tags left open."""

    VOID = frozenset(("meta", "input", "br"))

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.fetched += [str(value) for key, value in attrs if key in ("src", "srcset") and value]
        self.links += [str(found["href"])] if found.get("href") else []
        self.ids += [str(found["id"])] if found.get("id") else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def test_the_page_is_self_contained_and_shows_every_outcome() -> None:
    operator = check_operator(wrong, checks=["B301", "F202"], profile=FEW)
    text = page(Report([operator], {"gone": "its plugin <breaks>"}).to_json())
    reader = read(text)
    assert reader.fetched == []
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert set(reader.links) == {"#wrong_by_<one>-B301", "#check-B301"}
    assert "wrong_by_&lt;one&gt;" in text
    assert "its plugin &lt;breaks&gt;" in text
    assert "wrong_by_<one></code>" not in text
    assert "verify(&#x27;B301&#x27;" in text


def test_a_page_without_findings_says_so() -> None:
    text = page(Report([check_operator(wrong, checks=["F202"], profile=FEW)]).to_json())
    assert "Every operator keeps its contract." in text
    assert "<p>Nothing.</p>" in text


def test_checks_stand_in_the_order_in_which_to_read_them() -> None:
    report = Report([check_operator(wrong, checks=["B301", "F202", "S107"], profile=FEW)])
    text = page(report.to_json())
    places = [text.index(f"<span>{id}</span>") for id in ("S107", "F202", "B301")]
    assert places == sorted(places)


def test_a_check_that_applies_to_no_operator_has_no_column() -> None:
    text = page(Report([check_operator(wrong, checks=["F202", "F213"], profile=FEW)]).to_json())
    assert "<span>F202</span>" in text
    assert "<span>F213</span>" not in text


def test_notes_are_shown_as_text() -> None:
    assert "<dt>slowest</dt><dd>a &lt; b</dd>" in page(Report([]).to_json(), notes=[("slowest", "a < b")])


def test_what_could_not_be_checked_has_a_row() -> None:
    text = page(Report([], {"gone": "no such operator"}).to_json())
    assert "1 of 1 operators break their contract." in text
    assert 'data-name="gone" data-red="1"' in text


def test_nothing_on_the_page_is_wider_than_a_telephone() -> None:
    text = page(Report([check_operator(wrong, checks=["B301"], profile=FEW)]).to_json())
    style = text.partition("<style>")[2].partition("</style>")[0]
    narrow = style.partition("@media (max-width: 40rem)")[2]
    assert not re.search(r"(?<!max-)(?<!min-)width:\s*\d{3,}px", style), "a fixed width"
    assert all(float(rem) * 16 <= 400 for rem in re.findall(r"[^-]min-width: ([\d.]+)rem", style))
    # columns of checks go, and their ids stand under the operator's name; long lines scroll by themselves
    assert "th:not(.op), td:not(.op):not(.gone) { display: none }" in narrow
    assert "td.op .reds { display: block" in narrow
    assert re.search(r"pre \{[^}]*overflow-x: auto", style)
    assert re.search(r"dd \{[^}]*overflow-wrap: anywhere", style)
