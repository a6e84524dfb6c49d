from __future__ import annotations

import json
import subprocess
import sys

import pytest

from operad import config


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


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
