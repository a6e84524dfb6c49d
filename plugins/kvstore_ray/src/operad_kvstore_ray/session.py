"""The engine `ray` of distributed stores: this process's connection to Ray, and the servers of its job.

Nothing leaves the machine that was not asked for: no usage statistics, no dashboard; a cluster that
is started here listens on the loopback device only, and asks for a password that no other program has.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import operad as od
from operad.errors import PluginError
from operad.files import translated

if TYPE_CHECKING:
    from operad_kvstore_ray.transport import RayTransport

_INSTALL: Final = 'pip install "operad-kvstore-ray[ray]"'
QUIETLY: Final[dict[str, Any]] = {"logging_level": logging.ERROR, "log_to_driver": False}
_TRIES: Final = 3
_ALONE: Final = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # what makes Ray use the loopback device, on any system
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",  # workers wait for servers; Ray would let every other process go first
    "RAY_agent_register_timeout_ms": "100000",  # a busy machine may need longer than Ray's own limit
}
_numbers: Final = count(1)


def connect(name: str) -> RayTransport:
    """Transport to the servers of this job.

    Args:
        name: The store's type.
    Raises:
        PluginError: Ray is missing.
        StoreError: The cluster refuses this process's password.
    """
    ray = imported_ray()
    # These two import Ray, too.
    from operad_kvstore_ray.actor import found_servers, start_servers  # noqa: PLC0415
    from operad_kvstore_ray.transport import RayTransport  # noqa: PLC0415

    settings = od.kvstore.StoreSettings.from_environment()
    if not ray.is_initialized():
        check_password(os.environ.get("RAY_ADDRESS", ""))
        ray.init(
            address=os.environ.get("RAY_ADDRESS"),
            namespace=settings.job, **QUIETLY,
        )  # fmt: skip
    # All workers make the same stores in the same order, so they mean the same one by its number.
    store = f"{name}-{next(_numbers)}"
    if settings.rank == 0:
        servers = start_servers(settings, store, "async" in name, folder_of(settings))
    else:
        servers = found_servers(settings, store, settings.timeout_s)
    return RayTransport(settings, servers)


def imported_ray() -> Any:
    """The module `ray`.

    Raises:
        PluginError: It is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 - heavy, and optional
    except ImportError as error:
        raise PluginError(f"create: the engine 'ray' cannot be used: {error}; {_INSTALL}") from error
    return ray


def check_password(address: str) -> None:
    """Check that a cluster accepts this process's password.

    `ray.init` would try for 20 s, and then say that the cluster could not be reached.

    Args:
        address: Of the cluster; one that is not HOST:PORT is left to Ray.
    Raises:
        StoreError: It does not.
    """
    if not re.fullmatch(r"[\w.\-]+:\d+", address):
        return
    try:
        from ray import _raylet  # noqa: PLC0415 - as of Ray; not public, so its names may change
        from ray.exceptions import AuthenticationError  # noqa: PLC0415 - newer than the oldest Ray
    except ImportError:
        return
    raylet: Any = _raylet
    try:
        raylet.GcsClient(address=address)
    except AuthenticationError:
        raise od.kvstore.StoreError(
            f"create: the Ray cluster at {address} refuses this process: its password is missing or wrong; "
            "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as for the process that started the cluster"
        ) from None
    except Exception:  # noqa: BLE001 - whatever else is wrong, `ray.init` tries again and says it
        return


def start_cluster(
    object_store_bytes: int, num_servers: int = 1, echo: Callable[[str], object] | None = None
) -> str:
    """Start Ray on this machine alone, for as long as this process lives; its address.

    Processes that are to use it need the variables of this one, with what Ray is told by them: an address of
    the loopback device, and a password. Ray is imported here and not before.

    Args:
        object_store_bytes: Memory for arrays under way.
        num_servers: So many processes are ready for servers, and one more in which a killed one comes back.
            To start a process takes 1.4 s of processor time for Ray's imports, and 0.4 s for operad's.
        echo: Is told in a line that Ray has to be started again.
    """
    for name, value in _ALONE.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    ray = imported_ray()
    for tries_left in reversed(range(_TRIES)):
        try:
            ray.init(
                address="local", num_cpus=num_servers + 1, object_store_memory=object_store_bytes,
                include_dashboard=False, _node_ip_address="127.0.0.1", **QUIETLY,
            )  # fmt: skip
        except Exception:
            # Ray gives its node 30 s to start, which a busy machine may exceed.
            ray.shutdown()
            if not tries_left:
                raise
            if echo is not None:
                again = f"{_TRIES - tries_left} of {_TRIES - 1}"
                echo(f"operad launch: Ray did not start in time; trying again, {again}")
        else:
            break
    return str(ray.get_runtime_context().gcs_address)


def folder_of(settings: Any) -> str:
    """Folder where servers keep pictures of themselves."""
    if settings.snapshots:
        return str(Path(settings.snapshots))
    return snapshot_folder(settings.job)


def snapshot_folder(job: str) -> str:
    """A temporary folder for the pictures of a job's servers, of this user alone."""
    with translated(f"a temporary folder for snapshots of {job!r}", "a folder"):
        return tempfile.mkdtemp(prefix=f"operad-kv-{job}-")
