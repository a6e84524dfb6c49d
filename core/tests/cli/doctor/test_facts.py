"""What an installation consists of."""

from __future__ import annotations

from pathlib import Path

from operad import config
from operad.cli.doctor import facts


def test_settings_say_where_they_come_from(acme, run_json, environment):
    environment(ENGINE="naive")
    found = {s["variable"]: s for s in run_json("doctor")["settings"]}
    assert set(found) == {option.variable for option in config.OPTIONS}
    assert (found["OPERAD_ENGINE"]["value"], found["OPERAD_ENGINE"]["origin"]) == ("naive", "environment")
    assert found["OPERAD_DEBUG"]["origin"] == "default"
    assert run_json("doctor")["engine"] == "naive"


SETTINGS = """
from operad.config import one_of, plugin_setting
MODE = plugin_setting("OPERAD_ACME_MODE", one_of("slow", "fast"), "slow", "How acme works.")
NONE = 3
"""


def test_settings_of_plugins_are_listed_and_checked_like_the_systems_own(site, run_json, environment):
    points = {"OPERAD_ACME_MODE": "acme_settings:MODE", "OPERAD_ACME_NONE": "acme_settings:NONE"}
    site.install("acme-ops", modules={"acme_settings": SETTINGS}, settings=points)
    assert "OPERAD_ACME_NONE" not in {s["variable"] for s in run_json("doctor")["settings"]}
    environment(ACME_MODE="quick")
    found = run_json("doctor")
    (mode,) = [s for s in found["settings"] if s["variable"] == "OPERAD_ACME_MODE"]
    assert (mode["value"], mode["origin"], mode["meaning"]) == ("slow", "default", "How acme works.")
    (finding,) = [f for f in found["findings"] if f["about"] == "settings"]
    assert finding["text"] == "OPERAD_ACME_MODE='quick': expected one of slow, fast; How acme works."
    environment(ACME_MODE="fast")
    (mode,) = [s for s in run_json("doctor")["settings"] if s["variable"] == "OPERAD_ACME_MODE"]
    assert (mode["value"], mode["origin"]) == ("fast", "environment")


def test_the_cache_is_counted(acme, run_json, environment, tmp_path):
    (tmp_path / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "cache" / "deep" / "kernel.bin").write_bytes(b"12345")
    environment(CACHE_DIR=str(tmp_path / "cache"))
    cache = run_json("doctor")["cache"]
    assert (cache["files"], cache["size_bytes"], cache["writable"], cache["exists"]) == (1, 5, True, True)
    assert cache["problem"] is None


def test_a_cache_that_others_may_write_to_is_a_finding(acme, run_json, environment, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    environment(CACHE_DIR=str(tmp_path / "cache"))
    (finding,) = [f for f in run_json("doctor")["findings"] if f["about"] == "cache"]
    assert finding["level"] == "warning"
    assert finding["text"].startswith(f"other users may write to {str(tmp_path / 'cache')!r}")


def test_a_library_that_is_absent_has_no_version(site, run_json, monkeypatch):
    monkeypatch.setattr(facts, "_LIBRARIES", (("numpy", "numpy", "arrays"), ("gone", "no_such_library", "")))
    versions = {entry["name"]: entry["version"] for entry in run_json("doctor")["libraries"]}
    assert versions["numpy"] is not None
    assert versions["gone"] is None
    assert run_json("doctor")["versions"]["operad-sdk"] is None  # hidden, as everything installed is


def test_constants_are_the_shipped_ones_until_a_file_of_them_is_there_and_can_be_read(tmp_path):
    shipped = facts.tuning(tmp_path)
    assert (shipped.sha256, shipped.problem) == (None, None)
    assert shipped.text().startswith("shipped constants")
    Path(shipped.file).parent.mkdir(parents=True, exist_ok=True)
    Path(shipped.file).write_text("{")
    spoilt = facts.tuning(tmp_path)
    assert spoilt.sha256 is None
    assert spoilt.file in spoilt.problem


def test_the_pools_that_numpy_brings_are_listed():
    assert all(pool.threads >= 1 and pool.file for pool in facts.thread_pools())
