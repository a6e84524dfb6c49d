"""`operad search`: plugins and operators by a word, among what is installed and in an index file."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Final, final

import click

from operad import files, registry
from operad.cli.listing import Listing
from operad.cli.page import Mark, Page
from operad.errors import FormatError
from operad.registry.plugins import normalized

FORMAT: Final = 1
OPERATORS: Final = "operad.operators"


@final
@dataclass(frozen=True, slots=True)
class IndexedChecks:
    """Report of the checks that a wheel carries.

    Attributes:
        operad_check: Version of the harness.
        profile: How much was tried: dev, ci or nightly.
        passed: Operators of which nothing is wrong and nothing undeclared.
        red: Ids of what is wrong or broken, and of what is undeclared, by operator.
    """

    operad_check: str
    profile: str
    passed: list[str]
    red: dict[str, list[str]] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class IndexedPlugin:
    """A distribution of an index.

    Attributes:
        name: Of the distribution.
        version: The newest; what else is said is of it.
        summary: One line.
        keywords: As its metadata has them.
        requires: Its requirements, without those of extras.
        requires_python: Versions of Python.
        home: Its first project URL.
        file: The wheel.
        sha256: Of the wheel.
        provides: Names of its entry points, by group.
        operators: First lines of the documentation of its operators, by name; empty where it is not found.
        versions: All versions of the index, the newest first.
        checks: Report of its checks, or null.
        note: Why a report does not count, or empty.
    """

    name: str
    version: str
    summary: str
    keywords: list[str]
    requires: list[str]
    requires_python: str
    home: str
    file: str
    sha256: str
    provides: dict[str, list[str]]
    operators: dict[str, str]
    versions: list[str]
    checks: IndexedChecks | None = None
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class Index:
    """Contents of an index file.

    Attributes:
        format: Of the file.
        plugins: The distributions, by name.
        unreadable: Reasons, by wheel.
    """

    format: int
    plugins: list[IndexedPlugin]
    unreadable: dict[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Found:
    """An operator or plugin that has the word.

    Attributes:
        name: Of the operator, or of the distribution.
        kind: operator or plugin.
        distribution: What provides it.
        version: Of the distribution.
        summary: One line, or empty.
        is_installed: Whether it is here; else `pip install` brings the distribution.
    """

    name: str
    kind: str
    distribution: str
    version: str
    summary: str
    is_installed: bool


@final
@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of `operad search`.

    Attributes:
        word: What was searched for.
        found: What has it: the name itself first, then names, then summaries and keywords.
    """

    word: str
    found: list[Found]

    @property
    def exit_code(self) -> int:
        """1 where nothing was found."""
        return 0 if self.found else 1

    def show(self, page: Page) -> None:
        """One row for each, and what to install."""
        page.table(
            ("name", "kind", "provided by", "about"),
            [
                (
                    Mark(one.name, "name"),
                    one.kind,
                    f"{one.distribution} {one.version}" + ("" if one.is_installed else " (not installed)"),
                    one.summary,
                )
                for one in self.found
            ],
        )
        absent = sorted({one.distribution for one in self.found if not one.is_installed})
        if absent:
            page.text(f"pip install {' '.join(absent)}")
        if not self.found:
            page.text(
                f"nothing that is installed has {self.word!r}; --index FILE searches an index too, which "
                "operad-index writes"
            )


@click.command(cls=Listing, result=SearchResult)
@click.argument("word")
@click.option(
    "--index",
    "indexes",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Search this index file too, as operad-index writes it; may be repeated.",
)
def search(word: str, indexes: tuple[Path, ...]) -> SearchResult:
    """Search operators and plugins by a word; imports no plugin.

    Looks at names, other names, summaries and keywords; case does not matter.
    """
    here = list(_installed())
    names = {normalized(one.name) for one in here}
    there = [one for path in indexes for one in read_index(path).plugins if normalized(one.name) not in names]
    rows = [
        (rank, found)
        for plugin in (*here, *there)
        for rank, found in _matches(word.lower(), plugin, is_installed=normalized(plugin.name) in names)
    ]
    rows.sort(key=lambda row: (row[0], row[1].name.lower(), row[1].distribution))
    return SearchResult(word, [found for _, found in rows])


def read_index(path: Path) -> Index:
    """Contents of an index file.

    Raises:
        FormatError: It is no index, or of a later format.
    """
    import msgspec  # noqa: PLC0415 - 16 ms that `operad --help` need not pay

    try:
        index = msgspec.json.decode(files.read_text(path, f"index {path}"), type=Index)
    except msgspec.MsgspecError as error:
        raise FormatError(f"{path} is not an index of plugins: {error}; operad-index writes one") from error
    if index.format != FORMAT:
        raise FormatError(f"{path} is an index of format {index.format}, expected {FORMAT}: upgrade operad")
    return index


def first_lines(entries: Mapping[str, str], source_of: Callable[[str], str | None]) -> dict[str, str]:
    """First lines of the documentation of entry points, by name, read without an import.

    Args:
        entries: Values `module:attribute` by name.
        source_of: Source of a module, by its dotted name.
    """
    modules: dict[str, dict[str, str]] = {}
    lines = {}
    for name, value in entries.items():
        module, _, attribute = value.partition(":")
        if module not in modules:
            modules[module] = _documented(source_of(module) or "")
        lines[name] = modules[module].get(attribute.partition("[")[0].strip(), "")
    return lines


def _documented(source: str) -> dict[str, str]:
    """First lines of the docstrings of a module's functions and classes."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    kinds = (ast.FunctionDef, ast.ClassDef)
    docs = {node.name: ast.get_docstring(node) or "" for node in body if isinstance(node, kinds)}
    return {name: text.partition("\n")[0] for name, text in docs.items()}


def _matches(word: str, plugin: IndexedPlugin, *, is_installed: bool) -> Iterator[tuple[int, Found]]:
    """Operators of a plugin that have the word, and the plugin if it does, with their ranks from 0."""

    def found(name: str, kind: str, summary: str) -> Found:
        return Found(name, kind, plugin.name, plugin.version, summary, is_installed)

    for name, summary in plugin.operators.items():
        if (rank := _rank(word, [name], summary)) is not None:
            yield rank, found(name, "operator", summary)
    texts = " ".join([plugin.summary, *plugin.keywords])
    if (rank := _rank(word, [plugin.name], texts)) is not None:
        yield rank, found(plugin.name, "plugin", plugin.summary)


def _rank(word: str, names: Iterable[str], text: str) -> int | None:
    lower = [name.lower() for name in names]
    if word in lower:
        return 0
    if any(word in name for name in lower):
        return 1
    return 2 if re.search(rf"\b{re.escape(word)}", text.lower()) else None


def _installed() -> Iterator[IndexedPlugin]:
    """The installed plugins, as an index would have them."""
    for record in registry.plugins():
        try:
            about = metadata.metadata(record.name).json
        except metadata.PackageNotFoundError:  # registered in this process
            continue
        mine = {
            one.name: one.value for one in registry.operators().values() if one.distribution == record.name
        }
        yield IndexedPlugin(
            name=record.name,
            version=record.version,
            summary=str(about.get("summary", "")),
            keywords=[*about.get("keywords", ())],
            requires=[],
            requires_python="",
            home="",
            file="",
            sha256="",
            provides={group: sorted(names) for group, names in record.groups.items()},
            operators=first_lines(mine, _source_here),
            versions=[record.version],
        )


def _source_here(module: str) -> str | None:
    """Source of an installed module, found without importing its package."""
    package, *inner = module.split(".")
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    folders = [Path(folder, *inner) for folder in spec.submodule_search_locations or ()]
    places = [file for at in folders for file in (at.with_suffix(".py"), at / "__init__.py")]
    if not inner and spec.origin is not None:
        places = [Path(spec.origin)]
    return next((files.read_text(file, f"module {file}") for file in places if file.is_file()), None)
