"""Every page of the documentation does what it says: its code runs, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from operator_sdk.sdk.tests.vector_code import require_vector_code
from tests.conformance import run_page
from tests.conformance.overlay import Overlay, as_a_reader

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)")

INSTALLS = re.compile(r"pip install [^`\n]*\boperad-")

LONG = ("docs/authoring/checks.md", "docs/authoring/publishing.md", "docs/tutorials/own-operator.md")
"""Pages on which whole packages are checked, built and installed."""
BESIDE = (
    "docs/operators/", "docs/interop.md", "docs/porting.md", "docs/publish-once.md",
    "docs/authoring/kernels.md", "docs/authoring/losses.md", "docs/check-your-operator.md", "docs/data.md",
    "docs/engine.md",
    "docs/authoring/migrating-to-0.2.md", "docs/authoring/porting-",
    "docs/authoring/requests.md", "docs/authoring/resources.md", "docs/authoring/vector-code.md",
    "docs/fusion.md", "docs/harness.md", "docs/mixed-precision.md", "docs/pictures.md",
    "docs/tutorials/language-model.md",
)  # fmt: skip
"""Pages of examples from docstrings, which the tests of the plugins run too, pages with many commands, and
pages to look things up in; the tutorials stay with the fast tests."""

OF_VECTOR_CODE = ("docs/authoring/first-operator.md", "docs/authoring/vector-code.md", "docs/fusion.md")
"""Pages that show what vector code computes, and that clusters are fused, which it alone does."""


def require_what_is_shown(page: Path) -> None:
    """Skip the test where the page shows vector code and there is none."""
    if page.relative_to(ROOT).as_posix() in OF_VECTOR_CODE:
        require_vector_code()


def each_page(pages: Collection[Path]) -> pytest.MarkDecorator:
    """Parametrizes a test by pages; those of `LONG` are marked slow, and those of `BESIDE` `more`."""
    by_name = {page.relative_to(ROOT).as_posix(): page for page in pages}
    cases = []
    for name, page in by_name.items():
        mark = pytest.mark.slow if name in LONG else pytest.mark.more
        marks = mark if name in LONG or name.startswith(BESIDE) else ()
        cases.append(pytest.param(page, id=name, marks=marks))
    return pytest.mark.parametrize("page", cases)


def languages(page: Path) -> set[str]:
    """Languages of the blocks that a page runs; of a page that cannot be read, a guess."""
    try:
        blocks = [*run_page.read_blocks(page.read_text(encoding="utf-8"))]
    except run_page.PageError:
        return {"python"}
    shown = ("title", "no-run", "mxnet")
    return {block.language for block in blocks if not any(word in block.options for word in shown)}


COMMANDS = [page for page in PAGES if languages(page) & {"sh", "console"}]
PROGRAMS = [page for page in PAGES if "python" in languages(page) and page not in COMMANDS]
READ = [page for page in PAGES if page not in COMMANDS and page not in PROGRAMS]


@each_page(COMMANDS)
def test_commands_and_code_of_the_page_run(page: Path, tmp_path: Path) -> None:
    require_what_is_shown(page)
    reader = tmp_path / "reader"
    reader.mkdir()

    done = Overlay(tmp_path / "overlay").run(run_page.__file__, str(page), cwd=reader)

    assert done.returncode == 0, done.stdout


@each_page(PROGRAMS)
def test_code_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    require_what_is_shown(page)
    command = [sys.executable, run_page.__file__, str(page)]
    settings = {**as_a_reader(), "HYPOTHESIS_PROFILE": "dev"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=settings,
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_without_code_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = []
    for page in READ:
        try:
            run_page.run_page(page)
        except run_page.PageError as error:
            wrong.append(str(error))
    assert wrong == []


def test_links_of_pages_lead_to_files() -> None:
    texts = {page: CODE.sub("", page.read_text(encoding="utf-8")) for page in PAGES}
    targets = [(page, match["path"]) for page, text in texts.items() for match in LINK.finditer(text)]
    assert len(targets) > 500
    assert [(str(page), to) for page, to in targets if not (page.parent / to).exists()] == []


def test_pages_that_install_a_package_of_operads_say_where_it_is_before_a_release() -> None:
    pages = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
    reference = ("docs/operators/", "docs/decisions/")  # no page where anybody begins
    names = [name for name, text in pages.items() if INSTALLS.search(text) and not name.startswith(reference)]
    assert {"docs/cli.md", "docs/check-your-operator.md", "docs/authoring/index.md"} <= {*names}
    assert "No package index has operad yet" in pages["docs/install.md"]
    assert [name for name in names if "install.md" not in pages[name] + name] == []
