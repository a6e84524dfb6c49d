from __future__ import annotations

import sys

import pytest

from operad import config, registry
from operad.cli.doctor import facts, surroundings, trial
from operad.cli.doctor.facts import Cache, Library, ThreadPool

HEAD = "Metadata-Version: 2.1\n"


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


def test_it_loads_no_plugin(acme, run):
    run("doctor")
    assert not acme.is_imported("acme_ops")


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


def test_an_unknown_setting_is_an_error_with_a_suggestion(acme, run, run_json, environment):
    environment(ENGIN="naive")
    (finding,) = [f for f in run_json("doctor")["findings"] if f["about"] == "settings"]
    assert (finding["level"], finding["text"]) == ("error", "unknown setting OPERAD_ENGIN")
    assert finding["suggestion"].startswith("did you mean OPERAD_ENGINE?")
    assert run("doctor").exit_code == 1


def test_a_setting_that_cannot_be_used_is_an_error_and_at_its_default(acme, run_json, environment):
    environment(NUM_THREADS="many")
    found = run_json("doctor")
    assert found["thread_budget"] == config.available_cores()
    assert [f["level"] for f in found["findings"] if "OPERAD_NUM_THREADS='many'" in f["text"]] == ["error"]
    assert [p["state"] for p in found["plugins"]] == ["unknown"]


@pytest.mark.parametrize("variable", ["BLOCK", "PREFER"])
def test_a_setting_that_names_no_plugin_is_a_warning(acme, findings, environment, variable):
    environment(**{variable: {"BLOCK": "acme-ops,nobody", "PREFER": "acme-ops>nobody"}[variable]})
    wanted = f"OPERAD_{variable} names 'nobody', which is no installed plugin"
    assert ("warning", wanted) in findings("settings")
    assert len(findings("settings")) == 1


def test_safe_mode_is_a_warning(acme, findings, environment):
    environment(SAFE="1")
    assert ("warning", "OPERAD_SAFE=1 loads no plugin, so there is no operator") in findings("settings")


def test_more_threads_than_cores_are_a_warning(acme, findings, environment):
    environment(NUM_THREADS="4096")
    assert [level for level, _ in findings("threads")][:1] == ["warning"]


def test_the_naive_engine_is_no_problem(acme, findings, environment):
    environment(ENGINE="naive")
    assert [level for level, _ in findings("settings")] == ["advice"]


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


def test_a_plugin_that_cannot_be_imported_is_an_error_and_broken(acme, run, run_json, findings, monkeypatch):
    monkeypatch.setattr(trial, "failed_plugins", lambda: [trial.Failed("acme-ops", "importing it failed")])
    assert findings("acme-ops") == [("error", "importing it failed")]
    assert {p["name"]: p["state"] for p in run_json("doctor")["plugins"]} == {"acme-ops": "broken"}
    assert "nothing is wrong" not in run("doctor").stdout


def test_safe_mode_tries_no_plugin(acme, run, environment, monkeypatch):
    monkeypatch.setattr(trial, "failed_plugins", lambda: pytest.fail("a plugin was imported"))
    environment(SAFE="1")
    assert run("doctor").exit_code == 1


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
    assert "it has no name, as after an interrupted installation" in text


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


def test_safe_mode_says_nothing_of_plugins_that_it_does_not_know(acme, findings, environment):
    environment(SAFE="1", BLOCK="acme-ops")
    assert len(findings("settings")) == 1
    assert findings("plugins") == []


def test_a_distribution_found_twice_is_a_warning(acme, findings, tmp_path, monkeypatch):
    second = tmp_path / "second"
    second.mkdir()
    acme.install("acme-ops", "1.4", operators={"double": "acme_ops:double"}, folder=second)
    monkeypatch.setattr(sys, "path", [str(second), *sys.path])
    ((level, text),) = findings("acme-ops")
    assert level == "warning"
    assert text.startswith(f"is installed 2 times, of which the first counts: {second}")


def test_a_group_by_its_old_name_is_a_warning(site, findings):
    site.install("acme-old", faces={"nd.old": "old_acme:value"}, modules={"old_acme": "value = 9"})
    ((level, text),) = findings("acme-old")
    assert (level, text.partition(",")[0]) == ("warning", "declares entry points in operad.faces")


def test_an_installation_without_plugins_is_advised_to_get_one(site, findings, run):
    assert findings("plugins") == [("advice", "no installed plugin provides an operator")]
    assert run("doctor").stdout.startswith("Versions\npython: ")


def test_the_cache_is_counted(acme, run_json, environment, tmp_path):
    (tmp_path / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "cache" / "deep" / "kernel.bin").write_bytes(b"12345")
    environment(CACHE_DIR=str(tmp_path / "cache"))
    cache = run_json("doctor")["cache"]
    assert (cache["files"], cache["size_bytes"], cache["writable"], cache["exists"]) == (1, 5, True, True)


def test_a_cache_that_cannot_be_made_is_a_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    found = facts.cache(tmp_path / "file" / "cache")
    assert found == Cache(str(tmp_path / "file" / "cache"), False, False, 0, 0)
    assert [f.level for f in surroundings.cache_findings(found)] == ["warning"]


def test_pools_of_one_library_are_no_finding_and_of_two_are():
    pools = [ThreadPool("openblas", "1", 4, None, "a.so"), ThreadPool("openmp", None, 4, None, "b.so")]
    assert list(surroundings.pool_findings(pools[:1] * 2)) == []
    assert [f.level for f in surroundings.pool_findings(pools)] == ["advice"]


def test_cupy_without_a_device_is_a_warning():
    libraries = [Library("cupy", "13", ""), Library("hypothesis", "6", "")]
    assert "warning" in [f.level for f in surroundings.library_findings(libraries, 0)]
    assert "warning" not in [f.level for f in surroundings.library_findings(libraries, 1)]


def test_a_library_that_is_absent_has_no_version(site, run_json, monkeypatch):
    monkeypatch.setattr(facts, "_LIBRARIES", (("numpy", "numpy", "arrays"), ("gone", "no_such_library", "")))
    versions = {entry["name"]: entry["version"] for entry in run_json("doctor")["libraries"]}
    assert versions["numpy"] is not None
    assert versions["gone"] is None
    assert run_json("doctor")["versions"]["operad-sdk"] is None  # hidden, as everything installed is
