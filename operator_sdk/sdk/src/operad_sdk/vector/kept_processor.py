"""The processor in LLVM's words, kept on disk: to ask LLVM takes 20 ms of imports, which no bind needs.

A file's name is the digest of what Linux says of an x86 processor and of LLVM's library. Elsewhere each
process asks LLVM.
"""

from __future__ import annotations

import hashlib
import platform
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from operad.config import settings
from operad.errors import ConfigError
from operad.files import cache
from operad.system import processor

_SAYS: Final = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")


def kept(path: Path) -> tuple[str, str, str] | None:
    """Triple, model and features that a file has; None, if there is none of use."""
    with suppress(ValueError):  # also where it is of another release
        triple, cpu, features = (cache.load(path) or b"").decode().split("\n")
        return triple, cpu, features
    return None


def keep(path: Path, found: tuple[str, str, str]) -> None:
    """Write them, if that can be done."""
    cache.save(path, "\n".join(found).encode())


def file_of_processor() -> Path | None:
    """The file of this processor and of this library; None where the system does not describe it.

    Nor is there one where settings cannot be used: who asks about the processor is not told of these.
    """
    spec = find_spec("llvmlite")
    try:
        library = Path((spec and spec.origin) or "").parent / "binding" / "libllvmlite.so"
        status = library.stat()
        folder = settings().cache_dir / "processor"
    except (OSError, ValueError, ConfigError):
        return None
    said = [line for line in processor() if line.partition(":")[0].strip() in _SAYS]
    if len(said) < len(_SAYS):
        return None
    about = (str(library), status.st_size, status.st_mtime_ns, platform.machine(), *said)
    return folder / f"{hashlib.sha256(repr(about).encode()).hexdigest()}.txt"
