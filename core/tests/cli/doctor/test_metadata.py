"""Faults that the metadata of distributions shows."""

from __future__ import annotations

import sys

import pytest

from operad import registry


def test_two_plugins_with_one_operator_are_an_error_with_the_way_out(acme, run_json):
    acme.install("rival", operators={"double": "acme_ops:double"})
    registry.refresh()
    (finding,) = [f for f in run_json("doctor")["findings"] if f["about"] == "operator 'double'"]
    assert finding["text"] == "operator 'double' is provided by acme-ops 1.5 and rival 1.0"
    assert 'OPERAD_PREFER="acme-ops>rival"' in finding["suggestion"]


def test_a_preference_settles_a_duplicate(acme, run_json, environment):
    acme.install("rival", operators={"double": "acme_ops:double"})
    environment(PREFER="rival>acme-ops")
    assert not any(f["about"] == "operator 'double'" for f in run_json("doctor")["findings"])


def test_kernels_and_hooks_may_share_a_name(acme, run_json):
    for name in ("one", "two"):
        acme.install(name, kernels={"Dense.x": "acme_ops:Add"}, hooks={"h": "acme_ops:Add"})
    registry.refresh()
    assert not any("is provided by" in f["text"] for f in run_json("doctor")["findings"])


def test_a_plugin_for_another_core_is_an_error(acme, findings):
    acme.install("old", operators={"old": "acme_ops:double"}, requires=("operad<0.2",))
    registry.refresh()
    assert findings("old 1.0") == [("error", "cannot be used")]


def test_requirements_that_are_not_met_are_errors(acme, findings):
    requires = ("no-such-library>=1", "acme-ops>=2", 'absent; extra == "more"', "acme-ops>=1")
    acme.install("needy", operators={"needy": "acme_ops:double"}, requires=requires)
    registry.refresh()
    assert findings("needy") == [
        ("error", "needs no-such-library>=1, which is not installed"),
        ("error", "needs acme-ops>=2, and 1.5 is installed"),
    ]


def test_an_entry_point_without_a_module_is_an_error(acme, findings):
    acme.install("half", operators={"half": "half_gone.op:half", "whole": "acme_ops:double"})
    registry.refresh()
    assert findings("half 1.0") == [
        ("error", "operator 'half' names half_gone.op:half, and there is no such module")
    ]


def test_an_unknown_group_is_a_warning_with_a_suggestion(acme, run_json):
    acme.install("typo", operator={"x": "acme_ops:double"})
    registry.refresh()
    (finding,) = [f for f in run_json("doctor")["findings"] if f["about"] == "typo 1.0"]
    assert (finding["level"], finding["suggestion"]) == ("warning", "did its author mean operad.operators?")


def test_a_command_hidden_by_the_core_is_a_warning(acme, findings):
    acme.install("thief", commands={"ops": "acme_ops:double"})
    registry.refresh()
    assert findings("thief 1.0") == [("warning", "its command 'ops' is hidden by operad's own")]


def test_the_remains_of_an_installation_are_an_error(acme, findings):
    folder = acme.folder / "~half-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[operad.operators]\nx = acme_ops:double\n")
    ((level, text),) = findings("~half 1.0")
    assert level == "error"
    assert str(folder) in text
    assert "it has no name; an installation was probably interrupted" in text


def test_unreadable_metadata_of_others_is_advice_and_nowhere_else(acme, run, findings):
    acme.install("other")
    folder = acme.folder / "other-1.0.dist-info"
    (folder / "METADATA").write_bytes(b"Name: \xff\xfe")
    registry.refresh()
    ((level, text),) = findings(str(folder))
    assert level == "advice"
    assert "cannot be read" in text
    assert run("plugins", "--broken").exit_code == 0


def test_unreadable_entry_points_are_shown_here_and_in_the_list_of_broken_plugins(
    acme, run, findings, run_json
):
    folder = acme.folder / "bad_ops-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_bytes(b"[operad.operators]\n\xff = x:y\n")
    registry.refresh()
    ((level, text),) = findings("bad_ops 1.0")
    assert level == "error"
    assert str(folder) in text
    (listed,) = [p for p in run_json("plugins", "--broken")["plugins"] if p["name"] == "bad_ops"]
    assert listed["state"] == "broken"
    assert "UnicodeDecodeError" in listed["failures"][0]["traceback"]
    assert run("plugins", "--broken").exit_code == 1


@pytest.mark.parametrize("place", [[], None, 3])
def test_an_odd_place_on_the_path_does_not_stop_it(acme, run_json, monkeypatch, place):
    monkeypatch.setattr(sys, "path", [*sys.path, place])
    registry.refresh()
    assert [p["name"] for p in run_json("doctor")["plugins"]] == ["acme-ops"]


def test_a_distribution_found_twice_is_a_warning(acme, findings, tmp_path, monkeypatch):
    second = tmp_path / "second"
    second.mkdir()
    acme.install("acme-ops", "1.4", operators={"double": "acme_ops:double"}, folder=second)
    monkeypatch.setattr(sys, "path", [str(second), *sys.path])
    ((level, text),) = findings("acme-ops")
    assert level == "warning"
    assert text.startswith(f"is installed 2 times, of which the first counts: {second}")


def test_an_installation_without_plugins_is_advised_to_get_one(site, findings, run):
    assert findings("plugins") == [("advice", "no installed plugin provides an operator")]
    assert run("doctor").stdout.startswith("Versions\npython: ")
