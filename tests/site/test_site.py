"""The documentation as a site: it is built, its links hold, pages fit two widths, light and dark."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.workspace import ROOT

pytestmark = pytest.mark.more
PAGES = (
    "index.html", "pictures.html", "api/operad.html", "operators/activation.html", "harness.html",
    "tutorials/train-and-serve.html", "measurements/peers.html",
)  # fmt: skip
PROBE = """<!doctype html><title>probe</title><body><script>
const found = {{}};
for (const name of {pages}) {{
  const page = document.createElement("iframe");
  page.width = {width};
  page.onload = () => {{
    const inner = page.contentDocument;
    found[name] = [inner.documentElement.scrollWidth, getComputedStyle(inner.body).backgroundColor];
    document.title = JSON.stringify(found);
  }};
  page.src = name;
  document.body.append(page);
}}
</script>"""
"""A page that shows others at a width, and says in its title how wide each is and of which colour."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built by MkDocs with each warning an error: links, anchors and pages without a place."""
    pytest.importorskip("mkdocs", reason="make docs installs MkDocs")
    pytest.importorskip("mkdocstrings", reason="make docs installs mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "tools.site", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_docs_is_a_page_of_the_site(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert pages - built == set()


def test_every_page_has_a_place_in_the_navigation(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if "md-nav__item--active" not in (site / page).read_text()] == []


def test_the_reference_has_functions_with_arguments_errors_and_results(site: Path) -> None:
    text = (site / "api/operad.html").read_text()
    for name in ("operad.autograd.grad", "operad.compiled.compile", "operad.engine.Engine.push_async"):
        assert f'id="{name}"' in text, name
    assert text.count("Raises:") > 30


def test_an_operator_is_found_by_the_search(site: Path) -> None:
    entries = json.loads((site / "search/search_index.json").read_text())["docs"]
    assert any("softmin" in entry["title"] for entry in entries)


def test_pictures_stand_behind_the_code_that_drew_them(site: Path) -> None:
    page = (ROOT / "docs/pictures.md").read_text()
    assert (site / "pictures.html").read_text().count('<div class="picture"><svg') == page.count(
        "```python picture"
    )


def test_no_page_asks_another_server_for_anything(site: Path) -> None:
    for name in PAGES:
        text = (site / name).read_text()
        assert 'src="http' not in text, name
        assert '<link rel="stylesheet" href="http' not in text, name


def test_a_tutorial_is_a_notebook_whose_cells_run(site: Path, tmp_path: Path) -> None:
    cells = json.loads((site / "tutorials/train-and-serve.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(sources) > 8
    program = tmp_path / "run.py"
    program.write_text(
        "import json, sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "for source in json.load(open('cells.json')):\n"
        "    shell.run_cell(source).raise_error()\n"
        "print('right', shell.user_ns['right'])\n"
    )
    (tmp_path / "cells.json").write_text(json.dumps(sources))
    command = [sys.executable, str(program)]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split("right")[-1]) >= 45


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = partial(_Quiet, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_the_width_and_are_light_or_dark(
    site: Path, address: str, tmp_path: Path, width: int, scheme: str
) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    command += ["--virtual-time-budget=5000", "--dump-dom", f"--window-size={width + 100},1000"]
    if scheme == "dark":
        command.append("--blink-settings=preferredColorScheme=0")
    probe = site / f"probe-{width}-{scheme}.html"
    probe.write_text(PROBE.format(width=width, pages=json.dumps(PAGES)))
    done = subprocess.run([*command, f"{address}/{probe.name}"], check=True, capture_output=True, text=True)
    title = html.unescape(done.stdout.partition("<title>")[2].partition("</title>")[0])
    found = json.loads(title)
    assert set(found) == set(PAGES)
    for name, (across, colour) in found.items():
        assert across <= width, (name, across)
        brightness = sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))
        assert (brightness > 600) is (scheme == "light"), (name, colour)
