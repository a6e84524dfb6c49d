"""Write `docs/cli.md`, the reference of the command `operad`.

It is read off the commands themselves: their help, their options, and of each command with `--json`
the record that it prints, whose docstring says what the keys mean. `--check` changes nothing and
fails where the page is not what would be written.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import click

from operad.cli import Listing, main
from tools.generated import keep_current, parser_of
from tools.workspace import ROOT

PAGE: Final = "docs/cli.md"
OWNERS: Final = (
    "operad", "operad-check", "operad-export", "operad-image", "operad-kvstore-mpi", "operad-kvstore-ray",
    "operad-module", "operad-mxnet", "operad-onnx", "operad-recordio", "operad-visualization",
)  # fmt: skip
_INTRODUCTION: Final = """\
<!-- written by `make format`, do not edit -->
# The command `operad`

{help}

| for | install, [from a checkout until the first release](install.md) |
|---|---|
| the script `operad` and the core's commands | `pip install "operad[cli]"` |
| `operad check`, `operad explain`, `operad bench`, `operad tune` | `pip install operad-check` |
| `operad new` | `pip install "operad-check[new]"` |
| `operad export` | `pip install "operad-export[cli]"` |
| `operad im2rec` | `pip install "operad-image[cli]"` |
| `operad profile` | `pip install "operad-module[cli]"` |
| `operad convert`, `operad port`, `operad run-mxnet` | `pip install "operad-mxnet[cli]"` |
| `operad onnx export`, `operad onnx import`, `operad onnx check` | `pip install "operad-onnx[cli]"` |
| `operad launch` | `pip install "operad-kvstore-ray[ray]"` |
| `operad mpirun` | `pip install "operad-kvstore-mpi[openmpi]"` |
| `operad rec2idx` | `pip install "operad-recordio[cli]"` |
| `operad graph` | `pip install "operad-visualization[cli]"` |

The script itself comes with `operad`. Where the libraries of a command are missing it prints the line
above that installs them, and exits with 2. `python -m operad` is the script for where it is not on the path.

On a terminal results are tables in colour; in a pipe they are plain aligned text, never wrapped or
cut. With `--json` a command prints one JSON object: its keys, listed below, stay as they are, and
further ones may be added.

An error is one message on standard error. `operad --traceback COMMAND ...` shows where it was raised.

The Tab key completes commands, options, names of operators and distributions, and ids of checks, in bash
(4.4 and newer), zsh and fish, once the shell has read what the script prints for it:

| shell | line | where |
|---|---|---|
| bash | `eval "$(_OPERAD_COMPLETE=bash_source operad)"` | `~/.bashrc` |
| zsh | `eval "$(_OPERAD_COMPLETE=zsh_source operad)"` | `~/.zshrc` |
| fish | `_OPERAD_COMPLETE=fish_source operad \\| source` | `~/.config/fish/completions/operad.fish` |

A plugin adds a command with an entry point in the group `operad.commands` that names a
`click.Command`; `operad.cli.Listing` makes one with `--json`. `operad --help` lists such commands
without importing them, and one that cannot be imported says so when it is used.
"""
_WORDS: Final = {str: "text", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def reference() -> str:
    """The text of the page."""
    parts = [_INTRODUCTION.format(help=_paragraphs(main))]
    names = {owner: _commands(owner) for owner in OWNERS}
    for owner, commands in names.items():
        parts.append(f"## Commands of `{owner}`\n")
        parts += [_section(name, command) for name, command in commands.items()]
    return "\n".join(parts)


def _commands(owner: str) -> dict[str, click.Command]:
    from operad.registry import plugins  # noqa: PLC0415 - reads what is installed only when asked

    if owner == "operad":
        return dict(sorted(main.commands.items()))
    names = [name for p in plugins() if p.name == owner for name in p.groups.get("operad.commands", ())]
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in sorted(names)}
    return dict(_leaves(found))


def _leaves(commands: Mapping[str, click.Command | None]) -> Iterator[tuple[str, click.Command]]:
    """The commands that do something: of a group those in it, after its name."""
    for name, command in commands.items():
        if isinstance(command, click.Group):
            yield from _leaves({f"{name} {inner}": each for inner, each in command.commands.items()})
        elif command is not None:
            yield name, command


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, parent=click.Context(main, info_name="operad"))
    usage = " ".join(["operad", name, *command.collect_usage_pieces(context)])
    lines = [f"### `operad {name}`\n", f"    {usage}\n", f"{_paragraphs(command)}\n"]
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        lines += [
            "| option | meaning |",
            "|---|---|",
            *(_option_row(option, context) for option in options),
            "",
        ]
    if isinstance(command, Listing):
        lines += list(_records(command.result))
    return "\n".join(lines)


def _paragraphs(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").replace("\f", "")


def _option_row(option: click.Option, context: click.Context) -> str:
    found = option.get_help_record(context)
    assert found is not None, f"{option.name} is hidden"
    words, meaning = found
    return f"| `{_cell(words)}` | {_cell(meaning)} |"


def _records(result: type[Any]) -> Iterator[str]:
    """The keys of a record and of all records inside it."""
    for record in _inside(result):
        title = "JSON:" if record is result else f"Each `{_label(record)}`:"
        yield from [title, "", "| key | type | meaning |", "|---|---|---|"]
        meanings, hints = _meanings(record), typing.get_type_hints(record)
        for field in fields(record):
            yield f"| `{field.name}` | {_type(hints[field.name])} | {_cell(meanings[field.name])} |"
        yield ""


def _inside(kind: Any) -> list[Any]:
    found: list[Any] = [kind] if is_dataclass(kind) else []
    hints = typing.get_type_hints(kind).values() if found else typing.get_args(kind)
    for hint in hints:
        found += [record for record in _inside(hint) if record not in found]
    return found


def _meanings(record: type[Any]) -> dict[str, str]:
    """Meaning of each field, from the docstring's `Attributes:`."""
    text = inspect.cleandoc(record.__doc__ or "").partition("Attributes:\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for entry in re.split(r"\n {4}(?=\S)", "\n" + text)[1:]:
        name, _, meaning = entry.partition(": ")
        found[name] = " ".join(meaning.split())
    return found


def _type(hint: Any) -> str:
    """A type in words, for people who do not read Python."""
    if is_dataclass(hint):
        return f"`{_label(hint)}`"
    if hint in _WORDS:
        return _WORDS[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return " or ".join(map(_type, args))
    if origin is typing.Literal:
        return " or ".join(map(str, args))
    if origin is dict:
        return f"object of {_type(args[1])}"
    if origin is tuple:
        return f"[{', '.join(map(_type, args))}]"
    assert origin is list, f"a key is {hint}, which no JSON value is"
    return f"list of {_type(args[0])}"


def _label(record: Any) -> str:
    return str(record.__name__)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def run() -> int:
    """Write the page, or with `--check` say whether it is current."""
    arguments = parser_of(run.__doc__, "the page", has_root=False).parse_args()
    stale = f"{PAGE} is stale; run `make format`"
    return keep_current(ROOT / PAGE, reference(), stale, is_check=arguments.check)


if __name__ == "__main__":
    sys.exit(run())
