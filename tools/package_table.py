"""Write `core/src/operad/registry/packages.json`: which package provides which name.

It is read off the entry points that distributions declare, so that the core's hints name packages that
exist. `--check` changes nothing and fails where the file is not what would be written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools.workspace import ROOT, distributions

TABLE = Path("core/src/operad/registry/packages.json")
_GROUPS = (
    "operad.attributes",
    "operad.commands",
    "operad.iterators",
    "operad.kvstores",
    "operad.namespaces",
    "operad.operators",
)
"""Groups whose entry points are asked for by name."""


def table(root: Path) -> str:
    """The file's text: names by group and by folder, one line per folder."""
    found: dict[str, dict[str, str]] = {}
    for group in _GROUPS:
        rows = {
            d.folder.relative_to(root).as_posix(): " ".join(sorted(d.entry_points(group)))
            for d in distributions(root)
            if d.entry_points(group)
        }
        if rows:
            found[group] = rows
    return json.dumps(found, indent=1) + "\n"


def main() -> int:
    """Write the table, or with `--check` say whether it is current."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where the table is stale")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to read and write")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    file = root / TABLE
    wanted = table(root)
    is_current = file.exists() and file.read_text() == wanted
    if arguments.check:
        if not is_current:
            print(f"{TABLE} is stale; run `make format`", file=sys.stderr)
        return int(not is_current)
    if not is_current:
        file.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
