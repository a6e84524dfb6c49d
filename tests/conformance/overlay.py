"""An environment over the one that runs the tests: it sees all of it, and what is installed stays here.

A page may tell its reader to install a package that it has just written. Here pip does that, without
an index and into a folder that is thrown away.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Final, final

_COMMANDS: Final = {"operad": "operad", "pytest": "pytest", "mypy": "mypy"}
"""Commands that must run in this environment, and their modules."""


def as_a_reader() -> dict[str, str]:
    """This process's environment without what the tests set in it."""
    unwanted = ("PYTHONPATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


@final
class Overlay:
    """A virtual environment made in `folder`."""

    def __init__(self, folder: Path) -> None:
        venv.EnvBuilder(symlinks=True).create(folder)
        self._bin = folder / "bin"
        self._python = self._bin / "python"
        (site,) = folder.glob("lib/python*/site-packages")
        # Not a line with the path alone: the packages below it are installed in place, by such files too.
        below = sysconfig.get_path("purelib")
        (site / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n")
        for name, module in _COMMANDS.items():
            self._command(name, f"{self._python} -m {module}")
        self._command("pip", f"{sys.executable} -m pip --python {self._python}")

    def run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run this environment's Python with `words`; what it prints comes back in `stdout`."""
        settings = {
            "PATH": f"{self._bin}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HYPOTHESIS_PROFILE": "dev",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # without isolation: the option reads backwards
            "PIP_NO_INDEX": "1",
        }
        return subprocess.run(
            [str(self._python), *words],
            check=False,
            cwd=cwd,
            env={**as_a_reader(), **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _command(self, name: str, command: str) -> None:
        file = self._bin / name
        file.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        file.chmod(0o755)
