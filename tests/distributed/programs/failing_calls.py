"""Every worker runs this: `training`, in which a call of the system fails, of those that operad's code makes.

Usage: failing_calls.py FOLDER RANK NUMBER ERROR. The call is the n-th of that rank, from 1 on, and fails with
this errno; with 0 none does. Prints how many calls this rank made. What Python does to import modules and to
list packages does not count, nor what Ray and MPI do.
"""

from __future__ import annotations

import os
import runpy
import sys
import sysconfig
from pathlib import Path
from types import FrameType

import operad as od
from operad import registry
from tests.reliability.calls.failing import Calls

STANDARD = sysconfig.get_path("stdlib")
OWN = Path(__file__).parents[3]
TESTS = str(OWN / "tests")


def is_of_operad() -> bool:
    """Return whether operad's code makes a call, itself or by the standard library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        is_installed = f"{os.sep}site-packages{os.sep}" in name
        if is_installed or name.startswith("<frozen importlib"):
            return False
        if not name.startswith((STANDARD, TESTS, "<")):
            return name.startswith(str(OWN))
        frame = frame.f_back
    return False


registry.plugins()  # which reads a file of every package
folder, rank, number, error = sys.argv[1], *map(int, sys.argv[2:5])
sys.argv[1:] = [folder]
own = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("OPERAD_KV_RANK") or -1)
calls = Calls(number if rank == own else 0, error, is_counted=is_of_operad)
try:
    with calls.watched():
        runpy.run_path(str(Path(__file__).with_name("training.py")), run_name="__main__")
except od.OperadError as named:
    print(f"named {type(named).__name__} of {calls.failed}", flush=True)
    raise
finally:
    print(f"rank {own} made {len(calls.made)} calls, of which {calls.failed or 'none'} failed", flush=True)
