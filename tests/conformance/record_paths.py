"""Record the path of every file of MXNet 1.9.1's package, private ones included; see docs/conformance.md.

    python tests/conformance/record_paths.py

runs under the Python of an environment that has MXNet 1.9.1. Files are listed and not imported: some are
programs.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parent / "recorded/paths.json"


def main() -> None:
    """Write the list: what stands behind `mxnet.` in an import statement, "" for `mxnet` itself."""
    spec = find_spec("mxnet")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    files = (path.relative_to(root).with_suffix("").parts for path in root.rglob("*.py"))
    found = sorted(".".join(parts).removesuffix("__init__").removesuffix(".") for parts in files)
    TARGET.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
