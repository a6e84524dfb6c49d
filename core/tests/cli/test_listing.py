"""Every listing's JSON is the documented record, whole and nothing else."""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing

import click
import msgspec
import pytest

from operad.cli import Listing, main
from operad.cli.listing import to_json

WORDS = {
    "ops": (),
    "plugins": ("--broken",),
    "search": ("dense",),
    "describe": ("Dense",),
    "why": ("Dense",),
    "doctor": (),
    "stubs": ("--out", "{folder}"),
}


def records(kind):
    """The record class `kind` and every one inside it."""
    found = [kind] if dataclasses.is_dataclass(kind) else []
    hints = typing.get_type_hints(kind).values() if found else typing.get_args(kind)
    for hint in hints:
        found += [inner for inner in records(hint) if inner not in found]
    return found


def check_keys(value, kind):
    """Compare the keys of `value`, all the way down, with the fields of its record."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        assert set(value) == set(hints)
        for name, hint in hints.items():
            check_keys(value[name], hint)
    elif origin is list:
        for item in value:
            check_keys(item, args[0])
    elif origin is types.UnionType and value is not None:
        check_keys(value, args[0])


LISTINGS = [name for name, command in main.commands.items() if isinstance(command, Listing)]


def test_every_command_of_the_core_is_a_listing():
    assert set(LISTINGS) == set(main.commands) == set(WORDS)


@pytest.mark.parametrize("name", LISTINGS)
def test_json_is_the_record(acme, run, tmp_path, name):
    words = [word.format(folder=tmp_path) for word in WORDS[name]]
    found = json.loads(run(name, *words, "--json").stdout)
    kind = main.commands[name].result
    check_keys(found, kind)
    msgspec.convert(found, kind, strict=True)


@pytest.mark.parametrize("name", LISTINGS)
def test_every_key_is_documented(name):
    for record in records(main.commands[name].result):
        text = inspect.cleandoc(record.__doc__)  # Python 3.13 has removed the indentation itself
        for field in dataclasses.fields(record):
            assert f"\n    {field.name}: " in text, f"{record.__name__}.{field.name} is not described"


def test_json_is_indented_and_keeps_other_letters():
    @dataclasses.dataclass
    class Found:
        name: str

    assert to_json(Found("größe")) == '{\n  "name": "größe"\n}'


def test_the_exit_code_is_the_results(run):
    @dataclasses.dataclass
    class Found:
        count: int

        @property
        def exit_code(self):
            return int(self.count > 0)

        def show(self, page):
            page.text(str(self.count))

    @click.command(cls=Listing, result=Found)
    @click.argument("count", type=int)
    def found(count):
        return Found(count)

    runner = click.testing.CliRunner()
    assert [runner.invoke(found, [n]).exit_code for n in ("0", "3")] == [0, 1]
    assert runner.invoke(found, ["3", "--json"]).stdout == '{\n  "count": 3\n}\n'
