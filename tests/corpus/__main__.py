"""`make check-corpus`: the tables of both libraries, in an environment of their own, and the page of them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from tools.workspace import ROOT, Environment

PINS: Final = ("torch==2.13.0", "jax>=0.10,<0.11")


def main() -> int:
    """Check what was not checked before; `CORPUS_PYTHON` names an environment that has both libraries."""
    python = os.environ.get("CORPUS_PYTHON")
    if python is None:
        environment = Environment(ROOT, "build/corpus", pins=PINS)
        environment.update()
        python = str(environment.python)
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "OPERAD_NUM_THREADS": "1"}
    for library in ("torch", "jax"):
        command = [python, "-m", "tests.corpus.run", library, f"build/corpus-{library}.jsonl"]
        subprocess.run(command, check=True, cwd=ROOT, env=variables)
    return subprocess.run([sys.executable, "-m", "tests.corpus.page"], check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
