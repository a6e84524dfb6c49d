"""Pages of the site that do not stand in docs/, and what Markdown of the repository says otherwise there.

MkDocs calls these functions. README, CHANGELOG and their like become pages; pages of the reference are made
of docstrings; blocks of `python picture` are run, and the figure that they leave stands behind them; links to
files that are no pages lead to the repository.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site.notebooks import TUTORIALS, notebook

ROOT: Final = Path(__file__).parents[2]
BROUGHT: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "operator_sdk/sdk/README.md": "packages/operad-sdk.md",
    "operator_sdk/check/README.md": "packages/operad-check.md",
    "plugins/index/README.md": "packages/operad-index.md",
}
"""Files beside docs/ that are pages, and where."""
HOME: Final = "index.md"
REFERENCE: Final = {
    "operad": tuple(
        f"operad.{name}"
        for name in [
            "autograd",
            "compiled",
            "context",
            "engine",
            "errors",
            "executor",
            "profiler",
            "random",
            "registry",
        ]
    ),
    "operad.ndarray": ("operad.ndarray",),
    "operad.symbol": ("operad.symbol",),
    "operad_sdk": ("operad_sdk",),
    "operad_check": ("operad_check",),
}
"""Modules on each page of the reference; operators have pages of their own."""
STYLE: Final = """\
.md-typeset table:not([class]) td, .md-typeset table:not([class]) th { min-width: 0; padding: .5em .8em; }
.md-typeset table:not([class]) td:not(:first-child) code { overflow-wrap: anywhere; }
.md-typeset table:not([class]) td:not(:first-child):has(code) { min-width: 8em; }
.md-typeset table:not([class]) td:first-child code { white-space: nowrap; }
.md-grid { max-width: 76rem; }
.picture svg { max-width: 100%; height: auto; background: #fff; border-radius: .3rem; }
"""
_names: dict[str, Any] = {}
_LINK: Final = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)#\s]*)(?P<anchor>#[^)]*)?\)"
)
_FENCE: Final = re.compile(
    r"^(?P<fence>```+)(?P<language>\w+)(?P<options> [^\n]*)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder in the place of its name in the navigation."""
    config.nav = [_filled(item) for item in config.nav or ()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that do not stand in docs/."""
    for source, place in BROUGHT.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text("utf-8")))
    for name, modules in REFERENCE.items():
        content = "\n\n".join([f"# {name}", *(block for module in modules for block in _reference(module))])
        files.append(File.generated(config, f"api/{name}.md", content=content))
    files.append(File.generated(config, "assets/site.css", content=STYLE))
    files.remove(files.get_file_from_path(HOME))
    readme = (ROOT / "README.md").read_text("utf-8")
    files.append(File.generated(config, HOME, content=readme))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links and blocks as the site has them."""
    place = page.file.src_uri
    links = re.sub(_LINK, lambda found: _link(found, _source_of(place), place, config.repo_url), markdown)
    if place == HOME:
        links = links.replace("](docs/images/", "](images/")
    if place in TUTORIALS:
        name = PurePosixPath(place).with_suffix(".ipynb").name
        links = links.replace("\n", f'\n\n<a href="{name}" download>This page as a notebook</a>\n', 1)
    return re.sub(_FENCE, _block, links) if "```" in links else links


def on_post_build(config: MkDocsConfig) -> None:
    """Write the tutorials as notebooks beside their pages."""
    for place in TUTORIALS:
        target = Path(config.site_dir, place).with_suffix(".ipynb")
        target.write_text(notebook((ROOT / "docs" / place).read_text("utf-8")), "utf-8")


def _filled(item: Any) -> Any:
    """An entry of the navigation; `FOLDER name` becomes the pages of that folder."""
    if isinstance(item, dict):
        ((title, inner),) = item.items()
        if isinstance(inner, str) and inner.startswith("FOLDER "):
            _, name, *more = inner.split()
            names = sorted(path.name for path in (ROOT / "docs" / name).glob("*.md"))
            names.sort(key=lambda file: file != "index.md")
            return {
                title: [
                    *(f"{name}/{file}" for file in names[:1]),
                    *more,
                    *(f"{name}/{file}" for file in names[1:]),
                ]
            }
        if isinstance(inner, list):
            return {title: [_filled(one) for one in inner]}
    return item


def _reference(module: str) -> Iterator[str]:
    """Directives for a module, and for the public names that it has from others."""
    yield f"::: {module}"
    place = next(
        file
        for folder in ("core/src", "operator_sdk/sdk/src", "operator_sdk/check/src")
        for end in (".py", "/__init__.py")
        if (file := ROOT / folder / f"{module.replace('.', '/')}{end}").is_file()
    )
    for node in ast.walk(ast.parse(place.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("operad"):
            for alias in node.names:
                if alias.asname != alias.name or alias.name.startswith("_"):
                    continue
                is_module = place.with_name(f"{alias.name}.py").is_file()  # of the same name as its function
                owner = node.module if is_module else module
                yield f"::: {owner}.{alias.name}\n    options: {{heading_level: 3}}"


def _source_of(place: str) -> PurePosixPath:
    """File of the repository that a page is made of."""
    if place == HOME:
        return PurePosixPath("README.md")
    sources = {page: source for source, page in BROUGHT.items()}
    return PurePosixPath(sources.get(place, f"docs/{place}"))


def _link(found: re.Match[str], source: PurePosixPath, place: str, repository: str | None) -> str:
    """A link of a page: to another page, or to the repository."""
    target, anchor = found["path"], found["anchor"] or ""
    if not target or re.match(r"[a-z]+:", target):
        return found[0]
    parts: list[str] = []
    for part in (*source.parent.parts, *target.rstrip("/").split("/")):
        parts = parts[:-1] if part == ".." else parts if part in (".", "") else [*parts, part]
    full = "/".join(parts)
    if full == "README.md":
        full_page: str | None = HOME
    elif full == "docs/index.md":
        full_page, anchor = HOME, ""
    else:
        full_page = BROUGHT.get(full) or (full.removeprefix("docs/") if full.startswith("docs/") else None)
    if full_page is None or (ROOT / full).is_dir() or not full_page.endswith((".md", ".png", ".svg")):
        kind = "tree" if (ROOT / full).is_dir() else "blob"
        return f"[{found['text']}]({repository}/{kind}/main/{full}{anchor})"
    up = "../" * place.count("/")
    return f"[{found['text']}]({up}{full_page}{anchor})"


def _block(found: re.Match[str]) -> str:
    """A fenced block without the words that only the tests read, and behind a picture's block its picture."""
    words, body = found["options"].split(), found["body"]
    titles = re.findall(r'title="[^"]*"', found["options"])
    head = " ".join([f"{found['fence']}{found['language']}", *titles])
    shown = f"{head}\n{body}{found['fence']}"
    return f"{shown}\n\n{_picture(body)}\n" if "picture" in words else shown


@cache
def _picture(program: str) -> str:
    """The figure that a program leaves as `figure`, as SVG that stands in the page; programs share names."""
    import matplotlib as mpl  # noqa: PLC0415 - a second, for pages with pictures

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "operad", "svg.fonttype": "none"})
    exec(compile(program, "<picture>", "exec"), _names)  # noqa: S102 - our own pages
    target = StringIO()
    _names["figure"].savefig(target, format="svg", metadata={"Date": None})
    text = target.getvalue()
    svg = text[text.index("<svg") :].replace("\n", " ")
    return f'<div class="picture">{svg}</div>'
