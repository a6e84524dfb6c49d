"""Units of recording models, answered under MXNet; see `recorded/mxnet_worker.py`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mxnet as mx

from tests.conformance.models import files
from tests.conformance.models.catalogue import MODELS
from tests.conformance.models.compute import inferred
from tests.conformance.models.summary import Distance, distance, results
from tests.conformance.recorded.mxnet_worker import main


def own(name: str) -> dict[str, Any]:
    """MXNet's own record of a model that it builds, and of the files that it saves."""
    model = MODELS[name]
    with TemporaryDirectory() as folder:
        symbol, params = files.write(mx, model, Path(folder))
        arguments, states = inferred(model, mx.sym.load(str(symbol)))
        return {
            "arguments": arguments,
            "auxiliary": states,
            "symbol": symbol.read_text(encoding="utf-8"),
            "params": files.sha256(params),
            "results": results(files.computed_from(mx, model, Path(folder))),
        }


def other(name: str, folder: str) -> Distance:
    """Distance of the checkpoint in `folder`, written by operad, from MXNet's own."""
    found = results(files.computed_from(mx, MODELS[name], Path(folder)))
    return distance(found, own(name)["results"])


if __name__ == "__main__":
    main({"own": own, "other": other})
