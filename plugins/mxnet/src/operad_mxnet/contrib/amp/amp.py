"""MXNet's module of these functions: `from mxnet.contrib.amp.amp import convert_bucketing_module`."""

from operad_mxnet.contrib.amp.conversion import convert_bucketing_module as convert_bucketing_module
from operad_mxnet.contrib.amp.conversion import convert_model as convert_model
from operad_mxnet.contrib.amp.conversion import convert_symbol as convert_symbol
from operad_mxnet.contrib.amp.precision import list_conditional_fp32_ops as list_conditional_fp32_ops
from operad_mxnet.contrib.amp.precision import list_fp32_ops as list_fp32_ops
from operad_mxnet.contrib.amp.precision import list_loss_output_functions as list_loss_output_functions
from operad_mxnet.contrib.amp.precision import list_lp16_fp32_ops as list_lp16_fp32_ops
from operad_mxnet.contrib.amp.precision import list_lp16_ops as list_lp16_ops
from operad_mxnet.contrib.amp.precision import list_lp16_use_fp32_params as list_lp16_use_fp32_params
from operad_mxnet.contrib.amp.precision import list_widest_type_cast as list_widest_type_cast
from operad_mxnet.contrib.amp.scaling import init_trainer as init_trainer
