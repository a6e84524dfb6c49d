"""MXNet's module of these functions: `from mxnet.contrib.amp.amp import convert_bucketing_module`."""

from operad_mxnet.contrib.amp.conversion import convert_bucketing_module, convert_model, convert_symbol
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
]
