"""Commands whose result is a record: shown for people, or as JSON with `--json`.

A command's callback returns a frozen dataclass. Its fields are the keys of the JSON object, so what
`docs/cli.md` says of the keys is read off the same class.
"""

from __future__ import annotations

from typing import Any, Protocol, final, runtime_checkable

import click

from operad.cli.page import Page, page


@runtime_checkable
class Result(Protocol):
    """Result of a command: a dataclass of plain values that can also show itself.

    It may have an `exit_code`, which is 1 where something was found that needs attention, and else 0.
    """

    def show(self, page: Page) -> None:
        """Show it to a person."""


@final
class Listing(click.Command):
    """A command with `--json`; its callback returns a `Result`.

    Attributes:
        result: The class of what the callback returns.
    """

    def __init__(self, *args: Any, result: type[Result], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.result = result
        self.params.append(
            click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object instead of text.")
        )

    def invoke(self, ctx: click.Context) -> None:
        """Run the callback, print what it found, and exit with its code."""
        as_json = ctx.params.pop("as_json")
        found: Result = super().invoke(ctx)
        if as_json:
            click.echo(to_json(found))
        else:
            found.show(page())
        ctx.exit(getattr(found, "exit_code", 0))


def to_json(result: object) -> str:
    """A record of plain values as indented JSON."""
    import msgspec  # noqa: PLC0415 - 16 ms that `operad --help` need not pay

    plain = msgspec.json.encode(result, enc_hook=str)  # texts that say more, such as `NoForm`
    return msgspec.json.format(plain, indent=2).decode()
