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


def test_safe_mode_tries_no_plugin(acme, run, environment, monkeypatch):
    monkeypatch.setattr(trial, "failed_plugins", lambda: pytest.fail("a plugin was imported"))
    environment(SAFE="1")
    assert run("doctor").exit_code == 1
