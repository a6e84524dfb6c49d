"""Commands that plugins add."""

from __future__ import annotations

import pytest

from operad import registry


def test_help_lists_the_commands_of_plugins_under_their_names(commands, run):
    text = run("--help").stdout
    assert "Commands of good 1.0:\n  greet  Say hello.\n" in text
    assert not commands.is_imported("good_commands")


def test_help_spells_out_what_would_steer_a_terminal(site, run):
    site.install("evil", commands={"bad": "evil_commands:bad"})
    source = 'def bad():\n    """Clear \x1b[2J the screen."""\n'
    site.write("evil_commands", source)
    registry.refresh()
    text = run("--help").stdout
    assert "\x1b" not in text
    assert r"Clear \x1b[2J the screen." in text


def test_help_marks_commands_whose_text_shows_that_they_are_broken(commands, run):
    lines = {line.split()[0]: line for line in run("--help").stdout.splitlines() if line.startswith("  ")}
    assert "broken: there is no module 'bad_nowhere'" in lines["gone"]
    assert "broken: module 'good_commands' defines no" in lines["unnamed"]
    assert "broken: invalid syntax" in lines["typo"]
    assert "broken" not in lines["greet"]


def test_a_command_of_a_plugin_runs(commands, run):
    done = run("greet")
    assert (done.exit_code, done.stdout) == (0, "hello\n")


@pytest.mark.parametrize("name", ["gone", "unnamed", "typo", "fails"])
def test_a_broken_command_says_why_and_names_its_distribution(commands, run, name):
    done = run(name, "--help")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: command {name!r} of bad 1.0 cannot be used: ")
    assert "Traceback" not in done.stderr


def test_what_is_no_command_is_said_to_be_none(commands, run):
    done = run("number")
    assert done.exit_code == 1
    assert "'good_commands:not_a_command' is of the wrong kind (int), expected a click.Command" in done.stderr


def test_a_broken_command_leaves_the_others_alone(commands, run):
    assert run("fails").exit_code == 1
    assert run("greet").exit_code == 0
    assert run("ops", "--json").exit_code == 1  # no operator is installed here


def test_a_blocked_plugin_has_no_commands(commands, run, set_environment):
    set_environment(BLOCK="good")
    assert "greet" not in run("--help").stdout
    assert run("greet").exit_code == 2


def test_a_command_of_two_plugins_is_refused(commands, run):
    commands.install("twin", commands={"greet": "twin:greet"})
    registry.refresh()
    assert "broken: two distributions provide it" in run("--help").stdout
    assert "command 'greet' is provided by" in run("greet").stderr


def test_a_plugin_cannot_replace_a_command_of_the_core(commands, run):
    commands.install("thief", commands={"ops": "good_commands:greet"})
    registry.refresh()
    assert "Commands of thief" not in run("--help").stdout
    assert "hello" not in run("ops").stdout
