"""Record what MXNet 1.9.1 returns for the programs of `recorded/programs.py`; see docs/conformance.md.

    python tests/conformance/record_programs.py [--only PROGRAM ...]

runs under the Python of an environment that has MXNet 1.9.1.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

import mxnet as mx

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.recorded.programs import PROGRAMS, run

TARGET: Final = Path(__file__).parent / "recorded" / "programs.json"


def main() -> None:
    """Record every program, or some, and keep the rest of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), help="leave the others as they are")
    chosen = parser.parse_args().only or list(PROGRAMS)
    before = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    found = {name: run(name, mx) if name in chosen else before[name] for name in PROGRAMS}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
