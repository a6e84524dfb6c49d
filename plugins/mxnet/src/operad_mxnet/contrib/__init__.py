"""`mx.contrib`: operators called `_contrib_...`, and the autograd of before MXNet 1.0."""

from operad.ndarray import contrib as nd
from operad.ndarray import contrib as ndarray
from operad.symbol import contrib as sym
from operad.symbol import contrib as symbol
from operad_mxnet.contrib import amp, autograd, tensorboard
from operad_mxnet.contrib.star import OTHERS

__all__ = ["amp", "autograd", "nd", "ndarray", "sym", "symbol", "tensorboard", *OTHERS]  # noqa: PLE0604 - names
