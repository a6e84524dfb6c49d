"""`operad plugins`: which distributions are plugins, and their state."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Final, final

import click

from operad import registry
from operad.cli.extras import without_optional
from operad.cli.listing import Listing
from operad.cli.page import Mark, Page, Tone
from operad.registry import PluginRecord
from operad.registry.plugins import kind_of

_TONES: Final[dict[str, Tone]] = {"ok": "good", "blocked": "quiet"}


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """An entry point that cannot be loaded, or metadata that cannot be read.

    Attributes:
        group: The entry point's group; empty for metadata.
        name: The entry point's name; empty for metadata.
        reason: What went wrong, in one line.
        traceback: Of the plugin's own frames; empty where nothing was raised.
    """

    group: str
    name: str
    reason: str
    traceback: str


@final
@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One distribution with entry points for operad.

    Attributes:
        name: Of the distribution.
        version: Of the distribution.
        state: ok, blocked, incompatible or broken; broken is known only after --broken.
        reason: Why the state is not ok, or null.
        provides: Names of its entry points, by group.
        failures: The entry points that failed.
    """

    name: str
    version: str
    state: str
    reason: str | None
    provides: dict[str, list[str]]
    failures: list[Failure]


@final
@dataclass(frozen=True, slots=True)
class PluginList:
    """Result of `operad plugins`.

    Attributes:
        plugins: The plugins, sorted by name.
    """

    plugins: list[InstalledPlugin]

    @property
    def exit_code(self) -> int:
        """1 where a plugin is broken or incompatible; one that the user blocked is as it should be."""
        return int(any(plugin.state in ("broken", "incompatible") for plugin in self.plugins))

    def show(self, page: Page) -> None:
        """One row per plugin, and below them what failed."""
        plugin_table(page, self.plugins)
        for plugin in self.plugins:
            if plugin.reason is not None:
                page.heading(f"{plugin.name} {plugin.version} is {plugin.state}")
                page.text(plugin.reason)
                for failure in plugin.failures:
                    if failure.traceback:
                        page.text(Mark(failure.traceback.rstrip(), "quiet"))


@click.command(cls=Listing, result=PluginList)
@click.option("--broken", is_flag=True, help="Import all plugins, and list only those with a problem.")
def plugins(broken: bool) -> PluginList:
    """List the installed plugins and their state.

    Imports none of them without --broken, and so cannot know which are broken.
    """
    if not broken:
        return PluginList([listed_plugin(record) for record in registry.plugins()])
    # What a plugin prints while it is imported is no part of the result.
    with redirect_stdout(sys.stderr):
        records = map(without_optional, registry.load_all())
        return PluginList([listed_plugin(record) for record in records if record.state != "ok"])


def listed_plugin(record: PluginRecord) -> InstalledPlugin:
    """The registry's record of a plugin, as it is printed."""
    provides = {group: sorted(names) for group, names in sorted(record.groups.items())}
    failures = [
        Failure(b.entry.group if b.entry else "", b.entry.name if b.entry else "", b.reason, b.traceback)
        for b in record.broken
    ]
    return InstalledPlugin(record.name, record.version, record.state, record.reason, provides, failures)


def plugin_table(page: Page, found: Sequence[InstalledPlugin]) -> None:
    """Show one row per plugin."""
    rows = [
        (
            Mark(plugin.name, "name"),
            plugin.version,
            Mark(plugin.state, _TONES.get(plugin.state, "bad")),
            _counts(plugin.provides),
        )
        for plugin in found
    ]
    page.table(("plugin", "version", "state", "provides"), rows)
    if not rows:
        page.text("none")


def _counts(provides: dict[str, list[str]]) -> str:
    words = []
    for group, names in provides.items():
        words.append(f"{len(names)} {kind_of(group) if len(names) == 1 else group.removeprefix('operad.')}")
    return ", ".join(words)
