"""Commands that plugins add (`operad.commands` entry points): listed without importing them.

An entry point names a `click.Command`. One that cannot be loaded becomes a command that says why,
so that the others, and `operad --help`, go on working.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NoReturn, cast, final

import click

from operad import registry
from operad.cli.sources import first_line
from operad.errors import OperadError
from operad.registry import loading
from operad.registry.kinds import KINDS, instance_of
from operad.registry.policy import usable

COMMANDS: Final = "operad.commands"
KINDS[COMMANDS] = instance_of(click.Command, "a click.Command")


@final
class PluginCommand(NamedTuple):
    """A command known from metadata alone.

    Attributes:
        name: What it is called by.
        distribution: Who provides it, with the version; several where distributions compete.
        summary: What it does, or, marked `broken:`, why it does nothing.
    """

    name: str
    distribution: str
    summary: str


def plugin_commands() -> list[PluginCommand]:
    """Every command of a plugin that is not switched off, sorted by distribution; imports none.

    Raises:
        ConfigError: A setting cannot be used.
    """
    found = []
    for name, entries in loading.current().manifest.entries(COMMANDS).items():
        rivals = usable(entries)
        if len(rivals) == 1:
            found.append(PluginCommand(name, str(rivals[0].owner), _summary(rivals[0].value)))
        elif rivals:
            owners = " and ".join(str(entry.owner) for entry in rivals)
            found.append(PluginCommand(name, owners, "broken: two distributions provide it"))
    return sorted(found, key=lambda command: (command.distribution, command.name))


def plugin_command(name: str) -> click.Command:
    """The command `name` of a plugin, imported now; one that only raises where that fails."""
    try:
        return cast("click.Command", registry.entry(COMMANDS, name))
    except OperadError as error:
        return BrokenCommand(name, error)


@final
class BrokenCommand(click.Command):
    """Stands for a command that could not be loaded; whatever is asked of it raises the reason."""

    def __init__(self, name: str, error: OperadError) -> None:
        super().__init__(name, help=f"broken: {error}", short_help="broken")
        self.error = error

    def make_context(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise why the command could not be loaded."""
        raise self.error


def _summary(value: str) -> str:
    try:
        return first_line(value)
    except (LookupError, SyntaxError, OSError, UnicodeDecodeError) as error:
        return f"broken: {error}"
