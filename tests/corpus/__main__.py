"""`make check-corpus`: all tables whose libraries can be installed, and their pages.

Their environment is one of its own. As many tables as there are cores run beside one another, the longest
first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tools.workspace import ROOT, Environment

PINS: Final = ("torch==2.13.0", "jax>=0.10,<0.11", "kornia", "torchvision", "optax", "flax")
TABLES: Final = ("kornia", "torch", "optax", "flax", "jax", "own_jax", "torchvision", "own_torch")
"""Tables, in the order in which they begin: by the time that they take."""
_INSTALLED: Final = (
    "import sys; from tests.corpus.tables import is_installed; sys.exit(not is_installed(sys.argv[1]))"
)


def main() -> int:
    """Check what was not checked before; `CORPUS_PYTHON` names an environment that has the libraries."""
    python = os.environ.get("CORPUS_PYTHON")
    if python is None:
        environment = Environment(ROOT, "build/corpus", pins=PINS)
        environment.update()
        python = str(environment.python)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: _check(python, name), TABLES))
    return subprocess.run([python, "-m", "tests.corpus.page"], check=False, cwd=ROOT).returncode


def _check(python: str, name: str) -> None:
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "OPERAD_NUM_THREADS": "1"}
    if subprocess.run([python, "-c", _INSTALLED, name], check=False, cwd=ROOT).returncode == 0:
        command = [python, "-m", "tests.corpus.run", name, f"build/corpus-{name}.jsonl"]
        subprocess.run(command, check=True, cwd=ROOT, env=variables)
    else:
        print(f"{name} is not installed")  # noqa: T201 - what a run leaves out


if __name__ == "__main__":
    sys.exit(main())
