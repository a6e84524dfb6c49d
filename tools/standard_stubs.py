"""Write the type stubs that `operad-standard` ships: what it installs of `operad.nd`, `operad.sym`, `operad`.

They are read off the installed operators, each with the first line of its documentation. `--check` changes
nothing and fails where a file is not what would be written.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from operad import registry
from operad.cli.calls import call_of
from operad.cli.stubs.package import Call, stub_package
from tools.generated import parser_of
from tools.workspace import ROOT, distributions

FOLDER: Final = Path("plugins/standard/stubs/operad-stubs")


def stubs(root: Path) -> dict[str, str]:
    """The files of the stub package, by name."""
    (standard,) = (d for d in distributions(root) if d.name == "operad-standard")
    required = [re.split(r"[>\[]", line)[0] for line in standard.declared["project"]["dependencies"]]
    calls = {}
    for name, record in registry.operators().items():
        op = registry.get(name) if record.distribution in required else None
        if op is not None and not op.num_subgraphs:  # else functions make its graphs
            doc = (op.__doc__ or "").strip().partition("\n")[0]
            calls[name] = Call(call_of(op), doc)
    texts = stub_package(dict(sorted(calls.items())), required)
    return {name: text.rstrip("\n") + "\n" for name, text in texts.items()}


def main() -> int:
    """Write the stubs, or with `--check` say whether they are current."""
    is_check = parser_of(main.__doc__, "a file", has_root=False).parse_args().check
    folder = ROOT / FOLDER
    wanted = stubs(ROOT)
    stale = [
        name
        for name, text in wanted.items()
        if not (folder / name).exists() or (folder / name).read_text() != text
    ]
    if not is_check:
        folder.mkdir(parents=True, exist_ok=True)
        for name in stale:
            (folder / name).write_text(wanted[name])
        return 0
    for name in stale:
        print(f"{FOLDER / name} is stale; run `make format`", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
