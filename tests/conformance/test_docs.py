"""Every page of the documentation does what it says: its code runs, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance import run_page
from tests.conformance.overlay import Overlay

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path / "overlay")


@every_page
def test_code_of_the_page_runs(page: Path, overlay: Overlay, tmp_path: Path) -> None:
    reader = tmp_path / "reader"
    reader.mkdir()

    done = overlay.run(run_page.__file__, str(page), cwd=reader)

    assert done.returncode == 0, done.stdout


@every_page
def test_links_of_the_page_lead_to_files(page: Path) -> None:
    targets = [match["path"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]

    assert [target for target in targets if not (page.parent / target).exists()] == []
