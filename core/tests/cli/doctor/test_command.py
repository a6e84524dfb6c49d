from __future__ import annotations

import pytest

from operad.cli.doctor import trial


def test_it_loads_no_plugin(acme, run):
    run("doctor")
    assert not acme.is_imported("acme_ops")


def test_a_plugin_that_cannot_be_imported_is_an_error_and_broken(acme, run, run_json, findings, monkeypatch):
    monkeypatch.setattr(trial, "failed_plugins", lambda: [trial.Failed("acme-ops", "importing it failed")])
    assert findings("acme-ops") == [("error", "importing it failed")]
    assert {p["name"]: p["state"] for p in run_json("doctor")["plugins"]} == {"acme-ops": "broken"}
    assert "nothing is wrong" not in run("doctor").stdout


def test_a_plugin_that_changes_the_process_is_a_warning_and_works(acme, monkeypatch, run_json):
    changes = trial.Failed("acme-ops", "importing it changes the switch interval of the process", works=True)
    monkeypatch.setattr(trial, "failed_plugins", lambda: [changes])
    found = run_json("doctor")
    (finding,) = [one for one in found["findings"] if one["about"] == "acme-ops"]
    assert (finding["level"], finding["text"]) == ("warning", changes.reason)
    assert "broken" not in str([one for one in found["plugins"] if one["name"] == "acme-ops"])


def test_safe_mode_tries_no_plugin(acme, run, environment, monkeypatch):
    monkeypatch.setattr(trial, "failed_plugins", lambda: pytest.fail("a plugin was imported"))
    environment(SAFE="1")
    assert run("doctor").exit_code == 1
