"""CuPy's wheels, each in a folder of its own, to be imported without a device; nothing else is installed.

`python -m tools.cupy_wheels` fetches those that are not there yet by pip, some 100 MB each, to `build/cupy`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Final

from tools.workspace import ROOT

FOLDER: Final = ROOT / "build/cupy"
WHEELS: Final = {"13.3": "cupy-cuda12x==13.3.*", "13.6": "cupy-cuda12x==13.6.*", "14": "cupy-cuda13x==14.*"}
"""Requirement by folder: the lowest that the extra `gpu` allows, that of the stand-in, and the newest."""

_IMPORTED_BY_THEM: Final = ("fastrlock", "cuda-pathfinder")
_PIP: Final = (sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--no-deps")


def missing() -> list[str]:
    """The folders of `WHEELS` that are not there."""
    return [name for name in WHEELS if not (FOLDER / name / "cupy").is_dir()]


def fetch(name: str) -> None:
    """Put the wheel of `WHEELS[name]`, and what it imports besides NumPy, into its folder.

    Raises:
        subprocess.CalledProcessError: pip could not; nothing is left.
    """
    target = FOLDER / name
    try:
        subprocess.run([*_PIP, "--target", str(target), WHEELS[name], *_IMPORTED_BY_THEM], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        raise


def main() -> int:
    """Fetch what is missing; 1 if pip could not."""
    for name in missing():
        print(f"operad: fetching {WHEELS[name]} (some 100 MB, once)", flush=True)
        try:
            fetch(name)
        except subprocess.CalledProcessError:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
