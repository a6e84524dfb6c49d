"""Faults of installed distributions that their metadata shows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from typing import Final

from operad import registry
from operad.cli.doctor.finding import Finding, advice, error, warning
from operad.cli.doctor.trial import Failed
from operad.cli.plugin_commands import COMMANDS
from operad.cli.sources import module_spec
from operad.errors import DuplicateOperatorError
from operad.registry import loading
from operad.registry.discovery import folder_of, installed, is_safe, text_of
from operad.registry.packages import standard_line
from operad.registry.plugins import KERNELS, Entry, normalized
from operad.registry.policy import choose, usable

GROUPS: Final = (
    "operad.operators", "operad.kernels", "operad.passes", "operad.kvstores", "operad.iterators",
    "operad.commands", "operad.attributes", "operad.hooks", "operad.namespaces",
    "operad.settings", "operad.check_backends", "operad.onnx",
)  # fmt: skip
_SHARED: Final = (KERNELS, "operad.hooks")
"""Groups where any number of distributions may use one name."""


def metadata_findings() -> Iterator[Finding]:
    """Metadata that cannot be read, and distributions that are found twice."""
    for broken in loading.current().manifest.unreadable:
        yield error(broken.distribution, broken.reason, "delete that folder and install again")
    places: dict[str, list[str]] = {}
    for found in installed():
        try:
            name = _name(found)
            points = text_of(found, "entry_points.txt") or ""
            is_ours = name == "operad" or "[operad." in points
        except (OSError, ValueError) as problem:
            yield from _unreadable_findings(found, problem)
            continue
        if name is None or not is_ours:
            continue
        folder = folder_of(found)
        if folder not in places.setdefault(name, []):
            places[name].append(folder)
    for name, folders in places.items():
        if len(folders) > 1:
            text = f"is installed {len(folders)} times, of which the first counts: {', '.join(folders)}"
            yield warning(name, text, f"pip uninstall {name} until it is gone, and install it once")


def requirement_findings() -> Iterator[Finding]:
    """Requirements of operad and its plugins that are not met."""
    owners = {d.name: d.requires for d in loading.current().manifest.distributions}
    owners["operad"] = tuple(_requires("operad"))
    for owner, lines in owners.items():
        for line in lines:
            problem = _unmet(line)
            if problem is not None:
                yield error(owner, problem, f'pip install "{line.partition(";")[0].strip()}"')


def entry_point_findings(own_commands: Collection[str]) -> Iterator[Finding]:
    """Entry points that lead nowhere, or stand in a group that no code reads.

    Args:
        own_commands: Names of the core's commands, which hide those of plugins.
    """
    for group, named in loading.current().manifest.groups.items():
        for entries in named.values():
            for entry in entries:
                yield from _entry_findings(group, entry, own_commands)


def _entry_findings(group: str, entry: Entry, own_commands: Collection[str]) -> Iterator[Finding]:
    owner = str(entry.owner)
    if group not in GROUPS:
        close = difflib.get_close_matches(group, GROUPS, n=1)
        hint = f"did its author mean {close[0]}?" if close else f"the groups are {', '.join(GROUPS)}"
        yield warning(owner, f"declares {entry.name!r} in the unknown group {group}", hint)
    elif module_spec(entry.value.partition(":")[0].strip()) is None:
        text = f"{entry.title} names {entry.value}, and there is no such module"
        yield error(owner, text, f"pip install --force-reinstall {entry.owner.name}")
    elif group == COMMANDS and entry.name in own_commands:
        yield warning(
            owner, f"its command {entry.name!r} is hidden by operad's own", "ask its author to rename it"
        )


def duplicate_findings() -> Iterator[Finding]:
    """Names that several distributions provide and no setting decides."""
    seen: set[str] = set()
    for group, named in loading.current().manifest.groups.items():
        for entries in named.values():
            if group in _SHARED or len(usable(entries)) < 2:
                continue
            try:
                choose(entries)
            except DuplicateOperatorError as problem:
                text, _, suggestion = str(problem).partition("; ")
                if text not in seen:
                    seen.add(text)
                    yield error(entries[0].title, text, suggestion)


def plugin_findings() -> Iterator[Finding]:
    """Plugins that do not go with this core, and none at all."""
    records = registry.plugins()
    for record in records:
        if record.state == "incompatible":
            yield error(f"{record.name} {record.version}", "cannot be used", record.reason or "")
    if is_safe():
        return
    if not any("operad.operators" in record.groups for record in records):
        yield advice("plugins", "no installed plugin provides an operator", standard_line())


def failure_findings(failed: Iterable[Failed]) -> Iterator[Finding]:
    """Plugins that cannot be imported or change the process, and entry points of absent extras."""
    for name, reason, extra, works in failed:
        if works:
            yield warning(name, reason, "ask its author to change that where it is needed, not on import")
            continue
        if extra:
            yield advice(name, reason, f'pip install "{extra}"')
            continue
        wish = f"update or uninstall {name}; " if name else ""
        yield error(name or "plugins", reason, f"{wish}operad plugins --broken shows the traceback")


def _name(found: metadata.Distribution) -> str | None:
    text = text_of(found, "METADATA") or text_of(found, "PKG-INFO") or ""
    header = re.search(r"^Name:\s*(\S+)", text.partition("\n\n")[0], re.MULTILINE)
    return normalized(header[1]) if header else None


def _unreadable_findings(found: metadata.Distribution, problem: Exception) -> Iterator[Finding]:
    """A distribution that is no plugin, as far as can be known, or the core itself."""
    folder = folder_of(found)
    if not any(folder in broken.reason for broken in loading.current().manifest.unreadable):
        text = f"its metadata cannot be read: {problem}"
        yield advice(folder, text, "reinstall it, or delete that folder")


def _requires(distribution: str) -> list[str]:
    try:
        return metadata.requires(distribution) or []
    except Exception:  # noqa: BLE001 - not installed, or its metadata cannot be read
        return []


def _unmet(line: str) -> str | None:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - 40 ms of `--help`

    try:
        wanted = Requirement(line)
    except InvalidRequirement:
        return f"its requirement {line!r} cannot be read"
    # Whether a plugin goes with this core is `plugin_findings`' question.
    if wanted.name == "operad" or (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})):
        return None
    try:
        found = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return f"needs {wanted}, which is not installed"
    except Exception as problem:  # noqa: BLE001 - anybody's file may hold anything
        return f"needs {wanted}, whose metadata cannot be read: {problem}"
    if not wanted.specifier.contains(found, prereleases=True):
        return f"needs {wanted}, and {found} is installed"
    return None
