from __future__ import annotations

import sys

import pytest

from operad import registry
from operad_check.commands.new import new
from operad_check.new import KINDS, LICENCES

OPTIONS = {option.name: option for option in new.params}


def test_a_package_is_made_and_its_files_are_listed(run_json, tmp_path):
    folder = tmp_path / "acme-losses"
    found = run_json("new", folder, "--op", "huber:unary", "--op", "RowNorm:property", "--author", "A. Smith")
    assert found["folder"] == str(folder)
    assert sorted(found["written"]) == sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    assert {"pyproject.toml", "src/acme_losses/huber.py"} <= set(found["written"])
    assert 'name = "acme-losses"' in (folder / "pyproject.toml").read_text()


def test_name_and_licence_are_taken(run, tmp_path):
    words = ("--op", "huber:unary", "--name", "other-name", "--licence", "MIT", "--author", "A. Smith")
    assert run("new", tmp_path / "folder", *words).exit_code == 0
    assert (tmp_path / "folder" / "src" / "other_name").is_dir()
    assert "MIT License" in (tmp_path / "folder" / "LICENSE").read_text()


def test_text_says_what_to_do_next(run, tmp_path):
    text = run("new", tmp_path / "acme-one", "--op", "huber:unary").stdout
    assert f"cd {tmp_path / 'acme-one'} && pip install -e '.[test]' && pytest" in text


def test_operators_are_added_to_a_package(run, run_json, tmp_path):
    folder = tmp_path / "acme-one"
    run("new", folder, "--op", "huber:unary")
    found = run_json("new", folder, "--add", "--op", "RowNorm:property")
    assert found["written"] == ["src/acme_one/row_norm.py", "tests/test_row_norm.py", "pyproject.toml"]
    done = run("new", folder, "--add", "--op", "RowNorm:property")
    assert done.exit_code == 1
    assert "operator 'RowNorm' is there already" in done.stderr


@pytest.fixture
def others(monkeypatch, tmp_path):
    """An installed distribution with an operator `huber`, as pip would leave it."""
    info = tmp_path / "site" / "acme_others-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[operad.operators]\nhuber = acme_others:huber\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    registry.refresh()
    yield
    monkeypatch.undo()
    registry.refresh()


def test_a_name_that_another_package_has_is_said_at_once(others, run_json, tmp_path):
    words = ("--op", "huber:unary", "--op", "acme_own:unary")
    assert run_json("new", tmp_path / "acme-one", *words)["taken"] == {"huber": "acme-others"}


def test_a_name_that_the_package_itself_has_is_its_own(others, run_json, tmp_path):
    assert run_json("new", tmp_path / "Acme_Others", "--op", "huber:unary")["taken"] == {}


def test_what_cannot_be_made_is_an_error_of_one_line(run, tmp_path):
    done = run("new", tmp_path / "acme-one", "--op", "huber:unarry")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: operator 'huber': kind is 'unarry', expected one of unary, ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--op", "huber"), "expected a name and a kind, such as smooth_l1:unary"),
        (("--add", "--name", "x"), "a package keeps its name"),
        (("--add", "--licence", "MIT"), "--add takes --op alone"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(run, tmp_path, words, message):
    done = run("new", tmp_path / "acme-one", *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_the_help_names_every_kind_and_licence():
    assert f"Kinds: {', '.join(KINDS)}." in OPTIONS["ops"].help
    assert all(licence in OPTIONS["licence"].help for licence in LICENCES)


@pytest.fixture
def forgotten(monkeypatch):
    """Nothing of the templates is imported yet."""
    for name in [name for name in sys.modules if f"{name}.".startswith("operad_check.new.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("forgotten")
def test_a_missing_library_names_the_extra_that_brings_it(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "copier", None)
    done = run("new", tmp_path / "acme-one", "--op", "huber:unary")
    wanted = 'Error: this command needs copier, which is not installed; pip install "operad-check[new]"\n'
    assert (done.exit_code, done.stderr) == (2, wanted)


@pytest.mark.usefixtures("forgotten")
def test_a_fault_of_our_own_is_not_blamed_on_the_extra(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "operad_check.new.requests", None)
    done = run("new", tmp_path / "acme-one", "--op", "huber:unary")
    assert isinstance(done.exception, ModuleNotFoundError)
    assert done.exception.name == "operad_check.new.requests"
