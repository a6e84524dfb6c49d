"""`operad ops`: which operators are installed, and who provides them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import final

import click

from operad import registry
from operad.cli.listing import Listing
from operad.cli.options import complete_operators, complete_plugins
from operad.cli.page import Mark, Page
from operad.registry import OperatorRecord
from operad.registry.discovery import is_safe
from operad.registry.packages import standard_line
from operad.registry.plugins import normalized


@final
@dataclass(frozen=True, slots=True)
class InstalledOperator:
    """One operator.

    Attributes:
        name: Its main name.
        aliases: Its other names.
        distribution: Who provides it.
        version: Of that distribution.
        entry_point: What is imported when it is used, as module:attribute.
        rivals: Other distributions that provide the name; where there are any, using it is an error.
    """

    name: str
    aliases: list[str]
    distribution: str
    version: str
    entry_point: str
    rivals: list[str]


@final
@dataclass(frozen=True, slots=True)
class OperatorList:
    """Result of `operad ops`.

    Attributes:
        operators: The operators, sorted by name without regard to case.
    """

    operators: list[InstalledOperator]

    @property
    def exit_code(self) -> int:
        """1 where nothing matched."""
        return 0 if self.operators else 1

    def show(self, page: Page) -> None:
        """One row per operator."""
        rows = [
            (
                Mark(op.name, "name"),
                f"{op.distribution} {op.version}".rstrip(),
                Mark(f"also in {', '.join(op.rivals)}", "bad") if op.rivals else ", ".join(op.aliases),
            )
            for op in self.operators
        ]
        page.table(("operator", "provided by", "other names"), rows)
        if not rows:
            page.text(_nothing())


@click.command(cls=Listing, result=OperatorList)
@click.argument("pattern", required=False, shell_complete=complete_operators)
@click.option(
    "--plugin", metavar="DIST", shell_complete=complete_plugins, help="Only what this distribution provides."
)
def ops(pattern: str | None, plugin: str | None) -> OperatorList:
    """List the installed operators; imports no plugin.

    PATTERN is part of a name, or a name with * and ?; case does not matter.
    """
    return OperatorList(installed_operators(pattern, plugin))


def installed_operators(pattern: str | None = None, plugin: str | None = None) -> list[InstalledOperator]:
    """The installed operators that match, main names first."""
    groups: dict[tuple[str, str], list[OperatorRecord]] = {}
    for record in registry.operators().values():
        groups.setdefault((record.distribution, record.canonical), []).append(record)
    found = [_listed(records) for records in groups.values()]
    if plugin is not None:
        found = [op for op in found if normalized(op.distribution) == normalized(plugin)]
    if pattern is not None:
        found = [op for op in found if _matches(pattern, [op.name, *op.aliases])]
    return sorted(found, key=lambda op: (op.name.lower(), op.name))


def _nothing() -> str:
    if is_safe():
        return "OPERAD_SAFE=1 reads no plugin, so there is no operator; unset it"
    if registry.operators():
        return "no installed operator matches; operad ops lists all"
    return f"no operator is installed; all of operad's: {standard_line()}"


def _listed(records: list[OperatorRecord]) -> InstalledOperator:
    main = min(records, key=lambda record: record.is_alias)
    rivals = sorted({rival for record in records for rival in record.rivals})
    aliases = [record.name for record in records if record is not main]
    return InstalledOperator(main.name, aliases, main.distribution, main.version, main.value, rivals)


def _matches(pattern: str, names: Iterable[str]) -> bool:
    wanted = pattern.lower()
    if not any(sign in wanted for sign in "*?["):
        wanted = f"*{wanted}*"
    return any(fnmatchcase(name.lower(), wanted) for name in names)
