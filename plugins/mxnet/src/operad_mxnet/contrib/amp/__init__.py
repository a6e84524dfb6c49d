"""`mx.contrib.amp`: automatic mixed precision for symbols and modules; see `docs/mixed-precision.md`.

Source: python/mxnet/contrib/amp/.
"""

from operad_mxnet.contrib.amp import amp, lists, loss_scaler
from operad_mxnet.contrib.amp.conversion import convert_bucketing_module, convert_model, convert_symbol
from operad_mxnet.contrib.amp.loss_scaler import LossScaler
from operad_mxnet.contrib.amp.precision import (
    list_conditional_fp32_ops,
    list_fp32_ops,
    list_loss_output_functions,
    list_lp16_fp32_ops,
    list_lp16_ops,
    list_lp16_use_fp32_params,
    list_widest_type_cast,
)
from operad_mxnet.contrib.amp.scaling import init_trainer

__all__ = [
    "LossScaler",
    "amp",
    "convert_bucketing_module",
    "convert_model",
    "convert_symbol",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "lists",
    "loss_scaler",
]
