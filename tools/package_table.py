"""Write `core/src/operad/registry/packages.json`: which package provides which name.

It is read off the entry points that distributions declare, so that the core's hints name packages that
exist. `--check` changes nothing and fails where the file is not what would be written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.generated import keep_current, parser_of
from tools.workspace import distributions

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
    arguments = parser_of(main.__doc__, "the table").parse_args()
    root = arguments.root.resolve()
    stale = f"{TABLE} is stale; run `make format`"
    return keep_current(root / TABLE, table(root), stale, is_check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
