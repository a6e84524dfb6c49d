"""Settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from operad import config
from operad.config import OPTIONS, Settings, at_least, plugin_setting
from operad.errors import ConfigError


def test_an_empty_environment_gives_the_defaults():
    settings = Settings({})
    assert (settings.engine, settings.pool, settings.debug, settings.safe) == ("threaded", True, False, False)
    assert (settings.block, settings.prefer) == ((), ())
    assert 1 <= settings.num_threads <= os.cpu_count()
    assert settings.cache_dir.name == "operad"


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("OPERAD_ENGINE", "naive", "engine", "naive"),
        ("OPERAD_NUM_THREADS", "3", "num_threads", 3),
        ("OPERAD_INLINE_US", "0", "inline_us", 0),
        ("OPERAD_POOL", "off", "pool", False),
        ("OPERAD_DEBUG", " TRUE ", "debug", True),
        ("OPERAD_DEBUG", "", "debug", False),
        ("OPERAD_BLOCK", "a, b,,c ", "block", ("a", "b", "c")),
        ("OPERAD_PREFER", "a>b", "prefer", ("a>b",)),
        ("OPERAD_CACHE_DIR", "/x/y", "cache_dir", Path("/x/y")),
    ],
)
def test_variables_are_read(variable, text, field, value):
    assert getattr(Settings({variable: text, "OTHER": "1"}), field) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("OPERAD_ENGINE", "fast"),
        ("OPERAD_NUM_THREADS", "0"),
        ("OPERAD_NUM_THREADS", "many"),
        ("OPERAD_INLINE_US", "-1"),
        ("OPERAD_POOL", "maybe"),
    ],
)
def test_an_unusable_value_is_refused_with_its_meaning(variable, text):
    doc = next(option.doc for option in OPTIONS if option.variable == variable)
    with pytest.raises(ConfigError) as caught:
        Settings({variable: text})
    assert f"{variable}={text!r}" in str(caught.value)
    assert doc in str(caught.value)


def test_a_misspelt_variable_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match="unknown setting OPERAD_ENGIN; did you mean OPERAD_ENGINE"):
        Settings({"OPERAD_ENGIN": "naive"})
    with pytest.raises(ConfigError, match=r"unknown setting OPERAD_QQQQQ; known settings: OPERAD_ENGINE, "):
        Settings({"OPERAD_QQQQQ": "1"})


def test_variables_of_plugins_are_left_to_them():
    Settings({"OPERAD_KV_RANK": "1"})
    with pytest.raises(ConfigError, match="unknown setting OPERAD_KVRANK"):
        Settings({"OPERAD_KVRANK": "1"})


@pytest.fixture
def rate(tmp_path, monkeypatch):
    """A plugin that declares a setting, and cannot be imported."""
    info = tmp_path / "acme_ops-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[operad.settings]\nOPERAD_ACME_RATE = no_such_module:RATE\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_a_setting_that_a_plugin_declares_is_known_without_the_plugin(rate):
    Settings({"OPERAD_ACME_RATE": "much"})
    with pytest.raises(ConfigError, match="OPERAD_ACME_RAT; did you mean OPERAD_ACME_RATE"):
        Settings({"OPERAD_ACME_RAT": "1"})


def test_a_setting_of_a_plugin_that_is_not_installed_is_unknown():
    with pytest.raises(ConfigError, match="unknown setting OPERAD_ACME_RATE"):
        Settings({"OPERAD_ACME_RATE": "1"})


def test_in_safe_mode_what_plugins_declare_is_not_asked_for():
    Settings({"OPERAD_ACME_RATE": "1", "OPERAD_SAFE": "1"})


def test_a_setting_of_a_plugin_is_read_when_asked():
    declared = plugin_setting("OPERAD_ACME_RATE", at_least(2), lambda: 5, "How fast.")
    assert (declared.field, declared.read({}), declared.read({"OPERAD_ACME_RATE": "3"})) == (
        "acme_rate",
        5,
        3,
    )
    with pytest.raises(
        ConfigError, match="OPERAD_ACME_RATE='1': expected an integer of at least 2; How fast"
    ):
        declared.read({"OPERAD_ACME_RATE": "1"})


def test_the_environment_is_read_once_until_it_is_reloaded(monkeypatch):
    config.reload()
    monkeypatch.setenv("OPERAD_INLINE_US", "7")
    assert config.settings().inline_us != 7
    assert config.reload().inline_us == config.settings().inline_us == 7
    monkeypatch.undo()
    config.reload()


def test_every_option_is_documented_and_has_a_field():
    for option in OPTIONS:
        assert option.doc.endswith(".")
        assert option.variable == f"OPERAD_{option.field.upper()}"
        assert hasattr(Settings({}), option.field)


def test_readings_say_what_is_wrong_and_raise_nothing(monkeypatch):
    monkeypatch.setenv("OPERAD_ENGINE", "fast")
    monkeypatch.setenv("OPERAD_DEBUGG", "1")
    found = {reading.option.field: reading for reading in config.readings()}
    assert (found["engine"].text, found["engine"].value) == ("fast", "threaded")
    assert "OPERAD_ENGINE='fast'" in found["engine"].problem
    assert found["debug"].problem is None
    assert any("OPERAD_DEBUGG" in problem for problem in config.unknown_settings())
