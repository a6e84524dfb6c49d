"""Reads the manifest: the `operad.*` entry points of every installed distribution.

Listing must import no plugin, and must not pay for distributions that are none of ours, so the text
of `entry_points.txt` is searched before anything is parsed. Of a distribution that is found twice
(installed, and again in place) the one counts that `importlib.metadata` answers with.

Anybody's files lie there, and `importlib.metadata` raises whatever a wrong byte leads to. One that
cannot be read becomes a `Broken` record of its distribution, and the others are read as ever. Of a
distribution that is none of ours only `entry_points.txt` is looked at. Under `OPERAD_SAFE=1` nothing is
read at all.

`importlib.metadata` is imported inside functions: it costs 40 ms, more than `import operad` may.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

from operad import config
from operad.errors import ConfigError
from operad.files import check_file
from operad.interrupts import raise_of_handler
from operad.registry.plugins import Broken, Distribution, Entry, normalized

if TYPE_CHECKING:
    from importlib import metadata

_OURS = "[operad."
"""Begins the sections of `entry_points.txt` that matter."""


@final
class Manifest(NamedTuple):
    """Everything that is declared.

    Attributes:
        distributions: Those with entry points of ours, sorted by name.
        groups: Entry points by group, then by name; several where distributions compete.
        core_version: Of the installed core; None where it runs from a source tree.
        unreadable: Distributions that are plugins, or may be, and cannot be read, sorted by name.
    """

    distributions: tuple[Distribution, ...]
    groups: Mapping[str, Mapping[str, tuple[Entry, ...]]]
    core_version: str | None
    unreadable: tuple[Broken, ...] = ()

    def entries(self, group: str) -> Mapping[str, tuple[Entry, ...]]:
        """The entry points of `group`, by name."""
        return self.groups.get(group, {})

    def all_entries(self) -> Iterator[Entry]:
        """Every entry point there is."""
        return (entry for named in self.groups.values() for entries in named.values() for entry in entries)


_Plugin = tuple[Distribution, Mapping[tuple[str, str], str]]
"""A distribution of ours, and the values of its entry points by group and name."""


def read_manifest() -> Manifest:
    """Read the entry points of everything on `sys.path`; imports no plugin."""
    if is_safe():
        return Manifest((), {}, None)
    plugins, unreadable = _plugins()
    groups: dict[str, dict[str, tuple[Entry, ...]]] = {}
    for owner, points in plugins:
        for (group, name), value in points.items():
            named = groups.setdefault(group, {})
            named[name] = (*named.get(name, ()), Entry(group, name, value, owner))
    owners = tuple(owner for owner, points in plugins if points)
    return Manifest(owners, groups, _core_version(), tuple(unreadable))


def is_safe() -> bool:
    """Return whether `OPERAD_SAFE=1` is in force, also where another setting cannot be used."""
    try:
        return config.settings().safe
    except ConfigError:
        return any(reading.value for reading in config.readings() if reading.option.field == "safe")


def installed() -> Iterator[metadata.Distribution]:
    """Every distribution there is, in the order of `metadata.distributions`.

    Each finder is asked for one place at a time, so that a finder that raises, or a place that no
    finder understands (no text, a null byte), hides nothing but itself.

    Source: Distribution.discover, Lib/importlib/metadata.
    """
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    for finder in list(sys.meta_path):
        find = getattr(finder, "find_distributions", None)
        if find is None:
            continue
        for place in list(sys.path):
            try:
                yield from find(metadata.DistributionFinder.Context(path=[place]))
            except Exception as error:  # noqa: BLE001 - nothing is known of what could not be found
                raise_of_handler(error)


def folder_of(found: metadata.Distribution) -> str:
    """The folder that a distribution's metadata lies in."""
    # It is not part of importlib's documented interface.
    path = getattr(found, "_path", None)
    return str(path if path is not None else Path(str(found.locate_file(""))))


def text_of(found: metadata.Distribution, name: str) -> str | None:
    """The text of one of a distribution's files; None where it is not there.

    Raises:
        FormatError: It is no file, or too large for a text.
    """
    path = os.path.join(folder_of(found), name)
    check_file(path, repr(path))
    return found.read_text(name)


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


def _plugins() -> tuple[list[_Plugin], list[Broken]]:
    read: dict[str, _Plugin] = {}
    unreadable: dict[str, Broken] = {}
    for found in installed():
        try:
            if not _is_plugin(found):
                continue
            name = normalized(_described(found).name)
            if name not in read:
                read[name] = _read(_first(name, found))
        except Exception as error:  # noqa: BLE001 - anybody's files; the rest must work
            raise_of_handler(error)
            unreadable.setdefault(folder_of(found), _unreadable(found, error))
    broken = sorted(unreadable.values(), key=lambda record: record.distribution)
    return [read[name] for name in sorted(read)], broken


def _is_plugin(found: metadata.Distribution) -> bool:
    try:
        return _OURS in (text_of(found, "entry_points.txt") or "")
    except UnicodeDecodeError as error:
        # Wrong bytes in another package's file are none of our business.
        if _OURS.encode() in error.object.replace(b"\0", b""):
            raise
        return False


def _first(name: str, found: metadata.Distribution) -> metadata.Distribution:
    """The distribution that `importlib.metadata` answers with: `found`, or one that hides it."""
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    try:
        return metadata.distribution(name)
    except Exception as error:  # noqa: BLE001 - it searches all places at once; `installed` says why that may fail
        raise_of_handler(error)
        return found


def _read(found: metadata.Distribution) -> _Plugin:
    points = {(p.group, p.name): p.value for p in found.entry_points if p.group.startswith("operad.")}
    owner = _described(found)
    declared = [text for (_, name), value in points.items() for text in (name, value)]
    for text in (owner.name, owner.version, *declared):
        if not text.isprintable():  # every message that named it would steer the reader's terminal
            raise ValueError(f"it declares {text!r}, which has unprintable characters")
    return owner, points


def _unreadable(found: metadata.Distribution, error: Exception) -> Broken:
    import traceback  # noqa: PLC0415 - 2 ms that only broken metadata costs

    folder = repr(folder_of(found))[1:-1]  # characters that cannot be shown are spelt out
    name, _, version = Path(folder).name.rpartition(".")[0].partition("-")
    owner = f"{name} {version}".strip() or folder
    reason = f"its metadata in {folder} cannot be read: {type(error).__name__}: {error}"
    return Broken(owner, "".join(traceback.format_exception(error)), None, reason)


def _described(found: metadata.Distribution) -> Distribution:
    """Name, version and requirements.

    Raises:
        LookupError: There is no name, as in the remains of an interrupted installation.
    """
    from email.parser import HeaderParser  # noqa: PLC0415 - `importlib.metadata` needs it anyway

    text = text_of(found, "METADATA") or text_of(found, "PKG-INFO") or ""
    # An empty line ends the headers; after it comes the whole README, which need not be parsed.
    headers = HeaderParser().parsestr(text.partition("\n\n")[0])
    name = headers["Name"]
    if not name:
        raise LookupError("it has no name; an installation was probably interrupted")
    return Distribution(name, headers["Version"] or "?", tuple(headers.get_all("Requires-Dist", [])))


def _core_version() -> str | None:
    from importlib import metadata  # noqa: PLC0415 - see the module's docstring

    try:
        return metadata.version("operad")
    except Exception as error:  # noqa: BLE001 - not installed, or its metadata cannot be read
        raise_of_handler(error)
        return None
