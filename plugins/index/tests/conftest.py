"""A folder of wheels of plugins that nobody has installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

SOURCE = '''
raise RuntimeError("imported")

def gated():
    """Gates of a layer.

    More of it.
    """
'''
WHEEL = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Wheels:
    """A folder that wheels are written into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, version: str = "1.0", *lines: str, **files: str) -> Path:
        """A wheel with an operator `gated`; further lines of metadata, and files of the `.dist-info`."""
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        path = self.folder / f"{module}-{version}-py3-none-any.whl"
        about = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines]
        points = f"[operad.operators]\ngated = {module}.layers:gated\n[console_scripts]\nx = y:z\n"
        contents = {
            "METADATA": "\n".join(about) + "\n",
            "entry_points.txt": points,
            "RECORD": "",
            "WHEEL": WHEEL,
            **files,
        }
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{module}/layers.py", SOURCE)
            for file, text in contents.items():
                archive.writestr(f"{info}/{file}", text)
        return path


@pytest.fixture
def wheels(tmp_path: Path) -> Wheels:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return Wheels(folder)
