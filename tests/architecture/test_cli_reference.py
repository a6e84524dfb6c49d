"""The reference of the command line says what the commands do."""

from __future__ import annotations

import re

import pytest

from operad.cli import main
from tools.cli_reference import OWNERS, PAGE, reference
from tools.workspace import ROOT, distributions


def test_the_page_is_what_the_commands_say() -> None:
    assert (ROOT / PAGE).read_text() == reference(), f"{PAGE} is stale; run `make format`"


def test_every_command_has_a_section() -> None:
    titles = re.findall(r"^### `operad (\S+)( \S+)?`$", reference(), re.MULTILINE)
    sections = list(dict.fromkeys(name for name, _ in titles))  # of a group each command has one
    foreign = {d.name: sorted(d.entry_points("operad.commands")) for d in distributions()}
    assert sections == [
        *sorted(main.commands),
        *(name for owner in OWNERS[1:] for name in foreign.pop(owner)),
    ]
    assert [owner for owner, commands in foreign.items() if commands] == []


@pytest.mark.parametrize("command", ["ops", "check", "convert", "doctor"])
def test_a_listing_has_its_keys(command: str) -> None:
    section = reference().partition(f"### `operad {command}`")[2].partition("\n### ")[0]
    (option,) = [line for line in section.splitlines() if line.startswith("| `--json`")]
    assert "JSON" in option
    assert "\nJSON:\n\n| key | type | meaning |\n" in section
    assert not re.search(r"\|\s*\|$", section, re.MULTILINE), "a key has no meaning"
