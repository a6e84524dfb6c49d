"""Functions and files that only some systems have, and what is done on the others.

No other module asks which system this is, or whether it has a function or a file that others lack; a test
holds that. On a system that lacks all of it operad computes the same: with a thread for each processor,
blocks from the C heap, and the constants of a usual cache. There are no forks then.
"""

from __future__ import annotations

import mmap
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

CPU_PRESSURE: Final = "/proc/pressure/cpu"
ENDING_SIGNALS: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Those by which a process is asked to end."""
TIMER: Final = getattr(signal, "setitimer", None)
"""Sets a timer of the process, as `signal.setitimer`; None where there is none."""
_CACHES: Final = "/sys/devices/system/cpu/cpu0/cache"
_USUAL_BYTES: Final = 16 << 20
"""Taken for the last-level cache where the system does not say."""


def at_fork(**handlers: Callable[[], object]) -> None:
    """Have functions called around forks, as by `os.register_at_fork`; nothing where there are no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**handlers)


def available_cores() -> int:
    """Number of cores that this process may run on; of the machine's where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def block_signals(numbers: Iterable[int]) -> None:
    """Leave signals to other threads than the calling one; nothing where threads have no masks."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def has_semaphores() -> bool:
    """Return whether the C library has Linux's semaphores: of at most 32 bytes, and of no name."""
    return sys.platform == "linux" and sys.maxsize > 2**32


def kernel_text(path: str) -> str:
    """A file in which the kernel tells of the machine; empty where it does not."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the owner and permissions of an old one, as far as the system has and allows that."""
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):  # never, where files have no owners
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def last_level_cache_bytes(folder: str = _CACHES) -> int:
    """The size of the largest cache that a folder of Linux's describes."""
    found = []
    for level in range(8):  # of which no processor has more
        text = kernel_text(f"{folder}/index{level}/size").strip()
        with suppress(ValueError, LookupError):  # a virtual machine may show any text
            found.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
    return max(found, default=0) or _USUAL_BYTES


def limit_processor_time(limit_s: int) -> None:
    """Have the system end this process after so much processor time; nothing where it has no limits."""
    try:
        import resource  # noqa: PLC0415 - Windows and WebAssembly have none
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 2))


def lock_file(descriptor: int) -> bool:
    """Return whether a file is this process's alone from now on, until the descriptor is closed.

    False where another process has locked it, and where files have no locks.
    """
    with suppress(ImportError, OSError):
        import fcntl  # noqa: PLC0415 - Windows has none

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def private_pages(size_bytes: int) -> Any:
    """Memory that no child shares, in huge pages where there are any; None where that cannot be had.

    Raises:
        OSError, OverflowError: There is not so much.
    """
    if not (hasattr(mmap, "MAP_PRIVATE") and hasattr(mmap, "MAP_ANONYMOUS")):
        return None
    # Private, not the default shared: a forked child must not see its parent's later writes.
    pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel built without huge pages refuses the advice
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def load_average() -> float | None:
    """Threads that ran or were ready to run, the mean of a minute; None where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none
        return None


def processor() -> list[str]:
    """The lines in which the system describes the first processor; none where it does not."""
    return kernel_text("/proc/cpuinfo").partition("\n\n")[0].splitlines()


def machine() -> str:
    """The kind of processor, as far as the system says: measured constants hold for one kind."""
    import platform  # noqa: PLC0415 - `import operad` does without

    model = next(
        (line.partition(":")[2].strip() for line in processor() if line.startswith("model name")), ""
    )
    return f"{platform.machine()} {model or platform.processor()}".strip()
