"""Record what MXNet 1.9.1 computes with old symbol files and with what `operad convert` makes of them.

For every file of `../legacy`: `operad convert FILE -o FOLDER/NAME`, with the file's own name. Then run
`MXNET_SUBGRAPH_BACKEND=NONE python record.py FOLDER` with a Python that has mxnet 1.9.1 and numpy 1.23; it
writes `convert.json`. Without the variable MXNet fuses some nodes, and computes other numbers.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LEGACY = HERE.parent / "legacy"
SHAPES = {
    "network-0.8": {"data": (2, 3, 8, 8)},
    "reductions-0.9.4": {"data": (2, 3, 4), "more": (2, 3, 4)},
    "first-operators-1.0": {"data": (2, 3, 8, 8)},
    "gone": {"data": (2, 3, 4, 4)},
}


def outputs(mx: Any, text: str, name: str) -> list[list[Any]]:
    """Shape and values of every output in prediction, for seeded values by sorted names."""
    symbol = mx.sym.load_json(text)
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **SHAPES[name])
    stream = np.random.RandomState(7)
    for _, array in sorted({**executor.arg_dict, **executor.aux_dict}.items()):
        array[:] = stream.uniform(0.05, 0.25, array.shape).astype("float32")
    made = [array.asnumpy() for array in executor.forward(is_train=False)]
    return [[list(one.shape), one.ravel().astype(float).tolist()] for one in made]


def digest(text: str) -> str:
    """Of what a symbol file says, however it is laid out."""
    return hashlib.sha256(json.dumps(json.loads(text), sort_keys=True).encode()).hexdigest()


def main(folder: Path) -> None:
    """Write `convert.json`."""
    import mxnet as mx

    record = {}
    for name in SHAPES:
        text = (folder / f"{name}.json").read_text()
        try:
            own = outputs(mx, (LEGACY / f"{name}.json").read_text(), name)
        except mx.MXNetError:
            own = None
        record[name] = {"digest": digest(text), "converted": outputs(mx, text, name), "legacy": own}
    (HERE / "convert.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
