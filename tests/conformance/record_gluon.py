"""Record the public names of MXNet 1.9.1's Gluon with their signatures, and how its parts behave.

    python tests/conformance/record_gluon.py [--only SUBJECT ...]

runs under the Python of an environment that has MXNet 1.9.1, and writes `recorded/gluon_api.json` and
`recorded/gluon.json`; see docs/conformance.md. Each fact runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Final

os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"  # no threads, so that a process can be forked
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # no fused nodes, some of which compute other numbers

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.record_api import module
from tests.conformance.record_behaviour import in_a_child
from tests.conformance.recorded import gluon

MODULES: Final = (
    "gluon", "gluon.contrib", "gluon.contrib.cnn", "gluon.contrib.data", "gluon.contrib.estimator",
    "gluon.contrib.nn", "gluon.contrib.rnn", "gluon.data", "gluon.data.vision",
    "gluon.data.vision.transforms",
    "gluon.loss", "gluon.model_zoo", "gluon.model_zoo.model_store", "gluon.model_zoo.vision", "gluon.nn",
    "gluon.rnn", "gluon.trainer", "gluon.utils",
)  # fmt: skip
PATHS: Final = (
    "gluon.block", "gluon.contrib.data.sampler", "gluon.contrib.nn.basic_layers",
    "gluon.contrib.rnn.conv_rnn_cell", "gluon.contrib.rnn.rnn_cell", "gluon.data.dataloader",
    "gluon.data.dataset", "gluon.data.sampler", "gluon.data.vision.datasets",
    "gluon.model_zoo.vision.densenet", "gluon.model_zoo.vision.inception", "gluon.model_zoo.vision.mobilenet",
    "gluon.model_zoo.vision.resnet", "gluon.model_zoo.vision.squeezenet", "gluon.model_zoo.vision.vgg",
    "gluon.nn.activations", "gluon.nn.basic_layers", "gluon.nn.conv_layers", "gluon.parameter",
    "gluon.rnn.rnn_cell", "gluon.rnn.rnn_layer",
)  # fmt: skip
"""Modules whose names are those of the package around them."""


def main() -> None:
    """Record the names, and every fact or those of some subjects."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="leave the facts whose names begin otherwise as they are")
    only = tuple(parser.parse_args().only or ())
    names = {name: module(name) for name in MODULES} | {name: dict.fromkeys(module(name)) for name in PATHS}
    home = str(Path("~").expanduser())
    text = json.dumps(names, indent=1, sort_keys=True).replace(home, "~")
    gluon.NAMES.write_text(text + "\n", encoding="utf-8")
    before = gluon.record() if gluon.RECORD.exists() else {}
    found = {
        fact: (
            [before[fact]]
            if only and fact in before and not fact.startswith(only)
            else in_a_child(fact, text, gluon.outcome)
        )
        for fact, text in gluon.facts().items()
    }
    if crashed := [fact for fact, value in found.items() if value is None]:
        raise SystemExit(f"not recorded, for these end their process under MXNet: {', '.join(crashed)}")
    lines = (f"{json.dumps(fact)}: {json.dumps(value[0])}" for fact, value in found.items() if value)
    gluon.RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
