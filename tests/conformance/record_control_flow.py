"""Record what MXNet 1.9.1 computes with loops and branches, and with operad's files of them.

    python tests/conformance/record_control_flow.py --mxnet PYTHON

runs under operad's Python; PYTHON is that of an environment that has MXNet 1.9.1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

import operad as od
from tests.conformance.control_flow import programs
from tests.conformance.control_flow.record import PATH, digest


def main() -> None:
    """Record every program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mxnet", required=True, metavar="PYTHON", help="the interpreter that has MXNet")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        digests = {}
        for name, program in programs.PROGRAMS.items():
            with od.name.NameManager():
                symbol, _ = program(od)
            text = symbol.tojson()
            (Path(folder) / f"{name}.json").write_text(text, encoding="utf-8")
            digests[name] = digest(text)
        command = [options.mxnet, programs.__file__, folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(printed)
    for name, facts in found.items():
        facts["digest"] = digests[name]
    PATH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
