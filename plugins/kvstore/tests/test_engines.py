from __future__ import annotations

import sys
from typing import Any

import pytest

import operad as od
from operad.errors import ArgumentError, ConfigError, PluginError
from operad_kvstore.settings import StoreSettings

SURROUNDINGS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "RAY_ADDRESS", "OPERAD_KV_ENGINE")


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SURROUNDINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


@pytest.mark.parametrize("kind", ["dist", "dist_sync", "dist_async", "dist_device_sync", "dist_sync_device"])
def test_a_distributed_type_without_workers_is_an_error_with_both_ways_to_start_them(kind: str) -> None:
    with pytest.raises(
        ArgumentError, match=r"`operad launch -n 2 train.py` .* `mpirun -n 2 python train.py`"
    ):
        od.kv.create(kind)


def test_an_engine_that_is_not_installed_is_an_error_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(od.registry, "entry_names", lambda group: ["local"])
    with pytest.raises(PluginError, match=r'engine \'ray\'; pip install "operad-kvstore-ray\[ray\]"'):
        od.kv.create("dist_sync", engine="ray")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(PluginError, match=r'pip install "operad-kvstore-mpi\[openmpi\]"'):
        od.kv.create("dist_sync")
    with pytest.raises(PluginError, match="engine 'carrier_pigeon'; there are mpi, ray"):
        od.kv.create("dist_sync", engine="carrier_pigeon")


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"RAY_ADDRESS": "127.0.0.1:1"}, "ray"),
        ({"RAY_ADDRESS": "127.0.0.1:1", "PMIX_RANK": "0"}, "mpi"),
        ({"PMIX_RANK": "0", "OPERAD_KV_ENGINE": "ray"}, "ray"),
    ],
)
def test_the_setting_comes_before_mpirun_and_mpirun_before_ray(
    variables: dict[str, str], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(od.registry, "entry_names", lambda group: [])
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PluginError, match=f"the engine '{chosen}'"):
        od.kv.create("dist_sync")


def test_a_local_type_has_no_engine() -> None:
    with pytest.raises(ArgumentError, match="'local' has no engine; got engine='ray'"):
        od.kv.create("local", engine="ray")


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"OPERAD_KV_RANKS": "1"}, "unknown setting OPERAD_KV_RANKS; known settings: OPERAD_KV_ENGINE, "),
        ({"OPERAD_KV_RANK": "one"}, "OPERAD_KV_RANK is 'one', expected a number"),
        ({"OPERAD_KV_RANK": "2"}, "OPERAD_KV_RANK is 2, expected one of the 1 workers"),
        ({"OPERAD_KV_TIMEOUT_S": "0"}, r"OPERAD_KV_TIMEOUT_S is 0.0, expected more than 0"),
        ({"OPERAD_KV_ON_LOSS": "cry"}, "OPERAD_KV_ON_LOSS is 'cry', expected 'raise', 'shrink' or 'wait'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_an_error(variables: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        StoreSettings.from_environment(variables)


def test_settings_have_the_types_of_their_defaults() -> None:
    environ: dict[str, Any] = {"OPERAD_KV_TIMEOUT_S": "2.5", "OPERAD_KV_NUM_WORKERS": "3", "HOME": "/"}
    assert StoreSettings.from_environment(environ) == StoreSettings(timeout_s=2.5, num_workers=3)
