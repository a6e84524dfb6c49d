"""The Tab key: what the script answers when a shell asks it."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from operad.cli import main


def completions(*words):
    *given, incomplete = words
    return ShellComplete(main, {}, "operad", "_OPERAD_COMPLETE").get_completions(list(given), incomplete)


@pytest.mark.parametrize("command", ["describe", "why", "ops"])
def test_names_of_operators_are_completed_with_their_distribution(acme, command) -> None:
    found = completions(command, "do")
    assert [(item.value, item.help) for item in found] == [("double", "acme-ops")]


def test_distributions_are_completed(acme) -> None:
    assert [item.value for item in completions("ops", "--plugin", "acme")] == ["acme-ops"]


def test_commands_are_completed() -> None:
    assert "describe" in [item.value for item in completions("des")]
