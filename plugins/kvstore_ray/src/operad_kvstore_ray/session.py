"""The engine `ray` of distributed stores: this process's connection to Ray, and the servers of its job.

Nothing leaves the machine that was not asked for: no usage statistics, no dashboard; a cluster that is started
here listens on the loopback device only.
"""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import operad as od
from operad.errors import PluginError

if TYPE_CHECKING:
    from operad_kvstore_ray.transport import RayTransport

_INSTALL: Final = 'pip install "operad-kvstore-ray[ray]"'
_FOUND_S: Final = 60.0
OBJECT_STORE_BYTES: Final = 100 << 20
"""The least memory in bytes for arrays under way; a cluster started here takes it from `start_cluster`."""


def connect(name: str) -> RayTransport:
    """The way to the servers of this job.

    Args:
        name: The store's type.
    Raises:
        PluginError: Ray is missing.
    """
    ray = imported_ray()
    # These two import Ray, too.
    from operad_kvstore_ray.actor import found_servers, start_servers  # noqa: PLC0415
    from operad_kvstore_ray.transport import RayTransport  # noqa: PLC0415

    settings = od.kvstore.StoreSettings.from_environment()
    if not ray.is_initialized():
        ray.init(
            address=os.environ["RAY_ADDRESS"] if "RAY_ADDRESS" in os.environ else None,
            namespace=settings.job, **_QUIETLY,
        )  # fmt: skip
    is_async = "async" in name
    if settings.rank == 0:
        # Rank 0 may end before the others, so the servers are not its own.
        servers = start_servers(settings, is_async, folder_of(settings), lifetime="detached")
    else:
        servers = found_servers(settings, is_async, _FOUND_S)
    return RayTransport(settings, servers)


def imported_ray() -> Any:
    """Ray.

    Raises:
        PluginError: It is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 - heavy, and optional
    except ImportError as error:
        raise PluginError(f"create: the engine 'ray' cannot be used: {error}; {_INSTALL}") from error
    return ray


def start_cluster(num_workers: int, object_store_bytes: int) -> str:
    """Start Ray on this machine alone, for as long as this process lives; its address.

    Args:
        num_workers: How many workers will use it.
        object_store_bytes: Memory for arrays under way.
    """
    ray = imported_ray()
    ray.init(
        address="local", num_cpus=num_workers, object_store_memory=max(object_store_bytes, OBJECT_STORE_BYTES),
        include_dashboard=False, _node_ip_address="127.0.0.1", **_QUIETLY,
    )  # fmt: skip
    return str(ray.get_runtime_context().gcs_address)


def folder_of(settings: Any) -> str:
    """Where servers keep pictures of themselves."""
    if settings.snapshots:
        return str(Path(settings.snapshots))
    return tempfile.mkdtemp(prefix=f"operad-kv-{settings.job}-")


_QUIETLY: Final[dict[str, Any]] = {"logging_level": logging.ERROR, "log_to_driver": False}
