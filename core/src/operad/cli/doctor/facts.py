"""Facts of an installation, found without loading a plugin."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import operad
from operad import config, registry
from operad.device import num_gpus
from operad.errors import ConfigError, DuplicateOperatorError, OperadError
from operad.files import cache as cache_files
from operad.op import parse_rates, tuned_path

_OWN: Final = ("operad", "operad-sdk", "operad-check")
_LIBRARIES: Final = (
    ("numpy", "numpy", "arrays"),
    ("numba", "numba", "compiled loops of operators"),
    ("llvmlite", "llvmlite", "vector code: formulas, fusion, convolution"),
    ("cupy", "cupy", "GPU arrays"),
    ("msgspec", "msgspec", "operator parameters"),
    ("pluggy", "pluggy", "hooks of plugins"),
    ("threadpoolctl", "threadpoolctl", "the thread budget"),
    ("hypothesis", "hypothesis", "operad check"),
    ("copier", "copier", "operad new"),
)


@final
@dataclass(frozen=True, slots=True)
class Library:
    """A library that operad or its toolkit uses.

    Attributes:
        name: As it is imported.
        version: Of the installed distribution; null where it is not installed.
        purpose: What it is used for.
    """

    name: str
    version: str | None
    purpose: str


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in force.

    Attributes:
        name: As `operad.config.settings()` has it.
        variable: The environment variable that carries it.
        value: What is in force, as text.
        origin: environment or default.
        meaning: What it does.
    """

    name: str
    variable: str
    value: str
    origin: str
    meaning: str


@final
@dataclass(frozen=True, slots=True)
class ThreadPool:
    """A pool of threads inside a library that this process has loaded.

    Attributes:
        library: Its name, for example openblas.
        version: Of the library, or null.
        threads: How many it may use.
        layer: What it makes threads with, or null.
        file: The shared object.
    """

    library: str
    version: str | None
    threads: int
    layer: str | None
    file: str


@final
@dataclass(frozen=True, slots=True)
class Cache:
    """The folder for compiled kernels and tuning results.

    Attributes:
        folder: Its path.
        exists: Whether it is there; it is made on first use.
        writable: Whether this process may write into it, or make it.
        problem: Why it is not used, or null.
        files: How many files it holds.
        size_bytes: Of them together.
    """

    folder: str
    exists: bool
    writable: bool
    problem: str | None
    files: int
    size_bytes: int

    def text(self) -> str:
        """Place and size of the cache folder."""
        return f"{self.folder} ({self.files} files, {self.size_bytes / 1e6:.1f} MB)"


@final
@dataclass(frozen=True, slots=True)
class Tuning:
    """The constants of estimates.

    Attributes:
        file: Where `operad tune` writes them on this kind of processor.
        sha256: The hash of the file, or null where there is none and the defaults hold.
        kernels: How many kernels were measured.
        problem: Why the file cannot be used, or null.
    """

    file: str
    sha256: str | None
    kernels: int
    problem: str | None

    def text(self) -> str:
        """Constants that are in force."""
        if self.sha256 is None:
            return "shipped constants; `operad tune` measures those of this machine"
        return f"{self.file} (sha256 {self.sha256[:16]}, {self.kernels} kernels)"


def tuning(folder: Path) -> Tuning:
    """Constants of `operad tune` that binding reads."""
    path = tuned_path(folder)
    if not path.exists():
        return Tuning(str(path), None, 0, None)
    try:
        content = cache_files.read(path)
        digest = hashlib.sha256(content).hexdigest()
        return Tuning(str(path), digest, len(parse_rates(content).kernels), None)
    except (OSError, OperadError) as error:
        return Tuning(str(path), None, 0, str(error))


def versions() -> dict[str, str | None]:
    """Versions of Python, operad and its toolkit, and what they run on."""
    found: dict[str, str | None] = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
    }
    found.update((name, _version(name)) for name in _OWN)
    # From a source tree that is not installed there is no metadata to ask.
    found["operad"] = found["operad"] or operad.__version__
    return found


def libraries() -> list[Library]:
    """The libraries, installed or not."""
    return [Library(name, _version_of_module(module), purpose) for name, module, purpose in _LIBRARIES]


def plugin_settings() -> list[config.Option]:
    """The settings that installed plugins declare; those that cannot be used are `Broken` records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = [value for _, value, _ in registry.loaded(config.PLUGIN_SETTINGS)]
        except (ConfigError, DuplicateOperatorError):  # findings of their own
            return []
    return [option for option in found if isinstance(option, config.Option)]


def settings() -> list[Setting]:
    """The settings in force, those of plugins too; one that cannot be used is at its default."""
    return [
        Setting(
            reading.option.field,
            reading.option.variable,
            _as_text(reading.value),
            "default" if reading.text is None or reading.problem else "environment",
            reading.option.doc,
        )
        for reading in config.readings(plugin_settings())
    ]


def thread_pools() -> list[ThreadPool]:
    """Pools of the libraries that are loaded, NumPy's BLAS at least."""
    import threadpoolctl  # noqa: PLC0415 - only this command looks

    return [
        ThreadPool(
            str(pool.get("internal_api") or pool.get("user_api")),
            pool.get("version"),
            int(pool.get("num_threads") or 0),
            pool.get("threading_layer"),
            str(pool.get("filepath")),
        )
        for pool in threadpoolctl.threadpool_info()
    ]


def gpu_count() -> int:
    """CUDA devices this process can use; CuPy is imported only where it is installed."""
    return num_gpus() if importlib.util.find_spec("cupy") is not None else 0


def cache(folder: Path) -> Cache:
    """Contents of the cache folder."""
    exists = folder.is_dir()
    sizes_bytes = list(_sizes_of_files(folder))
    nearest = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    problem = None if writable else f"the cache folder {folder} cannot be written"
    try:
        if exists:
            cache_files.private_path(folder / "any")
    except OSError as error:
        problem = str(error)
    return Cache(str(folder), exists, writable, problem, len(sizes_bytes), sum(sizes_bytes))


def _sizes_of_files(folder: Path) -> Iterator[int]:
    """Bytes of each file below a folder; of ten thousands, so each is looked at once."""
    for at, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # other processes remove files meanwhile
                yield os.stat(os.path.join(at, name)).st_size


def _version(distribution: str) -> str | None:
    from importlib import metadata  # noqa: PLC0415 - 40 ms that `operad --help` need not pay

    try:
        return metadata.version(distribution)
    except Exception:  # noqa: BLE001 - not installed, or its metadata cannot be read
        return None


def _version_of_module(module: str) -> str | None:
    """The version of the distribution that `module` comes from, which may have another name."""
    if importlib.util.find_spec(module) is None:
        return None
    found = _version(module)
    if found is None:
        found = next((version for owner in _owners(module) if (version := _version(owner))), None)
    return found or "unknown"


def _owners(module: str) -> list[str]:
    """The distributions that `module` comes from."""
    from importlib import metadata  # noqa: PLC0415 - as above

    try:
        return metadata.packages_distributions().get(module, [])
    except Exception:  # noqa: BLE001 - it reads the metadata of every distribution there is
        return []


def _as_text(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)
