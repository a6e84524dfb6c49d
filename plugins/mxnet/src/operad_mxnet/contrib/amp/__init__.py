"""`mx.contrib.amp`: automatic mixed precision for symbols and modules; see `docs/mixed-precision.md`.

Source: python/mxnet/contrib/amp/.
"""

from operad_mxnet.contrib.amp import amp as amp
from operad_mxnet.contrib.amp import lists as lists
from operad_mxnet.contrib.amp import loss_scaler as loss_scaler
from operad_mxnet.contrib.amp.amp import *  # noqa: F403 - all of it, as in MXNet
from operad_mxnet.contrib.amp.loss_scaler import LossScaler as LossScaler
