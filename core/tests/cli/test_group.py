from __future__ import annotations

import json
import subprocess
import sys

import pytest

from operad import config, registry

COMMANDS = '''
"""Commands of a plugin."""
import click

@click.command()
@click.option("--fail", is_flag=True)
def greet(fail):
    """Say hello.

    And nothing else.
    """
    if fail:
        from operad.errors import ShapeError
        raise ShapeError("axis 3 is 4, expected 5")
    click.echo("hello")

not_a_command = 3
'''


@pytest.fixture
def commands(site):
    """Plugins with commands: one that works, and every way not to."""
    site.install("good", commands={"greet": "good_commands:greet"}, modules={"good_commands": COMMANDS})
    site.install(
        "bad",
        commands={
            "gone": "bad_nowhere:gone",
            "unnamed": "good_commands:unnamed",
            "number": "good_commands:not_a_command",
            "typo": "bad_typo:typo",
            "fails": "bad_import:fails",
        },
        modules={
            "bad_typo": "def typo(:\n",
            "bad_import": "import no_such_library\ndef fails():\n    pass\n",
        },
    )
    registry.refresh()
    return site


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


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
    assert "command 'number' is 3, expected a click.Command" in done.stderr


@pytest.mark.parametrize(("name", "meant"), [("descrbe", "describe"), ("great", "greet")])
def test_a_misspelt_command_is_an_error_with_a_suggestion(commands, run, name, meant):
    done = run(name)
    assert done.exit_code == 2
    assert f"no command {name!r}; did you mean {meant!r}?" in done.stderr


def test_a_file_that_cannot_be_written_is_one_message(run, tmp_path):
    (tmp_path / "file").touch()
    done = run("stubs", "--out", str(tmp_path / "file" / "folder"))
    assert done.exit_code == 1
    assert "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_command_leaves_the_others_alone(commands, run):
    assert run("fails").exit_code == 1
    assert run("greet").exit_code == 0
    assert run("ops", "--json").exit_code == 1  # no operator is installed here


def test_the_cause_is_shown_on_request(commands, run):
    assert "no_such_library" in str(run("--traceback", "fails").exception)
    assert "import no_such_library" in str(run("--traceback", "fails").exception)


def test_an_error_of_ours_is_one_message(commands, run):
    done = run("greet", "--fail")
    assert (done.exit_code, done.stderr) == (1, "Error: axis 3 is 4, expected 5\n")


def test_an_error_of_ours_keeps_its_traceback_on_request(commands, run):
    done = run("--traceback", "greet", "--fail")
    assert done.exit_code == 1
    assert type(done.exception).__name__ == "ShapeError"


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


def test_an_unusable_setting_leaves_help_standing(commands, run, monkeypatch):
    monkeypatch.setenv("OPERAD_ENGIN", "naive")
    config.settings.cache_clear()
    done = run("--help")
    assert done.exit_code == 0
    assert "cannot be listed: unknown setting OPERAD_ENGIN; did you mean" in done.stdout
    assert "doctor" in done.stdout


@pytest.mark.parametrize("words", [("nonsense",), ("ops", "--nonsense"), ("describe",)])
def test_what_cannot_be_understood_exits_with_2(site, run, words):
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("program", [("-m", "operad"), ("-c", "from operad.cli import main; main()")])
def test_the_program_runs_as_a_process(program):
    done = python(*program, "ops", "no_such_operator_at_all", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"operators": []}
    assert done.stderr == ""


def test_help_imports_neither_plugins_nor_heavy_libraries():
    program = (
        "import sys\nfrom operad.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as stop:\n    code = stop.code\n"
        "heavy = {'numba', 'rich', 'msgspec', 'cupy', 'pluggy', 'hypothesis', 'threadpoolctl', 'packaging'}\n"
        "found = {name.partition('.')[0] for name in sys.modules}\n"
        "guests = {name for name in found if name.startswith('operad_')}\n"
        "print(sorted(found & heavy | guests), code, file=sys.stderr)"
    )
    assert python("-c", program).stderr == "[] 0\n"


def test_output_can_be_closed_early():
    command = f"{sys.executable} -m operad doctor | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "Versions\n"
    assert done.stderr == ""
