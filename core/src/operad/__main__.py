"""The script `operad`, and `python -m operad` for where the script is not on the path.

The script is installed with the core, and the libraries of the command line are an extra, so this
module says what to install where they are missing.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_LIBRARIES = ("click", "rich")


def main() -> None:
    """Run the command line, or exit with 2 and the line that installs it."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        text = (
            f"operad: the command line needs {' and '.join(missing)}, which operad does not install by itself"
        )
        print(f'{text}; pip install "operad[cli]"', file=sys.stderr)  # noqa: T201 - there is no click to print with
        raise SystemExit(2)
    from operad.cli import main as run  # noqa: PLC0415 - needs the libraries

    run(prog_name="operad")


# Processes that a command starts import this module again, under another name.
if __name__ == "__main__":
    main()
