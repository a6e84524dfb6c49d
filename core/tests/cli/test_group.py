from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from operad import config
from operad.cli import main
from operad.cli.plugin_commands import BrokenCommand


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("name", "meant"), [("descrbe", "describe"), ("great", "greet")])
def test_a_misspelt_command_is_an_error_with_a_suggestion(commands, run, name, meant):
    done = run(name)
    assert done.exit_code == 2
    assert f"no command {name!r}; did you mean {meant!r}?" in done.stderr


def test_a_command_of_a_package_that_is_not_installed_names_the_package(commands, run):
    done = run("rec2idx")  # the plugins of this test alone are installed
    assert (done.exit_code, "no command 'rec2idx'; pip install " in done.stderr) == (2, True)


def test_a_file_that_cannot_be_written_is_one_message(site, run, tmp_path):
    (tmp_path / "file").touch()
    done = run("stubs", "--out", str(tmp_path / "file" / "folder"))
    assert done.exit_code == 1
    assert "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


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


@pytest.mark.more
def test_output_can_be_closed_early():
    command = f"{sys.executable} -m operad doctor | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "Versions\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("ops", "--plugin", "a", "--plugin", "b"), "--plugin is given 2 times, and takes one value"),
        (("why", "Add", "--dtype", "int8", "--dtype=int8"), "--dtype is given 2 times"),
        (("why", "Add", "--param", "a=1", "--param", "b=1", "--param", "a=2"), "--param gives 'a' 2 times"),
        (("greet", "--loud", "--quiet"), "--quiet is given 2 times"),
    ],
)
def test_an_option_of_one_value_is_not_repeated(commands, run, words, text):
    done = run(*words)
    assert done.exit_code == 2
    assert text in done.stderr


def test_a_flag_may_be_repeated(commands, run):
    assert run("plugins", "--json", "--json").exit_code == 0


def is_refused(name, args):
    with main.make_context("operad", [name]) as ctx:
        try:
            main.resolve_command(ctx, [name, *args])
        except click.UsageError as error:
            return args[0] in error.message
        return False


def test_no_option_of_any_installed_command_drops_what_it_was_given_first():
    tried = 0
    with main.make_context("operad", ["plugins"]) as ctx:
        commands = {name: main.get_command(ctx, name) for name in main.list_commands(ctx)}
    for name, command in commands.items():
        for option in [] if isinstance(command, BrokenCommand) else command.params:
            if not isinstance(option, click.Option) or (option.is_flag and not option.secondary_opts):
                continue  # a flag that is given twice says the same
            is_named = (option.metavar or "").startswith("NAME=")
            word, values = option.opts[-1], ["a=1", "a=2"] if is_named else ["1", "2"]
            args = [part for value in values for part in ([word] if option.is_flag else [word, value])]
            assert is_refused(name, args) == (is_named or not option.multiple), (name, word)
            tried += 1
    assert tried > 5
