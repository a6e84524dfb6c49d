"""The command `operad`: its own commands, those of plugins, and what becomes of errors.

Exit codes: 0, all is well; 1, a command found something that needs attention, or failed; 2, the
command line cannot be understood, or a library that the command needs is not installed.
"""

from __future__ import annotations

import difflib
import errno
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, final

import click

from operad import __version__
from operad.cli.describe import describe
from operad.cli.doctor import doctor
from operad.cli.ops import ops
from operad.cli.page import visible
from operad.cli.plugin_commands import BrokenCommand, plugin_command, plugin_commands
from operad.cli.plugins import plugins
from operad.cli.search import search
from operad.cli.stubs import stubs
from operad.cli.why import why
from operad.errors import BrokenPluginError, OperadError
from operad.registry import entry_names, install_line

_SHOWS_WHERE: Final = "(operad --traceback ... shows where)"


@final
class Operad(click.Group):
    """A group whose further commands come from entry points, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands; the core's own win over a plugin's of the same name."""
        return [*super().list_commands(ctx), *self._foreign_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in self._foreign_names():
            return own
        return plugin_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with; an unknown one is an error with a suggestion."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = install_line([name], "operad.commands") or (f"did you mean {close[0]!r}?" if close else "")
            ctx.fail(f"no command {name!r}" + (f"; {hint}" if hint else ""))
        found, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repetition(ctx, command, rest)
        return found, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the core's commands, and below them each plugin's, which are not imported for it."""
        own = [(name, self.commands[name].get_short_help_str(limit=80)) for name in sorted(self.commands)]
        with formatter.section("Commands"):
            formatter.write_dl(own)
        try:
            found = [command for command in plugin_commands() if command.name not in self.commands]
        except OperadError as error:
            with formatter.section("Commands of plugins"):
                formatter.write_text(f"cannot be listed: {error}")
            return
        for distribution in dict.fromkeys(command.distribution for command in found):
            with formatter.section(visible(f"Commands of {distribution}")):
                rows = [(c.name, c.summary) for c in found if c.distribution == distribution]
                formatter.write_dl([(visible(name), visible(summary)) for name, summary in rows])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours becomes one message, unless its traceback is wanted."""
        try:
            return super().invoke(ctx)
        except OperadError as error:
            if ctx.params["traceback"]:
                raise
            raise click.ClickException(visible(_message(error))) from error
        except OSError as error:
            # click ends quietly where the reader of a pipe is gone.
            if ctx.params["traceback"] or error.errno == errno.EPIPE:
                raise
            raise click.ClickException(visible(f"{error}\n{_SHOWS_WHERE}")) from error

    def _foreign_names(self) -> Iterable[str]:
        try:
            return [name for name in entry_names("operad.commands") if name not in self.commands]
        except OperadError as error:
            # An unusable setting must not take the core's own commands with it.
            click.echo(f"operad: commands of plugins are left out: {error}", err=True)
            return []


def _refuse_repetition(ctx: click.Context, command: click.Command, args: Sequence[str]) -> None:
    """Refuse what is given twice where one value counts: click, and a dictionary, drop the first silently.

    Raises:
        UsageError: An option of one value is repeated, or a NAME of one that takes NAME=VALUE.
    """
    if isinstance(command, BrokenCommand) or ctx.resilient_parsing:
        return  # whatever is asked of it raises why it is broken; a line to be completed is no call yet
    inner = click.Context(command, parent=ctx, info_name=command.name, **command.context_settings)
    values, _, order = command.make_parser(inner).parse_args(list(args))
    given: dict[str | None, list[click.Option]] = {}
    for option in order:
        if isinstance(option, click.Option) and not option.count:
            given.setdefault(option.name, []).append(option)
    for name, options in given.items():
        option = options[-1]
        if option.multiple:
            is_named = (option.metavar or "").startswith("NAME=")
            words = Counter(str(value).partition("=")[0] for value in values[str(name)] if is_named)
            for word, count in words.items():
                if count > 1:
                    inner.fail(f"{option.opts[-1]} gives {word!r} {count} times, and it has one value")
            continue
        says_the_same = option.is_flag and not option.secondary_opts and len(set(options)) == 1
        if len(options) > 1 and not says_the_same:
            inner.fail(f"{option.opts[-1]} is given {len(options)} times, and takes one value")


def _message(error: OperadError) -> str:
    text = str(error)
    if isinstance(error, BrokenPluginError):
        # The rest is the plugin's traceback.
        return f"{text.partition(chr(10))[0]}\n{_SHOWS_WHERE}"
    return "\n".join([text, *getattr(error, "__notes__", ())])


@click.group(cls=Operad, name="operad", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="operad")
@click.option("--traceback", is_flag=True, help="Show the full traceback of an error.")
def main(traceback: bool) -> None:
    """Inspect an installation of operad: operators, plugins, kernels and settings.

    Exit codes: 0, success; 1, a problem was found, or the command failed; 2, the command line is invalid,
    or a library that the command needs is not installed. Every listing has --json;
    docs/cli.md says what its keys mean.
    """


for _command in (ops, describe, plugins, search, why, doctor, stubs):
    main.add_command(_command)
