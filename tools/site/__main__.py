"""Build the site: `python -m tools.site [FOLDER]`; a warning of MkDocs is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.workspace import ROOT

CONFIG = Path(__file__).with_name("mkdocs.yml")


def main() -> int:
    """Run MkDocs, and say where the site is."""
    target = Path(sys.argv[1] if sys.argv[1:] else ROOT / "build" / "site").absolute()
    command: list[str] = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",  # not with --quiet, which keeps warnings from being counted
        "-f",
        str(CONFIG),
        "-d",
        str(target),
    ]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": os.pathsep.join(paths)}
    code = subprocess.run(command, check=False, env={**os.environ, **quiet}).returncode
    if code == 0:
        print(f"open {target / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
