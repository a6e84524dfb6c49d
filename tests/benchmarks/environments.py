"""Environments of the other libraries, made from the package index under `build/peers`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, final

FOLDER: Final = Path(__file__).resolve().parents[2] / "build" / "peers"
MXNET_PYTHONS: Final = ("3.10", "3.9", "3.8")
"""Those for which there is a NumPy that MXNet 1.9.1 can work with, the newest first."""


@final
@dataclass(frozen=True, slots=True)
class Environment:
    """Libraries of one environment, and their installation.

    Attributes:
        folder: Its name under `build/peers`.
        libraries: The libraries that are measured there.
        installs: Arguments of `pip install`, one call after another.
    """

    folder: str
    libraries: tuple[str, ...]
    installs: tuple[tuple[str, ...], ...]


ENVIRONMENTS: Final = (
    Environment("torch-jax", ("torch", "jax"), (("torch==2.13.0", "jax>=0.10,<0.11"),)),
    # MXNet asks for an older NumPy than it needs, so what it requires is given one by one.
    Environment(
        "mxnet", ("mxnet",), (("--no-deps", "mxnet==1.9.1", "numpy==1.23.*"), ("requests>=2.31,<3",))
    ),
)


class Missing(Exception):  # noqa: N818 - not an error: the page says it
    """A library cannot be run here, and why."""


def installed() -> dict[str, str]:
    """The interpreters of `make bench`: this one, for operad and where it has PyTorch for that."""
    return {name: sys.executable for name in ("operad", "torch") if find_spec(name)}


def peers() -> tuple[dict[str, str], dict[str, str]]:
    """The interpreters of all libraries, and the reasons why others have none."""
    pythons, missing = {"operad": sys.executable}, {}
    for environment in ENVIRONMENTS:
        for library in environment.libraries:
            try:
                pythons[library] = str(made(environment))
            except Missing as reason:
                missing[library] = str(reason)
    return pythons, missing


def made(environment: Environment, folder: Path = FOLDER) -> Path:
    """The interpreter of an environment, which is made where it is not there as declared.

    Raises:
        Missing: There is no interpreter that it could be made of, or pip fails.
    """
    home = folder / environment.folder
    python, stamp = home / "bin" / "python", home / "installed.txt"
    wanted = "\n".join(" ".join(words) for words in environment.installs)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"bench: making {home}", file=sys.stderr, flush=True)
    base = next(interpreters(), None) if "mxnet" in environment.libraries else sys.executable
    if base is None:
        raise Missing(f"no Python {', '.join(MXNET_PYTHONS)} was found, and MXNet has no newer one")
    shutil.rmtree(home, ignore_errors=True)
    _call([base, "-m", "venv", str(home)])
    for words in environment.installs:
        _call([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words])
    stamp.write_text(wanted)
    return python


def interpreters() -> Iterator[str]:
    """Those that MXNet can work with: of the path, then of pyenv."""
    for version in MXNET_PYTHONS:
        found = shutil.which(f"python{version}")
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
        for candidate in filter(None, (found, *sorted(map(str, root.glob(f"{version}.*/bin/python"))))):
            # A shim of pyenv may stand in the path for a version that is not chosen.
            tried = subprocess.run([candidate, "-c", "import ensurepip"], check=False, capture_output=True)
            if tried.returncode == 0:
                yield candidate


def _call(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
        raise Missing(f"`{' '.join(command[1:6])}` failed: {lines[-1]}")
