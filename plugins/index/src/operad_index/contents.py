"""Contents of an index, read from wheels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from operad.cli.search import FORMAT, OPERATORS, Index, IndexedChecks, IndexedPlugin, first_lines
from operad.cli.wheels import REPORT, Wheel, open_wheel
from operad.errors import FormatError, OperadError

_PREFIX: Final = "operad."


def index_of(wheels: Iterable[Path]) -> Index:
    """The plugins among wheels, each at its newest version; what cannot be read is told with its reason."""
    found: dict[str, list[IndexedPlugin]] = {}
    unreadable = {}
    for path in wheels:
        try:
            plugin = indexed(path)
        except OperadError as error:
            unreadable[path.name] = str(error)
            continue
        if plugin.provides:
            found.setdefault(canonicalize_name(plugin.name), []).append(plugin)
    return Index(FORMAT, [_newest(found[name]) for name in sorted(found)], unreadable)


def indexed(path: Path) -> IndexedPlugin:
    """Entry of an index for one wheel.

    Raises:
        FormatError: It is none, or damaged.
    """
    with open_wheel(path) as wheel:
        about = wheel.metadata
        _version(path, about.get("Version", ""))
        provides = {
            group: sorted(entries)
            for group, entries in wheel.entry_points.items()
            if group.startswith(_PREFIX) and entries
        }
        checks, note = _checks(wheel)
        return IndexedPlugin(
            name=about.get("Name", ""),
            version=about.get("Version", ""),
            summary=about.get("Summary", ""),
            keywords=[word for word in about.get("Keywords", "").replace(" ", ",").split(",") if word],
            requires=[str(one) for one in _requirements(about.get_all("Requires-Dist", []))],
            requires_python=about.get("Requires-Python", ""),
            home=_home(about.get_all("Project-URL", [])),
            file=path.name,
            sha256=_sha256(path),
            provides=provides,
            operators=first_lines(wheel.entry_points.get(OPERATORS, {}), lambda name: _source(wheel, name)),
            versions=[about.get("Version", "")],
            checks=checks,
            note=note,
        )


def _newest(plugins: list[IndexedPlugin]) -> IndexedPlugin:
    ordered = sorted(plugins, key=lambda plugin: Version(plugin.version), reverse=True)
    versions = list(dict.fromkeys(plugin.version for plugin in ordered))
    return replace(ordered[0], versions=versions)


def _version(path: Path, text: str) -> None:
    try:
        Version(text)
    except InvalidVersion as error:
        raise FormatError(f"{path.name}: its version is {text!r}: {error}") from error


def _requirements(lines: Iterable[str]) -> Iterable[Requirement]:
    """Requirements that hold without extras; a line that is none is left out."""
    for line in lines:
        try:
            one = Requirement(line)
        except InvalidRequirement:
            continue
        if one.marker is None or "extra" not in str(one.marker):
            yield one


def _home(urls: Iterable[str]) -> str:
    """The first project URL that a browser may be led to."""
    found = (url.partition(",")[2].strip() for url in urls)
    return next((url for url in found if url.startswith(("https://", "http://"))), "")


def _source(wheel: Wheel, module: str) -> str | None:
    place = module.replace(".", "/")
    for name in (f"{place}.py", f"{place}/__init__.py"):
        if name in wheel:
            return wheel.text(name)
    return None


def _checks(wheel: Wheel) -> tuple[IndexedChecks | None, str]:
    """The report of the checks that the wheel carries, or why it does not count."""
    name = f"{wheel.info}/{REPORT}"
    if name not in wheel:
        return None, ""
    try:
        report = msgspec.json.decode(wheel.text(name), type=dict[str, object])
        if report.get("digest") != wheel.digest():
            return None, "its report is of other contents: it was changed after the checks"
        return msgspec.convert(report.get("checks"), type=IndexedChecks), ""
    except msgspec.MsgspecError as error:
        return None, f"its report cannot be read: {error}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
