"""Faults of settings, threads, devices and folders."""

from __future__ import annotations

import importlib.util

import pytest

from operad.cli.doctor import facts, surroundings
from operad.cli.doctor.facts import Cache, Library, ThreadPool
from operad.system import available_cores


def test_an_unknown_setting_is_an_error_with_a_suggestion(acme, run, run_json, environment):
    environment(ENGIN="naive")
    (finding,) = [f for f in run_json("doctor")["findings"] if f["about"] == "settings"]
    assert (finding["level"], finding["text"]) == ("error", "unknown setting OPERAD_ENGIN")
    assert finding["suggestion"].startswith("did you mean OPERAD_ENGINE?")
    assert run("doctor").exit_code == 1


def test_a_setting_that_cannot_be_used_is_an_error_and_at_its_default(acme, run_json, environment):
    environment(NUM_THREADS="many")
    found = run_json("doctor")
    assert found["thread_budget"] == available_cores()
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


def test_safe_mode_says_nothing_of_plugins_that_it_does_not_know(acme, findings, environment):
    environment(SAFE="1", BLOCK="acme-ops")
    assert len(findings("settings")) == 1
    assert findings("plugins") == []


def test_a_cache_that_cannot_be_made_is_a_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    found = facts.cache(tmp_path / "file" / "cache")
    folder = str(tmp_path / "file" / "cache")
    assert found == Cache(folder, False, False, f"the cache folder {folder} cannot be written", 0, 0)
    assert [f.level for f in surroundings.cache_findings(found)] == ["warning"]


def test_pools_of_one_library_are_no_finding_and_of_two_are():
    pools = [ThreadPool("openblas", "1", 4, None, "a.so"), ThreadPool("openmp", None, 4, None, "b.so")]
    assert list(surroundings.pool_findings(pools[:1] * 2)) == []
    assert [f.level for f in surroundings.pool_findings(pools)] == ["advice"]


def test_cupy_without_a_device_is_a_warning():
    libraries = [Library("cupy", "13", ""), Library("hypothesis", "6", "")]
    assert "warning" in [f.level for f in surroundings.library_findings(libraries, 0)]
    assert "warning" not in [f.level for f in surroundings.library_findings(libraries, 1)]


@pytest.mark.parametrize("missing", ["llvmlite", "numba"])
def test_what_the_toolkit_lacks_is_said_with_the_extra_that_brings_it(missing):
    extras = {"llvmlite": "vector", "numba": "fast"}
    libraries = [Library(name, None if name == missing else "1", "") for name in extras]
    (found,) = surroundings.library_findings([*libraries, Library("cupy", None, "")], 0)
    assert (found.level, found.suggestion) == ("advice", f'pip install "operad-sdk[{extras[missing]}]"')


@pytest.mark.parametrize("missing", ["operad_sdk", "operad_check"])
def test_a_part_of_the_toolkit_that_is_missing_is_advice(monkeypatch, missing):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else name)
    libraries = [Library(name, "1", "") for name in ("llvmlite", "numba")]
    (found,) = surroundings.library_findings([*libraries, Library("cupy", None, "")], 0)
    distribution = missing.replace("_", "-")
    assert (found.about, found.level) == (distribution, "advice")
    assert found.suggestion == f"pip install {distribution}"
