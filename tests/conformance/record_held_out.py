"""Record the losses that MXNet 1.9.1 reaches by the programs of `held_out/`; see docs/conformance.md.

    python -m tests.conformance.record_held_out PYTHON

PYTHON is the interpreter of an environment that has MXNet 1.9.1. oneDNN is off in it: a network of
convolutions predicts other numbers in every run with it, right after training; but `RNN` is wrong without.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.conformance.held_out.data import write
from tests.conformance.held_out.learning import RECORD
from tests.conformance.test_held_out import PROGRAMS

NEED_ONEDNN: Final = ("rows_of_pixels",)


def main() -> None:
    """Record every program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    python = parser.parse_args().python
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        write(path)
        found = {
            **losses(python, path, [name for name in PROGRAMS if name not in NEED_ONEDNN], onednn="0"),
            **losses(python, path, NEED_ONEDNN, onednn="1"),
        }
    lines = (f"{json.dumps(name)}: {found[name]:.6g}" for name in PROGRAMS)
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def losses(python: str, path: Path, names: list[str] | tuple[str, ...], onednn: str) -> dict[str, float]:
    """Losses of some programs under MXNet."""
    words = [python, "-W", "ignore", Path(__file__).with_name("held_out"), path, "--library", "mxnet"]
    settings = {
        "MXNET_ENGINE_TYPE": "NaiveEngine",
        "MXNET_MKLDNN_ENABLED": onednn,
        "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0",
        "MXNET_SUBGRAPH_BACKEND": "NONE",
    }
    environment = {**os.environ, **settings}
    done = subprocess.run(
        [*words, "--only", *names], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
