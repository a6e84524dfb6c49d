# Written by `operad stubs`.
"""Names of `od.sym` beside its operators, and how it finds those.

Every installed operator is a function of `od.sym`, found when it is first asked for.
"""
from __future__ import annotations
import sys
from typing import Any
from operad import registry
from operad.symbol.symbol import Group as Group
from operad.symbol.symbol import Symbol as Symbol
from operad.symbol.variable import var as var
Variable = var

from collections.abc import Sequence
from typing import Any, Literal, overload

from numpy.typing import DTypeLike

from operad.device import Context

def __getattr__(name: str) -> Any: ...
from operad_mxnet.prefixed import sym_internal as _added__internal
_internal = _added__internal
from operad_mxnet.sym_functions import arange as arange
from operad_mxnet.prefixed import sym_contrib as _added_contrib
contrib = _added_contrib
from operad_mxnet.sym_functions import eye as eye
from operad_mxnet.sym_functions import full as full
from operad_mxnet.sym_functions import histogram as histogram
from operad_mxnet.scalars import sym_hypot as _added_hypot
hypot = _added_hypot
from operad_mxnet.prefixed import sym_image as _added_image
image = _added_image
from operad_mxnet.prefixed import sym_linalg as _added_linalg
linalg = _added_linalg
from operad_mxnet.sym_functions import linspace as linspace
from operad_serialization.symbols import load as load
from operad_serialization.symbols import load_json as load_json
from operad_mxnet.scalars import sym_maximum as _added_maximum
maximum = _added_maximum
from operad_mxnet.scalars import sym_minimum as _added_minimum
minimum = _added_minimum
from operad_init.symbol_face import ones as ones
from operad_mxnet.prefixed import sym_op as _added_op
op = _added_op
from operad_mxnet.scalars import sym_pow as _added_pow
pow = _added_pow
from operad_mxnet.scalars import sym_pow as _added_power
power = _added_power
from operad_sampling import symbol_face as _added_random
random = _added_random
from operad_mxnet.sym_functions import split_v2 as split_v2
from operad_init.symbol_face import zeros as zeros
def Activation(data: Symbol = ..., *, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """One of five functions, applied to every element."""
    ...

def BatchNorm(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., moving_mean: Symbol = ..., moving_var: Symbol = ..., eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each channel less its mean, over its standard deviation, times gamma plus beta."""
    ...

def BatchNorm_v1(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., moving_mean: Symbol = ..., moving_var: Symbol = ..., eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The `BatchNorm` of MXNet before 1.0."""
    ...

def BlockGrad(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; no gradient goes back through it."""
    ...

def Cast(data: Symbol = ..., *, dtype: DTypeLike, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Every element as another type; numbers with a fraction lose it where integers are asked for."""
    ...

def Concat(*data: Symbol | Sequence[Symbol], dim: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The arrays one after another along an axis."""
    ...

def Convolution(data: Symbol = ..., weight: Symbol = ..., bias: Symbol = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Correlation of images with filters, in one to three dimensions."""
    ...

def Convolution_v1(data: Symbol = ..., weight: Symbol = ..., bias: Symbol = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCDHW', 'NCHW', 'NDHWC', 'NHWC'] | None = None, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`Convolution` under its name before MXNet 0.9, which old files have."""
    ...

def Crop(*data: Symbol | Sequence[Symbol], offset: int | Sequence[int] = (0, 0), h_w: int | Sequence[int] = (0, 0), center_crop: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A window of the images: of size `h_w`, or of the size of the second argument's images."""
    ...

def Custom(*data: Symbol | Sequence[Symbol], op_type: str, name: str | None = None, attr: dict[str, str] | None = None, **params: Any) -> Symbol:
    """An operator that the program registered with `operator.register(op_type)`."""
    ...

def Deconvolution(data: Symbol = ..., weight: Symbol = ..., bias: Symbol = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The transposed convolution: what `Convolution` does to gradients, in one to three dimensions."""
    ...

def Dropout(data: Symbol = ..., p: float = 0.5, mode: Literal['training', 'always'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each element is zeroed with probability `p`, and the others divided by `1 - p`, while training."""
    ...

def ElementWiseSum(*data: Symbol | Sequence[Symbol], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Sum of arrays of one shape, element by element."""
    ...

def Embedding(data: Symbol = ..., weight: Symbol = ..., *, input_dim: int, output_dim: int, dtype: DTypeLike = 'float32', sparse_grad: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Rows of a table, by their numbers; numbers out of range stand for the nearest row."""
    ...

def Flatten(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each item of the data as one row."""
    ...

def FullyConnected(data: Symbol = ..., weight: Symbol = ..., bias: Symbol = ..., *, num_hidden: int, no_bias: bool = False, flatten: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`output = data @ weight.T + bias`, for every row of `data`."""
    ...

def GroupNorm(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., num_groups: int = 1, eps: float = 1e-05, output_mean_var: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each group of channels less its mean, over its standard deviation, times gamma plus beta."""
    ...

def IdentityAttachKLSparseReg(data: Symbol = ..., moving_avg: Symbol = ..., sparseness_target: float = 0.1, penalty: float = 0.001, momentum: float = 0.9, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data itself; the gradient of a penalty on the mean of each column is added to its gradient."""
    ...

def InstanceNorm(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., eps: float = 0.001, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each channel of each sample less its mean, over its standard deviation, times gamma plus beta."""
    ...

def L2Normalization(data: Symbol = ..., eps: float = 1e-10, mode: Literal['instance', 'channel', 'spatial'] = 'instance', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data over the root of its sum of squares plus `eps`."""
    ...

def LRN(data: Symbol = ..., alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2.0, *, nsize: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data over a power of the sum of squares of neighbouring channels."""
    ...

def LayerNorm(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Data less its mean along an axis, over its standard deviation, times gamma plus beta."""
    ...

def LeakyReLU(data: Symbol = ..., gamma: Symbol = ..., act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A rectified linear unit with another slope or function below zero."""
    ...

def LinearRegressionOutput(data: Symbol = ..., label: Symbol = ..., grad_scale: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data itself; the gradient is its difference from the label, that of half the squared error."""
    ...

def LogisticRegressionOutput(data: Symbol = ..., label: Symbol = ..., grad_scale: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The logistic function of the data; the gradient is that of the cross-entropy to the label."""
    ...

def MAERegressionOutput(data: Symbol = ..., label: Symbol = ..., grad_scale: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data itself; the gradient is the sign of its difference from the label, that of the absolute error."""
    ...

def MakeLoss(data: Symbol = ..., grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: Literal['null', 'batch', 'valid'] = 'null', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data itself; its gradient is `grad_scale` everywhere."""
    ...

def Pad(data: Symbol = ..., *, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with a margin of a constant, of its edge, or of its reflection."""
    ...

def Pooling(data: Symbol = ..., kernel: int | Sequence[int] = (), pool_type: Literal['max', 'avg', 'sum', 'lp'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['valid', 'full', 'same'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The maximum, mean, sum or Lp norm of each window, in one to three dimensions."""
    ...

def Pooling_v1(data: Symbol = ..., kernel: int | Sequence[int] = (), pool_type: Literal['max', 'avg', 'sum', 'lp'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['valid', 'full', 'same'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`Pooling` under its name before MXNet 0.9, which old files have."""
    ...

def RMSNorm(data: Symbol = ..., weight: Symbol = ..., eps: float = 1e-06, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`data / sqrt(mean(data^2) + eps) * weight`, over the last axis."""
    ...

def RNN(data: Symbol = ..., parameters: Symbol = ..., state: Symbol = ..., state_cell: Symbol = ..., sequence_length: Symbol = ..., *, state_size: int, num_layers: int, bidirectional: bool = False, mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'], p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Recurrent layers, one upon another, in one direction or both."""
    ...

def Reshape(data: Symbol = ..., shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data in another shape."""
    ...

def SVMOutput(data: Symbol = ..., label: Symbol = ..., margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Scores of classes; the gradient is that of the hinge loss."""
    ...

def SequenceLast(data: Symbol = ..., sequence_length: Symbol = ..., use_sequence_length: bool = False, axis: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The last step of each sequence; 0 where a sequence has none."""
    ...

def SequenceMask(data: Symbol = ..., sequence_length: Symbol = ..., use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data, with `value` in the steps beyond the end of each sequence."""
    ...

def SequenceReverse(data: Symbol = ..., sequence_length: Symbol = ..., use_sequence_length: bool = False, axis: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each sequence backwards; the steps beyond its end stay where they are."""
    ...

def SliceChannel(data: Symbol = ..., *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Equal parts of the data along an axis."""
    ...

def Softmax(data: Symbol = ..., label: Symbol = ..., grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['null', 'batch', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Probabilities of classes; the gradient is their difference from the label."""
    ...

def SoftmaxActivation(data: Symbol = ..., mode: Literal['instance', 'channel'] = 'instance', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The softmax over the last axis, or over the channels."""
    ...

def SoftmaxOutput(data: Symbol = ..., label: Symbol = ..., grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['null', 'batch', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Probabilities of classes; the gradient is their difference from the label."""
    ...

def SwapAxis(data: Symbol = ..., dim1: int = 0, dim2: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with two axes exchanged."""
    ...

def UpSampling(*data: Symbol | Sequence[Symbol], scale: int, num_filter: int = 0, sample_type: Literal['nearest', 'bilinear'], multi_input_mode: Literal['concat', 'sum'] = 'concat', workspace: int = 512, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Images of `scale` times the height and width."""
    ...

def _Div(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _DivScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x / scalar`, of integers rounded towards zero; `dy/dx = 1 / scalar`."""
    ...

def _Equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs == rhs`, else 0."""
    ...

def _EqualScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data == scalar`, else 0."""
    ...

def _Greater(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs > rhs`, else 0."""
    ...

def _GreaterEqualScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data >= scalar`, else 0."""
    ...

def _GreaterScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data > scalar`, else 0."""
    ...

def _Greater_Equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs >= rhs`, else 0."""
    ...

def _Hypot(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def _HypotScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt(x^2 + scalar^2)`, without overflow; `dy/dx = x / y`, 0 at 0."""
    ...

def _Lesser(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs < rhs`, else 0."""
    ...

def _LesserEqualScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data <= scalar`, else 0."""
    ...

def _LesserScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data < scalar`, else 0."""
    ...

def _Lesser_Equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs <= rhs`, else 0."""
    ...

def _LogicalAndScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data and scalar`, else 0."""
    ...

def _LogicalOrScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data or scalar`, else 0."""
    ...

def _LogicalXorScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data xor scalar`, else 0."""
    ...

def _Logical_And(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs and rhs`, else 0."""
    ...

def _Logical_Or(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs or rhs`, else 0."""
    ...

def _Logical_Xor(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs xor rhs`, else 0."""
    ...

def _Maximum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def _MaximumScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(x, scalar)`; `dy/dx = 1` where `x >= scalar`, else 0."""
    ...

def _Minimum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def _MinimumScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = min(x, scalar)`; `dy/dx = 1` where `x <= scalar`, else 0."""
    ...

def _Minus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _MinusScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _Mod(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def _ModScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x - floor(x / scalar) * scalar`, 0 where `scalar` is; `dy/dx = 1`."""
    ...

def _Mul(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def _MulScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar * x`; `dy/dx = scalar`."""
    ...

def _NotEqualScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data != scalar`, else 0."""
    ...

def _Not_Equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs != rhs`, else 0."""
    ...

def _Plus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _PlusScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _Power(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def _PowerScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x^scalar`; `dy/dx = scalar * x^(scalar - 1)`, 0 where `scalar` is."""
    ...

def _RDivScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar / x`, of integers rounded towards zero; `dy/dx = -y / x`."""
    ...

def _RMinusScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar - x`; `dy/dx = -1`."""
    ...

def _RModScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar - floor(scalar / x) * x`, 0 where `x` is; `dy/dx = -floor(scalar / x)`."""
    ...

def _RPowerScalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar^x`; `dy/dx = y ln(scalar)`, 0 where `scalar` is."""
    ...

def _adamw_update(weight: Symbol = ..., grad: Symbol = ..., mean: Symbol = ..., var: Symbol = ..., rescale_grad: Symbol = ..., *, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _add(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _amp_scale_gradient(data: Symbol = ..., scale: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; its gradient is multiplied by a number that is a state, and may change between steps."""
    ...

def _arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: str = '', dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers from `start`, `step` apart, up to and without `stop`; each `repeat` times."""
    ...

def _backward_gather_nd(data: Symbol = ..., indices: Symbol = ..., *, shape: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Zeros, with elements or parts added at points, in their order: the gradient of `gather_nd`."""
    ...

def _contrib_AdaptiveAvgPooling2D(data: Symbol = ..., output_size: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The means of as many windows as the output has elements, which together cover the image."""
    ...

def _contrib_BatchNormWithReLU(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., moving_mean: Symbol = ..., moving_var: Symbol = ..., eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`BatchNorm`, and 0 where its output is below 0; where it is, no gradient goes back."""
    ...

def _contrib_SyncBatchNorm(data: Symbol = ..., gamma: Symbol = ..., beta: Symbol = ..., moving_mean: Symbol = ..., moving_var: Symbol = ..., eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, ndev: int = 1, *, key: str, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A `BatchNorm` over the whole batch, which is that of one device."""
    ...

def _contrib_arange_like(data: Symbol = ..., start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: str = '', axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers from `start`, `step` apart, each `repeat` times, as many as `data` has."""
    ...

def _contrib_boolean_mask(data: Symbol = ..., index: Symbol = ..., axis: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The rows of an array for which a mask is not 0."""
    ...

def _contrib_gradientmultiplier(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; its gradient is multiplied by the number, `dy/dx = scalar`."""
    ...

def _contrib_group_adagrad_update(weight: Symbol = ..., grad: Symbol = ..., history: Symbol = ..., *, lr: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, epsilon: float = 1e-05, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight - lr grad / sqrt(history + epsilon)`, with one rate for each row."""
    ...

def _contrib_index_array(data: Symbol = ..., axes: int | Sequence[int | None] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The indices of every element along all axes, or along some."""
    ...

def _contrib_index_copy(old_tensor: Symbol = ..., index_vector: Symbol = ..., new_tensor: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of an array in which some rows, by their numbers, are replaced."""
    ...

def _contrib_round_ste(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The integer next to `x`, halves away from 0; the gradient goes straight through: `dy/dx = 1`."""
    ...

def _contrib_sign_ste(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """-1, 0 or 1, the sign of `x`; 0 for NaN. The gradient goes straight through: `dy/dx = 1`."""
    ...

def _copy(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; `dy/dx = 1`."""
    ...

def _copyto(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of `data`; `dy/dx = 1`."""
    ...

def _crop_assign(lhs: Symbol = ..., rhs: Symbol = ..., *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of lhs with a part replaced by rhs: `lhs[begin:end:step] = rhs`."""
    ...

def _crop_assign_scalar(data: Symbol = ..., scalar: float = 0.0, *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of the data with a part set to a number: `data[begin:end:step] = scalar`."""
    ...

def _div(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _div_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x / scalar`, of integers rounded towards zero; `dy/dx = 1 / scalar`."""
    ...

def _equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs == rhs`, else 0."""
    ...

def _equal_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data == scalar`, else 0."""
    ...

def _eye(N: int, M: int = 0, k: int = 0, ctx: str = '', dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A matrix of zeros with ones on diagonal `k`."""
    ...

def _full(shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike = 'float32', *, value: float, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`value` everywhere."""
    ...

def _grad_add(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`, by which MXNet adds gradients up; `d/dlhs = d/drhs = 1`."""
    ...

def _greater(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs > rhs`, else 0."""
    ...

def _greater_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs >= rhs`, else 0."""
    ...

def _greater_equal_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data >= scalar`, else 0."""
    ...

def _greater_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data > scalar`, else 0."""
    ...

def _histogram(data: Symbol = ..., bins: Symbol = ..., bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Number of elements in each bin: from its lower edge up to, but without, its upper one."""
    ...

def _hypot(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def _hypot_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt(x^2 + scalar^2)`, without overflow; `dy/dx = x / y`, 0 at 0."""
    ...

def _identity_with_attr_like_rhs(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The left array; the right one tells shape inference its shape. `dy/da = 1`."""
    ...

def _init_normal(shape: int | Sequence[int], dtype: Literal['float16', 'float32', 'float64'] = 'float32', scale: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of a normal distribution around 0."""
    ...

def _init_uniform(shape: int | Sequence[int], dtype: Literal['float16', 'float32', 'float64'] = 'float32', low: float = 0.0, high: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly between `low` and `high`."""
    ...

def _lamb_norm(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Euclidean norm of all elements, which phase 2 takes of the weight and of the direction."""
    ...

def _lesser(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs < rhs`, else 0."""
    ...

def _lesser_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs <= rhs`, else 0."""
    ...

def _lesser_equal_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data <= scalar`, else 0."""
    ...

def _lesser_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data < scalar`, else 0."""
    ...

def _linalg_det(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet."""
    ...

def _linalg_extractdiag(A: Symbol = ..., offset: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A diagonal of each matrix."""
    ...

def _linalg_extracttrian(A: Symbol = ..., offset: int = 0, lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A triangle of each matrix, packed: the lower one row by row, the upper one column by column."""
    ...

def _linalg_gelqf(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal."""
    ...

def _linalg_gemm(A: Symbol = ..., B: Symbol = ..., C: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B + beta * C`."""
    ...

def _linalg_gemm2(A: Symbol = ..., B: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B`."""
    ...

def _linalg_inverse(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The inverse of each matrix."""
    ...

def _linalg_makediag(A: Symbol = ..., offset: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices with the given diagonals, and else 0."""
    ...

def _linalg_maketrian(A: Symbol = ..., offset: int = 0, lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices with the given packed triangles, and else 0."""
    ...

def _linalg_potrf(A: Symbol = ..., lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The Cholesky factor L of a symmetric positive definite matrix: `A = L @ L.T`."""
    ...

def _linalg_potri(A: Symbol = ..., lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The inverse of a matrix whose Cholesky factor `A` is given: of `A @ A.T`."""
    ...

def _linalg_slogdet(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sign of each matrix's determinant, and the logarithm of its absolute value."""
    ...

def _linalg_sumlogdiag(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of the logarithms of the diagonal's elements."""
    ...

def _linalg_syevd(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`A = U.T @ diag(L) @ U`: the eigenvectors of a symmetric matrix, in rows, and its eigenvalues."""
    ...

def _linalg_syrk(A: Symbol = ..., transpose: bool = False, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ A.T`; with `transpose`, `alpha * A.T @ A`."""
    ...

def _linalg_trmm(A: Symbol = ..., B: Symbol = ..., transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B` for a triangular `A`; with `rightside`, `alpha * B @ A`."""
    ...

def _linalg_trsm(A: Symbol = ..., B: Symbol = ..., transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The solution of `A @ output = alpha * B` for a triangular `A`."""
    ...

def _linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: str = '', dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`num` numbers at equal distances from `start` to `stop`."""
    ...

def _logical_and(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs and rhs`, else 0."""
    ...

def _logical_and_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data and scalar`, else 0."""
    ...

def _logical_or(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs or rhs`, else 0."""
    ...

def _logical_or_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data or scalar`, else 0."""
    ...

def _logical_xor(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs xor rhs`, else 0."""
    ...

def _logical_xor_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data xor scalar`, else 0."""
    ...

def _maximum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def _maximum_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(x, scalar)`; `dy/dx = 1` where `x >= scalar`, else 0."""
    ...

def _minimum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def _minimum_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = min(x, scalar)`; `dy/dx = 1` where `x <= scalar`, else 0."""
    ...

def _minus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _minus_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _mod(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def _mod_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x - floor(x / scalar) * scalar`, 0 where `scalar` is; `dy/dx = 1`."""
    ...

def _mp_adamw_update(weight: Symbol = ..., grad: Symbol = ..., mean: Symbol = ..., var: Symbol = ..., weight32: Symbol = ..., rescale_grad: Symbol = ..., *, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _mul(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def _mul_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar * x`; `dy/dx = scalar`."""
    ...

def _multi_adamw_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mean_0: Symbol = ..., var_0: Symbol = ..., rescale_grad: Symbol = ..., *, lrs: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float], etas: float | Sequence[float], clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _multi_lamb_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mean_0: Symbol = ..., var_0: Symbol = ..., *, learning_rates: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float], rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int], num_tensors: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: Both phases of LAMB, `lamb_update_phase1` and `lamb_update_phase2`, with the norms between them."""
    ...

def _multi_mp_adamw_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mean_0: Symbol = ..., var_0: Symbol = ..., weight32_0: Symbol = ..., rescale_grad: Symbol = ..., *, lrs: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float], etas: float | Sequence[float], clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _multi_mp_lamb_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mean_0: Symbol = ..., var_0: Symbol = ..., weight32_0: Symbol = ..., *, learning_rates: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float], rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int], num_tensors: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: Both phases of LAMB, `lamb_update_phase1` and `lamb_update_phase2`, with the norms between them."""
    ...

def _not_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs != rhs`, else 0."""
    ...

def _not_equal_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `data != scalar`, else 0."""
    ...

def _np_all(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where no element is 0 along axes; of nothing, too."""
    ...

def _np_any(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where an element is not 0 along axes; of nothing, False."""
    ...

def _np_cumsum(a: Symbol = ..., axis: int | None = None, dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each element, the sum of those before it along an axis, and itself."""
    ...

def _np_roll(data: Symbol = ..., *, shift: int | Sequence[int | None], axis: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Elements moved along axes, from the end to the front; `dy/dx` moves them back."""
    ...

def _np_trace(data: Symbol = ..., offset: int = 0, axis1: int = 0, axis2: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of a diagonal of matrices; `dy/dx` is 1 on it, else 0."""
    ...

def _npi_arctan2(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Angle of the point `(rhs, lhs)`; `d/dlhs = rhs / r^2`, `d/drhs = -lhs / r^2`, 0 at the origin."""
    ...

def _npi_arctan2_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Angle of the point `(scalar, x)`; `dy/dx = scalar / (x^2 + scalar^2)`, 0 at the origin."""
    ...

def _npi_bincount(data: Symbol = ..., weights: Symbol = ..., minlength: int = 0, has_weights: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of all numbers from 0 on, or sums of their weights, which are added in double precision."""
    ...

def _npi_bitwise_and(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are both set in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_and_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are both set in `x` and `scalar`; of bool, logic."""
    ...

def _npi_bitwise_not(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The complement of every bit; `logical_not` is that of bool."""
    ...

def _npi_bitwise_or(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are not both clear in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_or_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are not both clear in `x` and `scalar`; of bool, logic."""
    ...

def _npi_bitwise_xor(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that differ in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_xor_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that differ in `x` and `scalar`; of bool, logic."""
    ...

def _npi_copysign(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The magnitude of `lhs` with the sign of `rhs`; `d/dlhs` is 1 where the signs are equal and -1 elsewhere, 0 at 0."""
    ...

def _npi_copysign_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The magnitude of `x` with the sign of `scalar`; `dy/dx` is 1 where signs are equal, else -1, 0 at 0."""
    ...

def _npi_einsum(*data: Symbol | Sequence[Symbol], subscripts: str = '', optimize: int = 0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Products of arrays, summed over the letters that the result lacks, as `numpy.einsum`."""
    ...

def _npi_isfinite(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is neither infinite nor NaN."""
    ...

def _npi_isinf(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is infinite."""
    ...

def _npi_isnan(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is NaN."""
    ...

def _npi_matmul(a: Symbol = ..., b: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The matrix product over the last axis of `a` and the last but one of `b`; the axes before broadcast."""
    ...

def _npi_nan_to_num(data: Symbol = ..., copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers in place of NaN and infinities; `dy/dx = 1` where `x` is finite, else 0."""
    ...

def _npi_nonzero(x: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def _npi_percentile(a: Symbol = ..., q: Symbol = ..., axis: int | Sequence[int] | None = None, interpolation: Literal['linear', 'lower', 'higher', 'nearest', 'midpoint'] = 'linear', keepdims: bool = False, q_scalar: float | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The elements in order along axes below which `q` percent lie, or a mean of two; no gradient."""
    ...

def _npi_std(a: Symbol = ..., axis: int | Sequence[int] | None = None, dtype: Literal[None, 'float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None, ddof: int = 0, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is. Of integers the whole part."""
    ...

def _npi_tensordot(a: Symbol = ..., b: Symbol = ..., *, a_axes_summed: int | Sequence[int | None], b_axes_summed: int | Sequence[int | None], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""
    ...

def _npi_tensordot_int_axes(a: Symbol = ..., b: Symbol = ..., *, axes: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`tensordot` over the last axes of `a` and as many first ones of `b`."""
    ...

def _npi_tril(data: Symbol = ..., k: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices, with 0 above diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def _npi_unique(data: Symbol = ..., return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`unique` by the name that MXNet 1.x has, in files too."""
    ...

def _npi_var(a: Symbol = ..., axis: int | Sequence[int] | None = None, dtype: Literal[None, 'float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None, ddof: int = 0, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. Of integers the whole part."""
    ...

def _npx_nonzero(x: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def _npx_rnn(data: Symbol = ..., parameters: Symbol = ..., state: Symbol = ..., state_cell: Symbol = ..., sequence_length: Symbol = ..., *, state_size: int, num_layers: int, bidirectional: bool = False, mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'], p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Recurrent layers, one upon another, in one direction or both."""
    ...

def _onehot_encode(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each number in `lhs`, a row with 1 at that position and 0 elsewhere, as long as those of `rhs`."""
    ...

def _ones(shape: int | Sequence[int] = (), ctx: str = '', dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Ones."""
    ...

def _plus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _plus_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _power(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def _power_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x^scalar`; `dy/dx = scalar * x^(scalar - 1)`, 0 where `scalar` is."""
    ...

def _random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def _random_exponential_like(data: Symbol = ..., lam: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def _random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def _random_gamma_like(data: Symbol = ..., alpha: float = 1.0, beta: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def _random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def _random_generalized_negative_binomial_like(data: Symbol = ..., mu: float = 1.0, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def _random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def _random_negative_binomial_like(data: Symbol = ..., k: int = 1, p: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def _random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def _random_normal_like(data: Symbol = ..., loc: float = 0.0, scale: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def _random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def _random_poisson_like(data: Symbol = ..., lam: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def _random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Integers from `low` up to and without `high`, each as likely as the others."""
    ...

def _random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def _random_uniform_like(data: Symbol = ..., low: float = 0.0, high: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def _ravel_multi_index(data: Symbol = ..., shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The number of each point: its last coordinate, plus the one before times the last length, and so on."""
    ...

def _rdiv_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar / x`, of integers rounded towards zero; `dy/dx = -y / x`."""
    ...

def _rminus_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar - x`; `dy/dx = -1`."""
    ...

def _rmod_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar - floor(scalar / x) * x`, 0 where `x` is; `dy/dx = -floor(scalar / x)`."""
    ...

def _rnn_param_concat(*data: Symbol | Sequence[Symbol], dim: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`Concat` under the name by which MXNet joins the parameters of its RNN."""
    ...

def _rpower_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = scalar^x`; `dy/dx = y ln(scalar)`, 0 where `scalar` is."""
    ...

def _sample_exponential(lam: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the exponential distribution with rate `lam`, for each element of the arguments."""
    ...

def _sample_gamma(alpha: Symbol = ..., beta: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`, for each element of the arguments."""
    ...

def _sample_generalized_negative_binomial(mu: Symbol = ..., alpha: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`, for each element of the arguments."""
    ...

def _sample_multinomial(data: Symbol = ..., shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DTypeLike = 'int32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Classes, each drawn with the probability that the last axis of `data` has for it; with replacement."""
    ...

def _sample_negative_binomial(k: Symbol = ..., p: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many trials fail before `k` succeed, each with probability `p`, for each element of the arguments."""
    ...

def _sample_normal(mu: Symbol = ..., sigma: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`, for each element of the arguments."""
    ...

def _sample_poisson(lam: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`, for each element of the arguments."""
    ...

def _sample_uniform(low: Symbol = ..., high: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type, for each element of the arguments."""
    ...

def _sample_unique_zipfian(range_max: int, shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Rows of different numbers below `range_max`; the weight of `k` is `log((k + 2) / (k + 1))`."""
    ...

def _scatter_elemwise_div(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _scatter_minus_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _scatter_plus_scalar(data: Symbol = ..., scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _scatter_set_nd(lhs: Symbol = ..., rhs: Symbol = ..., indices: Symbol = ..., *, shape: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of `lhs` with elements or parts written at points; with `out=lhs`, `lhs` itself."""
    ...

def _shuffle(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The items along the first axis in random order, every order as likely as the others."""
    ...

def _slice_assign(lhs: Symbol = ..., rhs: Symbol = ..., *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of lhs with a part replaced by rhs: `lhs[begin:end:step] = rhs`."""
    ...

def _slice_assign_scalar(data: Symbol = ..., scalar: float = 0.0, *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of the data with a part set to a number: `data[begin:end:step] = scalar`."""
    ...

def _sparse_Embedding(data: Symbol = ..., weight: Symbol = ..., *, input_dim: int, output_dim: int, dtype: DTypeLike = 'float32', sparse_grad: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Rows of a table, by their numbers; numbers out of range stand for the nearest row."""
    ...

def _sparse_where(condition: Symbol = ..., x: Symbol = ..., y: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The elements of `x` where the condition is not 0, and those of `y` elsewhere."""
    ...

def _split_v2(data: Symbol = ..., *, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Parts of the data along an axis, as equal as can be or between given indices."""
    ...

def _sub(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _unravel_index(data: Symbol = ..., shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The coordinates of each point, from its number."""
    ...

def _zeros(shape: int | Sequence[int] = (), ctx: str = '', dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Zeros."""
    ...

def abs(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = |x|`; `dy/dx` is the sign of `x`, 0 at 0."""
    ...

def adam_update(weight: Symbol = ..., grad: Symbol = ..., mean: Symbol = ..., var: Symbol = ..., *, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight - lr mean / (sqrt(var) + epsilon)`, by averages of the gradient and its square."""
    ...

def add_n(*data: Symbol | Sequence[Symbol], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Sum of arrays of one shape, element by element."""
    ...

def all(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where no element is 0 along axes; of nothing, too."""
    ...

def all_finite(data: Symbol = ..., init_output: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where all elements are finite, else 0."""
    ...

def amp_cast(data: Symbol = ..., *, dtype: DTypeLike, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """An array of half or single precision as another type; arrays of other types as they are."""
    ...

def amp_multicast(*data: Symbol | Sequence[Symbol], cast_narrow: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Arrays of half and single precision in one of these types; arrays of other types as they are."""
    ...

def any(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where an element is not 0 along axes; of nothing, False."""
    ...

def arccos(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The angle whose cosine `x` is; `dy/dx = -1 / sqrt(1 - x^2)`."""
    ...

def arccosh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln(x + sqrt(x^2 - 1))`; `dy/dx = 1 / sqrt(x^2 - 1)`."""
    ...

def arcsin(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The angle whose sine `x` is; `dy/dx = 1 / sqrt(1 - x^2)`."""
    ...

def arcsinh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln(x + sqrt(x^2 + 1))`; `dy/dx = 1 / sqrt(x^2 + 1)`."""
    ...

def arctan(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The angle whose tangent `x` is; `dy/dx = 1 / (1 + x^2)`."""
    ...

def arctan2(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Angle of the point `(rhs, lhs)`; `d/dlhs = rhs / r^2`, `d/drhs = -lhs / r^2`, 0 at the origin."""
    ...

def arctanh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln((1 + x) / (1 - x)) / 2`; `dy/dx = 1 / (1 - x^2)`."""
    ...

def argmax(data: Symbol = ..., axis: int | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The index of the first largest element along an axis, as a number of the data's type."""
    ...

def argmax_channel(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The index of the first largest channel."""
    ...

def argmin(data: Symbol = ..., axis: int | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The index of the first smallest element along an axis, as a number of the data's type."""
    ...

def argsort(data: Symbol = ..., axis: int | None = -1, is_ascend: bool = True, dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The numbers of elements in order along an axis."""
    ...

def attention(query: Symbol = ..., key: Symbol = ..., value: Symbol = ..., mask: Symbol = ..., length: Symbol = ..., kept: Symbol = ..., causal: bool = False, mask_for: Literal['none', 'all', 'heads', 'items'] = 'none', use_length: bool = False, group_size: int = 1, use_kept: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`softmax(query key^T / sqrt(D) + mask) value` of each head; 0 for a query that sees no key."""
    ...

def batch_dot(lhs: Symbol = ..., rhs: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrix products of the last two axes, one for each position along the others."""
    ...

def batch_take(a: Symbol = ..., indices: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """One element of each row, by its number; numbers out of range stand for the nearest element."""
    ...

def bce_with_logits(data: Symbol = ..., label: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The binary cross entropy of logits and probabilities, element by element: `y = -t ln s - (1 - t) ln(1 - s)` with `s = 1 / (1 + e^-x)`; `dy/dx = s - t`, `dy/dt = -x`."""
    ...

def bincount(data: Symbol = ..., weights: Symbol = ..., minlength: int = 0, has_weights: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of all numbers from 0 on, or sums of their weights, which are added in double precision."""
    ...

def bitwise_and(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are both set in `lhs` and `rhs`; of bool, logic."""
    ...

def bitwise_not(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The complement of every bit; `logical_not` is that of bool."""
    ...

def bitwise_or(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that are not both clear in `lhs` and `rhs`; of bool, logic."""
    ...

def bitwise_xor(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Bits that differ in `lhs` and `rhs`; of bool, logic."""
    ...

def broadcast_add(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def broadcast_arrays(*data: Symbol | Sequence[Symbol], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The arrays, each repeated to the shape that all broadcast to; gradients are sums over repetitions."""
    ...

def broadcast_axes(data: Symbol = ..., axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with given axes of length 1 repeated."""
    ...

def broadcast_axis(data: Symbol = ..., axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with given axes of length 1 repeated."""
    ...

def broadcast_div(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def broadcast_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs == rhs`, else 0."""
    ...

def broadcast_greater(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs > rhs`, else 0."""
    ...

def broadcast_greater_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs >= rhs`, else 0."""
    ...

def broadcast_hypot(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def broadcast_lesser(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs < rhs`, else 0."""
    ...

def broadcast_lesser_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs <= rhs`, else 0."""
    ...

def broadcast_like(lhs: Symbol = ..., rhs: Symbol = ..., lhs_axes: int | Sequence[int] | None = None, rhs_axes: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`lhs` with axes of length 1 repeated to the lengths of `rhs`, whose values do not count."""
    ...

def broadcast_logical_and(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs and rhs`, else 0."""
    ...

def broadcast_logical_or(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs or rhs`, else 0."""
    ...

def broadcast_logical_xor(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs xor rhs`, else 0."""
    ...

def broadcast_maximum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def broadcast_minimum(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def broadcast_minus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def broadcast_mod(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def broadcast_mul(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def broadcast_not_equal(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `lhs != rhs`, else 0."""
    ...

def broadcast_plus(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def broadcast_power(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def broadcast_sub(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def broadcast_to(data: Symbol = ..., shape: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with axes of length 1 repeated to a shape."""
    ...

def cached_attention(query: Symbol = ..., key: Symbol = ..., value: Symbol = ..., offset: Symbol = ..., keys: Symbol = ..., values: Symbol = ..., *, max_length: int, group_size: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Write keys and values to a cache, and attend to all that it holds up to each query."""
    ...

def cast(data: Symbol = ..., *, dtype: DTypeLike, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Every element as another type; numbers with a fraction lose it where integers are asked for."""
    ...

def cbrt(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x^(1/3)`; `dy/dx = 1 / (3 y^2)`."""
    ...

def cdist(lhs: Symbol = ..., rhs: Symbol = ..., p: float = 2.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The distance of each row of `lhs` from each of `rhs`, `y = (sum |a - b|^p)^(1/p)`, without overflow; `dy/da = sign(a - b) (|a - b| / y)^(p - 1)`, and 0 where `y` is."""
    ...

def ceil(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The integer at or above `x`."""
    ...

def choose_element_0index(data: Symbol = ..., index: Symbol = ..., axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """One element of each row along an axis, by its number."""
    ...

def clip(data: Symbol = ..., *, a_min: float, a_max: float, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`x`, or the bound that it lies beyond; `dy/dx = 1` from bound to bound, else 0."""
    ...

def col2im(data: Symbol = ..., *, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of blocks, given as columns, where they lie in images."""
    ...

def concat(*data: Symbol | Sequence[Symbol], dim: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The arrays one after another along an axis."""
    ...

def copysign(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The magnitude of `lhs` with the sign of `rhs`; `d/dlhs` is 1 where the signs are equal and -1 elsewhere, 0 at 0."""
    ...

def cos(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = cos x`; `dy/dx = -sin x`."""
    ...

def cosh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = (e^x + e^-x) / 2`; `dy/dx = sinh x`."""
    ...

def cosine_distance(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 less the cosine of the angle between rows, without overflow; of a row of zeros 1. `dy/da = (cos a/|a| - b/|b|) / |a|`, and 0 where `a` is."""
    ...

def count_nonzero(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many elements are not 0 along axes."""
    ...

def crop(data: Symbol = ..., *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A part of the data, by begin, end and step on the leading axes."""
    ...

def cross(a: Symbol = ..., b: Symbol = ..., axis: int = -1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The vector product along an axis of length 3; the other axes broadcast."""
    ...

def cross_entropy(data: Symbol = ..., label: Symbol = ..., weight: Symbol = ..., smoothing: float = 0.0, ignored: int = -100, use_weight: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The mean of `-sum(weight * target * log softmax(data))` over the rows that count."""
    ...

def cummax(data: Symbol = ..., axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each element, the largest of those before it along an axis, and itself; of equal ones the last has the gradient."""
    ...

def cummin(data: Symbol = ..., axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each element, the smallest of those before it along an axis, and itself; of equal ones the last has the gradient."""
    ...

def cumprod(data: Symbol = ..., axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each element, the product of those before it along an axis, and itself; right where some are 0."""
    ...

def cumsum(a: Symbol = ..., axis: int | None = None, dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each element, the sum of those before it along an axis, and itself."""
    ...

def degrees(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = 180 x / pi`; `dy/dx = 180 / pi`."""
    ...

def depth_to_space(data: Symbol = ..., *, block_size: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Channels unfolded into blocks of pixels."""
    ...

def diag(data: Symbol = ..., k: int = 0, axis1: int = 0, axis2: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The diagonal of matrices, or the matrix that has a vector as its diagonal."""
    ...

def digamma(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Slope of `gammaln` of every element, NaN at its poles, 0, -1, -2 and so on, within 4 units in the last place of the type, or of the number 1 where the value is smaller."""
    ...

def dot(lhs: Symbol = ..., rhs: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of products over the last axis of `lhs` and the first of `rhs`."""
    ...

def einsum(*data: Symbol | Sequence[Symbol], subscripts: str = '', optimize: int = 0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Products of arrays, summed over the letters that the result lacks, as `numpy.einsum`."""
    ...

def elemwise_add(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def elemwise_div(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def elemwise_mul(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def elemwise_sub(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def erf(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Error function of every element, within 4 units in the last place of the type; `dy/dx = 2 / sqrt(pi) e^(-x^2)`."""
    ...

def erfc(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """One minus the error function of every element, without cancellation, within 8 units in the last place of the type; `dy/dx = -2 / sqrt(pi) e^(-x^2)`."""
    ...

def erfinv(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y` with `erf y = x`, within 4 units in the last place, infinite at -1 and 1, NaN beyond; `dy/dx = sqrt(pi) / 2 e^(y^2)`."""
    ...

def exp(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = e^x`; `dy/dx = y`."""
    ...

def exp2(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = 2^x`; `dy/dx = y ln 2`."""
    ...

def expand_dims(data: Symbol = ..., *, axis: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with a new axis of length 1."""
    ...

def expm1(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = e^x - 1`, exact near 0; `dy/dx = e^x`."""
    ...

def fill_element_0index(lhs: Symbol = ..., mhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of `lhs` with one element of each row, that of the number in `rhs`, replaced by that of `mhs`."""
    ...

def fix(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`x` rounded towards 0."""
    ...

def flatten(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each item of the data as one row."""
    ...

def flip(data: Symbol = ..., *, axis: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with the order of elements reversed along axes."""
    ...

def floor(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The integer at or below `x`."""
    ...

def fmod(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Remainder with the sign of `lhs`, of integers 0 where `rhs` is; `d/drhs = -trunc(lhs / rhs)`."""
    ...

def ftml_update(weight: Symbol = ..., grad: Symbol = ..., d: Symbol = ..., v: Symbol = ..., z: Symbol = ..., *, lr: float, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-08, t: int, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = -z / d`, the minimum of a moving average of the losses' approximations."""
    ...

def ftrl_update(weight: Symbol = ..., grad: Symbol = ..., z: Symbol = ..., n: Symbol = ..., *, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = (clip(z, lamda1) - z) / ((beta + sqrt(n)) / lr + wd)`: the best so far, often exactly 0."""
    ...

def gamma(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Gamma function of every element, `(x - 1)!` for integers, within 16 units in the last place of the type; `dy/dx = y digamma(x)`."""
    ...

def gammaln(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Logarithm of the absolute value of the gamma function of every element, within 8 units in the last place of the type, or of the number 1 where the value is smaller; `dy/dx = digamma(x)`."""
    ...

def gather_nd(data: Symbol = ..., indices: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The elements, or parts, of an array at points."""
    ...

def geglu(gate: Symbol = ..., value: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`gelu_tanh(gate) value`; the gradients are `value gelu_tanh'(gate)` and `gelu_tanh(gate)`."""
    ...

def gelu_tanh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x (1 + tanh(u)) / 2` with `u = sqrt(2 / pi) (x + 0.044715 x^3)`; `dy/dx = s + 2 x s (1 - s) du/dx` with `s = 1 / (1 + e^-2u)`."""
    ...

def hard_sigmoid(data: Symbol = ..., alpha: float = 0.2, beta: float = 0.5, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = alpha x + beta`, kept between 0 and 1; `dy/dx = alpha` between them, else 0."""
    ...

def hard_swish(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x r / 6` with `r = x + 3`, kept between 0 and 6; `dy/dx = (2 x + 3) / 6` there, 0 below, 1 above."""
    ...

def identity(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; `dy/dx = 1`."""
    ...

def im2col(data: Symbol = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Sliding blocks of images as columns."""
    ...

def isfinite(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is neither infinite nor NaN."""
    ...

def isinf(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is infinite."""
    ...

def isnan(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """True where `x` is NaN."""
    ...

def khatri_rao(*data: Symbol | Sequence[Symbol], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The outer product of the first columns, then of the second columns, and so on."""
    ...

def kron(a: Symbol = ..., b: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The Kronecker product: each element of `a` is a block, the element times `b`."""
    ...

def lamb_update_phase1(weight: Symbol = ..., grad: Symbol = ..., mean: Symbol = ..., var: Symbol = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, t: int, bias_correction: bool = True, wd: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`output = m / (sqrt(v) + epsilon) + wd weight`: Adam's direction, for phase 2."""
    ...

def lamb_update_phase2(weight: Symbol = ..., g: Symbol = ..., r1: Symbol = ..., r2: Symbol = ..., *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight - lr r1 / r2 g`, where `r1` and `r2` are the norms of `weight` and `g`."""
    ...

def left_shift(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The bits of `lhs` moved to the left by `rhs`; by all of them or more, 0."""
    ...

def linalg_det(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet."""
    ...

def linalg_extractdiag(A: Symbol = ..., offset: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A diagonal of each matrix."""
    ...

def linalg_extracttrian(A: Symbol = ..., offset: int = 0, lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A triangle of each matrix, packed: the lower one row by row, the upper one column by column."""
    ...

def linalg_gelqf(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal."""
    ...

def linalg_gemm(A: Symbol = ..., B: Symbol = ..., C: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B + beta * C`."""
    ...

def linalg_gemm2(A: Symbol = ..., B: Symbol = ..., transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B`."""
    ...

def linalg_inverse(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The inverse of each matrix."""
    ...

def linalg_makediag(A: Symbol = ..., offset: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices with the given diagonals, and else 0."""
    ...

def linalg_maketrian(A: Symbol = ..., offset: int = 0, lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices with the given packed triangles, and else 0."""
    ...

def linalg_potrf(A: Symbol = ..., lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The Cholesky factor L of a symmetric positive definite matrix: `A = L @ L.T`."""
    ...

def linalg_potri(A: Symbol = ..., lower: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The inverse of a matrix whose Cholesky factor `A` is given: of `A @ A.T`."""
    ...

def linalg_slogdet(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sign of each matrix's determinant, and the logarithm of its absolute value."""
    ...

def linalg_sumlogdiag(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of the logarithms of the diagonal's elements."""
    ...

def linalg_syevd(A: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`A = U.T @ diag(L) @ U`: the eigenvectors of a symmetric matrix, in rows, and its eigenvalues."""
    ...

def linalg_syrk(A: Symbol = ..., transpose: bool = False, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ A.T`; with `transpose`, `alpha * A.T @ A`."""
    ...

def linalg_trmm(A: Symbol = ..., B: Symbol = ..., transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`alpha * A @ B` for a triangular `A`; with `rightside`, `alpha * B @ A`."""
    ...

def linalg_trsm(A: Symbol = ..., B: Symbol = ..., transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The solution of `A @ output = alpha * B` for a triangular `A`."""
    ...

def log(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln x`; `dy/dx = 1 / x`."""
    ...

def log10(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln x / ln 10`; `dy/dx = 1 / (x ln 10)`."""
    ...

def log1p(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln(1 + x)`, exact near 0; `dy/dx = 1 / (1 + x)`."""
    ...

def log2(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln x / ln 2`; `dy/dx = 1 / (x ln 2)`."""
    ...

def log_softmax(data: Symbol = ..., length: Symbol = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The logarithm of the softmax, exact where the softmax underflows."""
    ...

def logaddexp(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln(e^lhs + e^rhs)`, without overflow; `d/dlhs = 1 / (1 + e^(rhs - lhs))`, `d/drhs = 1 - d/dlhs`."""
    ...

def logical_not(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where `x` is 0, else 0."""
    ...

def logsumexp(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = ln(sum e^x)` along axes, without overflow; `dy/dx = e^x / sum e^x`. Of nothing, minus infinity."""
    ...

def make_loss(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself, as a loss: its gradient is 1."""
    ...

def matmul(a: Symbol = ..., b: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The matrix product over the last axis of `a` and the last but one of `b`; the axes before broadcast."""
    ...

def max(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The largest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def max_axis(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The largest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def mean(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The mean of n elements along axes; `dy/dx = 1 / n`. Of integers, rounded to zero; of nothing, NaN."""
    ...

def median(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The middle element in order along axes, or the mean of the middle two; these have the gradient."""
    ...

def meshgrid(*data: Symbol | Sequence[Symbol], indexing: Literal['xy', 'ij'] = 'xy', name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Coordinates of all points of a grid, from those along each axis; gradients are sums over the grid."""
    ...

def min(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The smallest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def min_axis(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The smallest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def mish(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x t` with `t = tanh(ln(1 + e^x))`; `dy/dx = t + x (1 - t^2) / (1 + e^-x)`."""
    ...

def moments(data: Symbol = ..., axes: int | Sequence[int] | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The mean and the variance along axes; the variance divides by the count. Of nothing, NaN."""
    ...

def mp_lamb_update_phase1(weight: Symbol = ..., grad: Symbol = ..., mean: Symbol = ..., var: Symbol = ..., weight32: Symbol = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, t: int, bias_correction: bool = True, wd: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`output = m / (sqrt(v) + epsilon) + wd weight`: Adam's direction, for phase 2."""
    ...

def mp_lamb_update_phase2(weight: Symbol = ..., g: Symbol = ..., r1: Symbol = ..., r2: Symbol = ..., weight32: Symbol = ..., *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`lamb_update_phase2` of a half-precision weight through its single-precision copy."""
    ...

def mp_nag_mom_update(weight: Symbol = ..., grad: Symbol = ..., mom: Symbol = ..., weight32: Symbol = ..., *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight + momentum (momentum mom - step) - step`, with `step = lr (grad + wd weight)`."""
    ...

def mp_sgd_mom_update(weight: Symbol = ..., grad: Symbol = ..., mom: Symbol = ..., weight32: Symbol = ..., *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def mp_sgd_update(weight: Symbol = ..., grad: Symbol = ..., weight32: Symbol = ..., *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_all_finite(array_0: Symbol = ..., array_1: Symbol = ..., array_2: Symbol = ..., num_arrays: int = 1, init_output: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """1 where all elements of all arrays are finite, else 0."""
    ...

def multi_lars(lrs: Symbol = ..., weights_sum_sq: Symbol = ..., grads_sum_sq: Symbol = ..., wds: Symbol = ..., *, eta: float, eps: float, rescale_grad: float = 1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`lrs eta |weight| / (rescale_grad |grad| + wds |weight| + eps)`: rates of layers for LARS."""
    ...

def multi_mp_sgd_mom_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mom_0: Symbol = ..., weight32_0: Symbol = ..., *, lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def multi_mp_sgd_update(weight_0: Symbol = ..., grad_0: Symbol = ..., weight32_0: Symbol = ..., *, lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_sgd_mom_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mom_0: Symbol = ..., *, lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def multi_sgd_update(weight_0: Symbol = ..., grad_0: Symbol = ..., *, lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_sum_sq(array_0: Symbol = ..., array_1: Symbol = ..., array_2: Symbol = ..., *, num_arrays: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each array the sum of its squared elements, in one array."""
    ...

def nag_mom_update(weight: Symbol = ..., grad: Symbol = ..., mom: Symbol = ..., *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight + momentum (momentum mom - step) - step`, with `step = lr (grad + wd weight)`."""
    ...

def nan_to_num(data: Symbol = ..., copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers in place of NaN and infinities; `dy/dx = 1` where `x` is finite, else 0."""
    ...

def nanprod(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The product along axes, where NaN counts as 1; `dy/dx` is the product of the others, and 0 for NaN."""
    ...

def nansum(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum along axes, where NaN counts as 0; `dy/dx = 1`, and 0 where x is NaN."""
    ...

def negative(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = -x`; `dy/dx = -1`."""
    ...

def nll_loss(data: Symbol = ..., label: Symbol = ..., ignored: int = -100, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The negative log likelihood of each item: minus the logarithm, in `data`, of its class; `dy/dx = -1` there, else 0. An item labelled `ignored`, or with no class, has 0."""
    ...

def nonzero(x: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def norm(data: Symbol = ..., ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DTypeLike | None = None, keepdims: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The root of the sum of squares along axes; with `ord=1`, the sum of absolute values."""
    ...

def normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def one_hot(indices: Symbol = ..., *, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DTypeLike = 'float32', name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """For each number, a row with `on_value` at that position and `off_value` elsewhere."""
    ...

def ones_like(data: Symbol = ..., dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Ones in the shape and element type of `x`."""
    ...

def outer(a: Symbol = ..., b: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The products of each element of `a` with each of `b`; `d/da = output_grad b`, `d/db = output_grad^T a`."""
    ...

def pad(data: Symbol = ..., *, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with a margin of a constant, of its edge, or of its reflection."""
    ...

def pick(data: Symbol = ..., index: Symbol = ..., axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """One element of each row along an axis, by its number."""
    ...

def preloaded_multi_mp_sgd_mom_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mom_0: Symbol = ..., weight32_0: Symbol = ..., weight_1: Symbol = ..., grad_1: Symbol = ..., mom_1: Symbol = ..., weight32_1: Symbol = ..., weight_2: Symbol = ..., grad_2: Symbol = ..., mom_2: Symbol = ..., weight32_2: Symbol = ..., lrs: Symbol = ..., wds: Symbol = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def preloaded_multi_mp_sgd_update(weight_0: Symbol = ..., grad_0: Symbol = ..., weight32_0: Symbol = ..., weight_1: Symbol = ..., grad_1: Symbol = ..., weight32_1: Symbol = ..., weight_2: Symbol = ..., grad_2: Symbol = ..., weight32_2: Symbol = ..., lrs: Symbol = ..., wds: Symbol = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def preloaded_multi_sgd_mom_update(weight_0: Symbol = ..., grad_0: Symbol = ..., mom_0: Symbol = ..., weight_1: Symbol = ..., grad_1: Symbol = ..., mom_1: Symbol = ..., weight_2: Symbol = ..., grad_2: Symbol = ..., mom_2: Symbol = ..., lrs: Symbol = ..., wds: Symbol = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def preloaded_multi_sgd_update(weight_0: Symbol = ..., grad_0: Symbol = ..., weight_1: Symbol = ..., grad_1: Symbol = ..., weight_2: Symbol = ..., grad_2: Symbol = ..., lrs: Symbol = ..., wds: Symbol = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def prod(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The product along axes; `dy/dx` is the product of the others. Half precision is multiplied in single."""
    ...

def put_along_axis(data: Symbol = ..., indices: Symbol = ..., values: Symbol = ..., axis: int | None = None, mode: Literal['set', 'add', 'max'] = 'set', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A copy of the data with values written, or added, or their maximum, at positions along an axis."""
    ...

def quantile(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, q: float = 0.5, interpolation: Literal['linear', 'lower', 'higher', 'nearest', 'midpoint'] = 'linear', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The element in order along axes below which the part `q` lies, or one between two; these have the gradient."""
    ...

def radians(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = pi x / 180`; `dy/dx = pi / 180`."""
    ...

def random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Integers from `low` up to and without `high`, each as likely as the others."""
    ...

def random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def ravel_multi_index(data: Symbol = ..., shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The number of each point: its last coordinate, plus the one before times the last length, and so on."""
    ...

def rcbrt(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x^(-1/3)`; `dy/dx = -y^4 / 3`."""
    ...

def reciprocal(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = 1 / x`; `dy/dx = -y^2`."""
    ...

def relu(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = max(x, 0)`; `dy/dx = 1` where `y > 0`, else 0."""
    ...

def repeat(data: Symbol = ..., *, repeats: int, axis: int | None = None, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Each element repeated, along an axis or in the flattened data."""
    ...

def reset_arrays(data_0: Symbol = ..., data_1: Symbol = ..., data_2: Symbol = ..., *, num_arrays: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Set every element of every array to 0."""
    ...

def reshape(data: Symbol = ..., shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data in another shape."""
    ...

def reshape_like(lhs: Symbol = ..., rhs: Symbol = ..., lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data in the shape of another array, or with some axes taken from it."""
    ...

def reverse(data: Symbol = ..., *, axis: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with the order of elements reversed along axes."""
    ...

def right_shift(lhs: Symbol = ..., rhs: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The bits of `lhs` moved to the right by `rhs`; by all of them or more, 0 or -1, the sign."""
    ...

def rint(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The integer next to `x`; halves down."""
    ...

def rmsprop_update(weight: Symbol = ..., grad: Symbol = ..., n: Symbol = ..., *, lr: float, gamma1: float = 0.95, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = weight - lr grad / sqrt(n + epsilon)`, where `n` is the moved average squared gradient."""
    ...

def rmspropalex_update(weight: Symbol = ..., grad: Symbol = ..., n: Symbol = ..., g: Symbol = ..., delta: Symbol = ..., *, lr: float, gamma1: float = 0.95, gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`delta = gamma2 delta - lr grad / sqrt(n - g^2 + epsilon)`, and then `weight = weight + delta`."""
    ...

def roll(data: Symbol = ..., *, shift: int | Sequence[int | None], axis: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Elements moved along axes, from the end to the front; `dy/dx` moves them back."""
    ...

def rotary_embedding(data: Symbol = ..., offset: Symbol = ..., base: float = 10000.0, layout: Literal['halves', 'pairs'] = 'halves', use_offset: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Pair `i` of the last axis, of length `d`, turned by the angle `position * base^(-2 i / d)`."""
    ...

def round(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The integer next to `x`; halves away from 0."""
    ...

def rsqrt(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = 1 / sqrt x`; `dy/dx = -y^3 / 2`."""
    ...

def sample_exponential(lam: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the exponential distribution with rate `lam`, for each element of the arguments."""
    ...

def sample_gamma(alpha: Symbol = ..., beta: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`, for each element of the arguments."""
    ...

def sample_generalized_negative_binomial(mu: Symbol = ..., alpha: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`, for each element of the arguments."""
    ...

def sample_multinomial(data: Symbol = ..., shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DTypeLike = 'int32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Classes, each drawn with the probability that the last axis of `data` has for it; with replacement."""
    ...

def sample_negative_binomial(k: Symbol = ..., p: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """How many trials fail before `k` succeed, each with probability `p`, for each element of the arguments."""
    ...

def sample_normal(mu: Symbol = ..., sigma: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`, for each element of the arguments."""
    ...

def sample_poisson(lam: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`, for each element of the arguments."""
    ...

def sample_uniform(low: Symbol = ..., high: Symbol = ..., shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type, for each element of the arguments."""
    ...

def scatter_nd(data: Symbol = ..., indices: Symbol = ..., *, shape: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Zeros, with elements or parts written at points; of several at one point the last one stays."""
    ...

def searchsorted(a: Symbol = ..., v: Symbol = ..., side: Literal['left', 'right'] = 'left', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Where each element of `v` belongs in the ascending `a`; it has no gradient."""
    ...

def sgd_mom_update(weight: Symbol = ..., grad: Symbol = ..., mom: Symbol = ..., *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def sgd_update(weight: Symbol = ..., grad: Symbol = ..., *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def shape_array(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The lengths of the axes of `x`."""
    ...

def shuffle(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The items along the first axis in random order, every order as likely as the others."""
    ...

def sigmoid(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = 1 / (1 + e^-x)`; `dy/dx = y (1 - y)`."""
    ...

def sign(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """-1, 0 or 1, the sign of `x`; 0 for NaN."""
    ...

def signsgd_update(weight: Symbol = ..., grad: Symbol = ..., *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`weight = (1 - lr wd) weight - lr sign(grad)`, where the sign of NaN is 0."""
    ...

def signum_update(weight: Symbol = ..., grad: Symbol = ..., mom: Symbol = ..., *, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, wd_lh: float = 0.0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`mom = momentum mom - (1 - momentum) (grad + wd weight)`, the negative of an average gradient."""
    ...

def silu(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x s(x)` with `s(x) = 1 / (1 + e^-x)`; `dy/dx = s + x s (1 - s)`."""
    ...

def sin(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sin x`; `dy/dx = cos x`."""
    ...

def sinh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = (e^x - e^-x) / 2`; `dy/dx = cosh x`."""
    ...

def size_array(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The number of elements of `x`."""
    ...

def slice(data: Symbol = ..., *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A part of the data, by begin, end and step on the leading axes."""
    ...

def slice_axis(data: Symbol = ..., *, axis: int, begin: int, end: int | None, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """A part of the data along one axis."""
    ...

def slice_like(data: Symbol = ..., shape_like: Symbol = ..., axes: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The leading part of the data that has another array's lengths."""
    ...

def softmax(data: Symbol = ..., length: Symbol = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Exponentials that sum to one along an axis."""
    ...

def softmax_cross_entropy(data: Symbol = ..., label: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Sum over the items of the cross-entropy of a label and the softmax of the scores."""
    ...

def softmin(data: Symbol = ..., length: Symbol = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The softmax of `-data`."""
    ...

def softsign(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x / (1 + |x|)`; `dy/dx = 1 / (1 + |x|)^2`."""
    ...

def sort(data: Symbol = ..., axis: int | None = -1, is_ascend: bool = True, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Elements in order along an axis."""
    ...

def space_to_depth(data: Symbol = ..., *, block_size: int, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Blocks of pixels folded into channels."""
    ...

def split(data: Symbol = ..., *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Equal parts of the data along an axis."""
    ...

def sqrt(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sqrt x`; `dy/dx = 1 / (2 y)`."""
    ...

def square(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x^2`; `dy/dx = 2 x`."""
    ...

def squeeze(data: Symbol = ..., axis: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data without axes of length 1."""
    ...

def stack(*data: Symbol | Sequence[Symbol], axis: int = 0, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The arrays along a new axis."""
    ...

def std(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is."""
    ...

def stop_gradient(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The array itself; no gradient goes back through it."""
    ...

def sum(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum along axes; `dy/dx = 1`. Half precision is summed in single precision."""
    ...

def sum_axis(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum along axes; `dy/dx = 1`. Half precision is summed in single precision."""
    ...

def swapaxes(data: Symbol = ..., dim1: int = 0, dim2: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with two axes exchanged."""
    ...

def swiglu(gate: Symbol = ..., value: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`silu(gate) value`; the gradients are `value silu'(gate)` and `silu(gate)`."""
    ...

def swish(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = x s(x)` with `s(x) = 1 / (1 + e^-x)`; `dy/dx = s + x s (1 - s)`."""
    ...

def take(a: Symbol = ..., indices: Symbol = ..., axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Parts of an array along an axis, by their numbers."""
    ...

def take_along_axis(data: Symbol = ..., indices: Symbol = ..., axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The elements at positions along an axis, one for each index; negative ones count from the end."""
    ...

def tan(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = tan x`; `dy/dx = 1 + y^2`."""
    ...

def tanh(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`y = sinh x / cosh x`; `dy/dx = 1 - y^2`."""
    ...

def tensordot(a: Symbol = ..., b: Symbol = ..., *, a_axes_summed: int | Sequence[int | None], b_axes_summed: int | Sequence[int | None], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""
    ...

def tile(data: Symbol = ..., *, reps: int | Sequence[int], name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data repeated as a whole along each axis."""
    ...

def top_k_gating(data: Symbol = ..., k: int = 2, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`softmax` of the `k` largest of each row; zeros elsewhere."""
    ...

def topk(data: Symbol = ..., axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The first `k` elements in order along an axis: their numbers, their values, both, or a mask of them."""
    ...

def trace(data: Symbol = ..., offset: int = 0, axis1: int = 0, axis2: int = 1, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The sum of a diagonal of matrices; `dy/dx` is 1 on it, else 0."""
    ...

def transpose(data: Symbol = ..., axes: int | Sequence[int] = (), *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The data with its axes in another order."""
    ...

def tril(data: Symbol = ..., k: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices, with 0 above diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def triu(data: Symbol = ..., k: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Matrices, with 0 below diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def trunc(data: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """`x` rounded towards 0."""
    ...

def uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: str = '', dtype: DTypeLike | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def unique(data: Symbol = ..., return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The different elements in ascending order, or the different parts along an axis; they have no gradient."""
    ...

def unravel_index(data: Symbol = ..., shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The coordinates of each point, from its number."""
    ...

def variance(data: Symbol = ..., axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0, *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. `sym.var` makes a variable: symbols have it as `variance`."""
    ...

def where(condition: Symbol = ..., x: Symbol = ..., y: Symbol = ..., *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """The elements of `x` where the condition is not 0, and those of `y` elsewhere."""
    ...

def zeros_like(data: Symbol = ..., dtype: DTypeLike = 'float32', *, name: str | None = None, attr: dict[str, str] | None = None, **hidden: str) -> Symbol:
    """Zeros in the shape and element type of `x`."""
    ...
