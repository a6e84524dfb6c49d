from __future__ import annotations

import errno

import pytest

from operad.registry import packages as module
from operad.registry.packages import (
    Package,
    install_line,
    names_elsewhere,
    packages,
    standard_line,
    unwritten,
)

OPERATORS = "operad.operators"
NAMES = module.read_table("names.json")["mxnet"]


@pytest.mark.parametrize("group", NAMES)
def test_a_name_of_mxnets_is_provided_or_unwritten_and_never_both(group):
    names = " ".join(NAMES[group]).split()
    assert sorted(set(names)) == sorted(names)
    assert unwritten(group).isdisjoint(packages(group))
    assert set(names) <= unwritten(group) | packages(group).keys()


def test_every_other_name_leads_to_names_of_mxnets():
    known = unwritten(OPERATORS) | packages(OPERATORS).keys()
    elsewhere = names_elsewhere()
    assert [name for name in elsewhere if name in known] == []
    assert [name for names in elsewhere.values() for name in names.split() if name not in known] == []


def test_an_unknown_group_has_no_packages():
    assert packages("operad.nothing") == {}
    assert unwritten("operad.nothing") == frozenset()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A checkout with two plugins, in place of the one that these tests run from."""
    required = {
        "core": "", "operator_sdk/sdk": "'operad>=0.2'", "operator_sdk/check": "'operad-sdk>=0.2'",
        "plugins/fully_connected": "'operad', 'operad-sdk>=0.2'",
        "plugins/layers": "'operad-sdk[vector]', 'operad-fully-connected>=0.2,<0.3', 'numpy'",
    }  # fmt: skip
    for folder, dependencies in required.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "pyproject.toml").write_text(f"[project]\ndependencies = [{dependencies}]\n")
    monkeypatch.setattr(module, "_CHECKOUT", str(tmp_path))
    return tmp_path


def test_a_wheels_user_gets_the_name_of_the_distribution(repository):
    (repository / "core" / "pyproject.toml").unlink()
    assert Package("plugins/fully_connected").install_line() == "pip install operad-fully-connected"
    assert standard_line() == "pip install operad-standard"


def test_in_a_checkout_the_folder_is_named(repository, monkeypatch):
    monkeypatch.chdir(repository)
    assert Package("plugins/fully_connected").install_line() == "pip install ./plugins/fully_connected"
    assert standard_line() == "pip install ./operator_sdk/* ./plugins/*"


def test_elsewhere_the_whole_path_is(repository, monkeypatch):
    monkeypatch.chdir(repository / "core")
    wanted = f"pip install {repository}/plugins/fully_connected"
    assert Package("plugins/fully_connected").install_line() == wanted


def test_a_folder_that_was_deleted_is_not_named(repository):
    assert Package("plugins/dropout").install_line() == "pip install operad-dropout"


def test_the_toolkit_comes_along_where_it_is_missing(repository, monkeypatch):
    monkeypatch.chdir(repository)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    wanted = "pip install ./operator_sdk/sdk ./plugins/fully_connected"
    assert Package("plugins/fully_connected").install_line() == wanted


def test_what_a_plugin_requires_comes_along_where_it_is_missing(repository, monkeypatch):
    monkeypatch.chdir(repository)
    missing = {"operad_fully_connected", "operad_layers"}
    monkeypatch.setattr(module, "find_spec", lambda name: None if name in missing else name)
    assert (
        Package("plugins/layers").install_line() == "pip install ./plugins/fully_connected ./plugins/layers"
    )
    missing.remove("operad_fully_connected")
    assert Package("plugins/layers").install_line() == "pip install ./plugins/layers"


def test_one_command_installs_all_names_that_packages_provide(repository):
    (repository / "core" / "pyproject.toml").unlink()
    names = ["tanh", "no such operator", "sigmoid", "FullyConnected"]
    assert install_line(names) == "pip install operad-elemwise operad-fully-connected"
    assert install_line(["no such operator"]) is None


def test_tables_that_cannot_be_read_leave_messages_without_them(repository, monkeypatch):
    module.read_table.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", lambda *_, **__: open_nothing())
        assert packages(OPERATORS) == {}
        assert unwritten(OPERATORS) == frozenset()
        assert names_elsewhere() == {}
        assert Package("plugins/layers").requirements() == [f"{repository}/plugins/layers"]
    module.read_table.cache_clear()
    assert packages(OPERATORS)


def open_nothing():
    raise OSError(errno.EMFILE, "too many open files")
