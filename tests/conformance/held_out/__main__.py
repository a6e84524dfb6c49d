"""Print the losses of the programs of this folder, as JSON.

    python tests/conformance/held_out FILE.npz [--library mxnet] [--only PROGRAM ...]

`data.py` makes the file. MXNet's interpreter runs this folder by its path.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.conformance.held_out import classifiers, generative, learning, sequences, similarity

PARTS = (classifiers, generative, sequences, similarity)


def main() -> None:
    """Run them; see above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--library", default="operad", help="the one to run under")
    parser.add_argument("--only", nargs="+", choices=list(learning.PROGRAMS))
    given = parser.parse_args()
    mx = importlib.import_module(given.library)
    sys.stdout.write(f"{json.dumps(learning.run(mx, given.file, given.only))}\n")


if __name__ == "__main__":
    main()
