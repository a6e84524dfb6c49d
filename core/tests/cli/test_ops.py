from __future__ import annotations

import pytest

from operad import registry
from operad.registry import packages


def test_each_operator_is_listed_once_with_its_other_names(acme, run_json):
    (dense,) = [op for op in run_json("ops")["operators"] if op["name"] == "Dense"]
    assert dense == {
        "name": "Dense",
        "aliases": ["dense"],
        "distribution": "acme-ops",
        "version": "1.5",
        "entry_point": "acme_ops:Dense",
        "rivals": [],
    }


def test_listing_imports_no_plugin(acme, run):
    assert run("ops").exit_code == 0
    assert not acme.is_imported("acme_ops")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("DEN", ["Dense"]), ("d*", ["Dense", "double"]), ("?ouble", ["double"]), ("ense", ["Dense"])],
)
def test_a_pattern_is_a_part_or_a_glob_in_any_case(acme, run_json, pattern, found):
    assert [op["name"] for op in run_json("ops", pattern)["operators"]] == found


def test_nothing_that_matches_is_a_finding(acme, run):
    done = run("ops", "nothing")
    assert (done.exit_code, done.stdout) == (1, "no installed operator matches; operad ops lists all\n")


def test_an_installation_without_operators_says_what_to_install(site, run, monkeypatch):
    monkeypatch.setattr(packages, "checkout", lambda: None)
    done = run("ops")
    assert done.exit_code == 1
    assert done.stdout == "no operator is installed; all of operad's: pip install operad-standard\n"


def test_safe_mode_says_that_nothing_was_read(acme, run, set_environment):
    set_environment(SAFE="1")
    assert run("ops").stdout == "OPERAD_SAFE=1 reads no plugin, so there is no operator; unset it\n"


def test_a_plugin_can_be_asked_for_by_any_spelling(acme, run_json):
    assert len(run_json("ops", "--plugin", "Acme_Ops")["operators"]) == 3
    assert run_json("ops", "--plugin", "other")["operators"] == []


def test_a_name_of_two_plugins_shows_both(acme, run, run_json):
    acme.install("rival", operators={"double": "rival:double"})
    registry.refresh()
    (double,) = run_json("ops", "double")["operators"]
    assert {double["distribution"], *double["rivals"]} == {"acme-ops", "rival 1.0"}
    assert "also in rival 1.0" in run("ops", "double").stdout


def test_a_pipe_gets_aligned_columns_and_nothing_else(acme, run):
    lines = run("ops").stdout.splitlines()
    assert lines == [
        "operator  provided by   other names",
        "Dense     acme-ops 1.5  dense",
        "double    acme-ops 1.5",
        "Many      acme-ops 1.5",
    ]
