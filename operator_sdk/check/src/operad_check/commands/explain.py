"""`operad explain`: the purpose of a contract check."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import final

import click
from click.shell_completion import CompletionItem

from operad.cli import Listing, Mark, Page
from operad.errors import ArgumentError
from operad_check.foreign.found import register_adapters
from operad_check.register import Check, entries


@final
@dataclass(frozen=True, slots=True)
class CheckExplanation:
    """One contract check.

    Attributes:
        id: Its stable id.
        group: The group it belongs to.
        title: What holds where it passes.
        why: What goes wrong where it does not hold.
        example: Code that breaks it.
        fix: One suggestion.
    """

    id: str
    group: str
    title: str
    why: str
    example: str
    fix: str


@final
@dataclass(frozen=True, slots=True)
class Explanations:
    """Result of `operad explain`.

    Attributes:
        checks: The checks asked for, or all, by id.
    """

    checks: list[CheckExplanation]

    def show(self, page: Page) -> None:
        """One check in full, several as a table."""
        if len(self.checks) > 1:
            rows = [(Mark(check.id, "name"), check.group, check.title) for check in self.checks]
            page.table(("id", "group", "what holds"), rows)
            return
        for check in self.checks:
            page.text(Mark(f"{check.id} ({check.group}): {check.title}.", "name"))
            page.heading("Why")
            page.text(check.why)
            page.heading("Broken by")
            page.code(check.example)
            page.heading("Fix")
            page.text(check.fix)


def complete_checks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of checks that begin with what is typed, each with its rule."""
    return [
        CompletionItem(id, help=check.title)
        for id, check in entries().items()
        if id.startswith(incomplete.upper())
    ]


@click.command(cls=Listing, result=Explanations)
@click.argument("check_id", metavar="[ID]", required=False, shell_complete=complete_checks)
def explain(check_id: str | None) -> Explanations:
    """Explain a contract check, or list all of them.

    ID is what `operad check` prints for a failure, such as B301.
    """
    if check_id is None or check_id.upper() not in entries():
        register_adapters()
    wanted = list(entries().values()) if check_id is None else [_entry(check_id.upper())]
    return Explanations([CheckExplanation(c.id, c.group, c.title, c.why, c.example, c.fix) for c in wanted])


def _entry(id: str) -> Check:
    found = entries().get(id)
    if found is None:
        close = difflib.get_close_matches(id, entries(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`operad explain` lists them all"
        raise ArgumentError(f"explain: check {id!r} is unknown; {hint}")
    return found
