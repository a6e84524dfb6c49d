"""`mx.contrib.amp`: automatic mixed precision for symbols and modules; see `docs/mixed-precision.md`.

Source: python/mxnet/contrib/amp/.
"""

from operad_mxnet.contrib.amp import amp, lists, loss_scaler
from operad_mxnet.contrib.amp.amp import *  # noqa: F403 - all of it, as in MXNet
from operad_mxnet.contrib.amp.loss_scaler import LossScaler

__all__ = ["LossScaler", "amp", "lists", "loss_scaler"]
__all__ += amp.__all__
