"""What the doctor finds, and variables that it has to cope with."""

from __future__ import annotations

import pytest

from operad import config, registry


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """A cache without files: the doctor counts them, and a machine on which tests ran has ten thousands."""
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path / "no-cache"))
    config.settings.cache_clear()
    yield
    monkeypatch.undo()
    config.settings.cache_clear()


@pytest.fixture
def findings(run_json):
    """What the doctor finds about a subject: pairs of level and text."""

    def found(about):
        return [(f["level"], f["text"]) for f in run_json("doctor")["findings"] if f["about"] == about]

    return found


@pytest.fixture
def environment(site, monkeypatch):
    """Sets variables without reading them: the doctor has to cope with what cannot be used."""

    def change(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(f"OPERAD_{name}", value)
        config.settings.cache_clear()
        registry.refresh()

    return change
