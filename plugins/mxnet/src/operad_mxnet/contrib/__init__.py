"""`mx.contrib`: operators called `_contrib_...`, and the autograd of before MXNet 1.0."""

import operad
from operad.ndarray import contrib as nd
from operad.ndarray import contrib as ndarray
from operad.symbol import contrib as sym
from operad.symbol import contrib as symbol
from operad_mxnet.contrib import amp, autograd, tensorboard

_others = [
    name for name in ("onnx",) if f"contrib.{name}" in operad.registry.entry_names("operad.namespaces")
]
__all__ = ["amp", "autograd", "nd", "ndarray", *_others, "sym", "symbol", "tensorboard"]  # noqa: PLE0604 - texts
