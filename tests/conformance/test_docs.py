"""Every page of the documentation does what it says: its code runs, and its links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.conformance import run_page
from tests.conformance.overlay import Overlay

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)")

LONG = ("docs/authoring/checks.md", "docs/authoring/publishing.md")
"""Pages on which whole packages are checked, built and installed."""


def each_page(*, slow: Collection[str] = ()) -> pytest.MarkDecorator:
    """Parametrizes a test by pages; those named in `slow` are for `make test-slow`."""
    by_name = {page.relative_to(ROOT).as_posix(): page for page in PAGES}
    cases = [
        pytest.param(page, id=name, marks=pytest.mark.slow if name in slow else ())
        for name, page in by_name.items()
    ]
    return pytest.mark.parametrize("page", cases)


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path / "overlay")


@each_page(slow=LONG)
def test_code_of_the_page_runs(page: Path, overlay: Overlay, tmp_path: Path) -> None:
    reader = tmp_path / "reader"
    reader.mkdir()

    done = overlay.run(run_page.__file__, str(page), cwd=reader)

    assert done.returncode == 0, done.stdout


@each_page()
def test_links_of_the_page_lead_to_files(page: Path) -> None:
    targets = [match["path"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]

    assert [target for target in targets if not (page.parent / target).exists()] == []
