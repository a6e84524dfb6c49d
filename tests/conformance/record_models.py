"""Record what MXNet 1.9.1 computes with whole models, and with operad's files of them; see docs/interop.md.

    python tests/conformance/record_models.py --mxnet PYTHON [--only MODEL ...]

runs under operad's Python; PYTHON is that of an environment that has MXNet 1.9.1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

import operad as od
from tests.conformance.models import files, record
from tests.conformance.models.catalogue import MODELS
from tests.conformance.models.model import Model
from tests.conformance.models.record import ModelRecord, Verdict
from tests.conformance.recorded.outcome import Refusal
from tests.conformance.recorded.worker import Worker

_SETTINGS: Final = {"MXNET_SUBGRAPH_BACKEND": "NONE"}
"""Each operator by itself, as training runs them, instead of fused ones."""


def main() -> None:
    """Record every model, or some, and keep the rest of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mxnet", required=True, metavar="PYTHON", help="the interpreter that has MXNet")
    parser.add_argument("--only", nargs="+", metavar="MODEL", choices=list(MODELS), default=list(MODELS))
    options = parser.parse_args()
    kept = record.load()
    worker = Worker(60.0, options.mxnet, "tests.conformance.models.mxnet_worker", _SETTINGS)
    try:
        for name in options.only:
            kept[name] = recorded(worker, MODELS[name])
            print(f"{name}: {kept[name].verdict.distance}", flush=True)
    finally:
        worker.close()
    record.save({name: kept[name] for name in MODELS if name in kept})


def recorded(worker: Worker, model: Model) -> ModelRecord:
    """MXNet's record of a model, and of operad's files of it."""
    with TemporaryDirectory() as folder:
        written = files.write(od, model, Path(folder))
        own, other = worker.ask("own", model.name), worker.ask("other", model.name, folder)
        for answer in (own, other):
            if isinstance(answer, Refusal):
                sys.exit(f"{model.name}: {answer.reason}")
        return ModelRecord(**own, verdict=Verdict(files.digest(*written), other))


if __name__ == "__main__":
    main()
