"""Reads the manifest: the `operad.*` entry points of every installed distribution.

Listing must import no plugin, and must not pay for distributions that are none of ours, so the text
of `entry_points.txt` is searched before anything is parsed. Of a distribution that is found twice
(installed, and again in place) the one counts that `importlib.metadata` answers with.

`importlib.metadata` is imported inside functions: it costs 40 ms, more than `import operad` may.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, final

from operad.registry.plugins import Distribution, Entry, normalized

if TYPE_CHECKING:
    from importlib import metadata


@final
class Manifest(NamedTuple):
    """Everything that is declared.

    Attributes:
        distributions: Those with entry points of ours, sorted by name.
        groups: Entry points by group, then by name; several where distributions compete.
        core_version: Of the installed core; None where it runs from a source tree.
    """

    distributions: tuple[Distribution, ...]
    groups: Mapping[str, Mapping[str, tuple[Entry, ...]]]
    core_version: str | None

    def entries(self, group: str) -> Mapping[str, tuple[Entry, ...]]:
        """The entry points of `group`, by name."""
        return self.groups.get(group, {})


def read_manifest() -> Manifest:
    """Read the entry points of everything on `sys.path`; imports no plugin."""
    owners: list[Distribution] = []
    groups: dict[str, dict[str, tuple[Entry, ...]]] = {}
    for owner, found in _providers():
        points = {(p.group, p.name): p.value for p in found.entry_points if p.group.startswith("operad.")}
        if points:
            owners.append(owner)
        for (group, name), value in points.items():
            named = groups.setdefault(group, {})
            named[name] = (*named.get(name, ()), Entry(group, name, value, owner))
    return Manifest(tuple(owners), groups, _core_version())


def forget_listings() -> None:
    """Drop what the import system remembers of folders' contents.

    `importlib.metadata` keeps a folder's listing until the folder's modification time changes, and a
    distribution added within one tick of the clock does not change it. Python before 3.13 and early
    3.12 and 3.11 releases do not reach that cache through `importlib.invalidate_caches`.

    Source: FastPath.lookup and MetadataPathFinder.invalidate_caches, Lib/importlib/metadata;
        CPython issue 116811.
    """
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    importlib.invalidate_caches()
    metadata.MetadataPathFinder().invalidate_caches()


def _providers() -> list[tuple[Distribution, metadata.Distribution]]:
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    chosen: dict[str, tuple[Distribution, metadata.Distribution]] = {}
    for found in metadata.distributions():
        owner = _described(found) if _is_plugin(found) else None
        if owner is None or normalized(owner.name) in chosen:
            continue
        try:
            first = metadata.distribution(owner.name)
        except metadata.PackageNotFoundError:
            first = found
        chosen[normalized(owner.name)] = (_described(first) or owner, first)
    return [chosen[name] for name in sorted(chosen)]


def _is_plugin(found: metadata.Distribution) -> bool:
    return "[operad." in (found.read_text("entry_points.txt") or "")


def _described(found: metadata.Distribution) -> Distribution | None:
    """Name, version and requirements; None for the remains of an interrupted installation."""
    from email.parser import HeaderParser  # noqa: PLC0415 - `importlib.metadata` needs it anyway

    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    # An empty line ends the headers; after it comes the whole README, which need not be parsed.
    headers = HeaderParser().parsestr(text.partition("\n\n")[0])
    name = headers["Name"]
    if not name:
        return None
    return Distribution(name, headers["Version"] or "?", tuple(headers.get_all("Requires-Dist", [])))


def _core_version() -> str | None:
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    try:
        return metadata.version("operad")
    except metadata.PackageNotFoundError:
        return None
