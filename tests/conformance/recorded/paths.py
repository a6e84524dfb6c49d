"""Imports of MXNet's modules by path, and by star, in a process of their own.

An import statement leaves a module where plugins' names come and go, so this process keeps out of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from operad_mxnet.port.names import record

RECORD: Final = Path(__file__).parent / "paths.json"
_PROGRAM: Final = """
import json, sys
from importlib import import_module

paths, starred = json.load(sys.stdin)
errors, stars = {}, {}
for path in paths:
    try:
        import_module(f"operad.{path}".rstrip("."))
    except ImportError as error:
        errors[path] = str(error)
for path in starred:
    if path not in errors:
        names = {}
        exec(f"from {f'operad.{path}'.rstrip('.')} import *", names)
        stars[path] = sorted(names)
json.dump([errors, stars], sys.stdout)
"""


@final
class Imports(NamedTuple):
    """Outcomes of the imports.

    Attributes:
        errors: Of the files that cannot be imported, by path.
        stars: Names that a star imports, by path.
    """

    errors: dict[str, str]
    stars: dict[str, list[str]]


def paths() -> list[str]:
    """The path of every file of MXNet's package, without `mxnet.`."""
    found: list[str] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


@cache
def imports() -> Imports:
    """Import every file by its path, and the public modules among them by star."""
    given = json.dumps([paths(), list(record())])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout)
    return Imports(*found)
