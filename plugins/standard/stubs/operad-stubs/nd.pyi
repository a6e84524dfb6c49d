# Written by `operad stubs`.
"""Imperative arrays and operators: `od.ndarray.tanh(x)`, or `od.nd` for short."""
from operad.ndarray.arguments import by_name as by_name
from operad.ndarray.arguments import check_dense as check_dense
from operad.ndarray.arguments import split_arguments as split_arguments
from operad.ndarray.arithmetic import binary as binary
from operad.ndarray.arithmetic import converted as converted
from operad.ndarray.arithmetic import invoke as invoke
from operad.ndarray.arithmetic import real_number as real_number
from operad.ndarray.function import operator_function as operator_function
from operad.ndarray.interchange import over as over
from operad.ndarray.namespace import make as make
from operad.ndarray.namespace import release_idle_memory as release_idle_memory
from operad.ndarray.ndarray import NDArray as NDArray
from operad.ndarray.ndarray import array as array
from operad.ndarray.ndarray import empty as empty
from operad.ndarray.ndarray import waitall as waitall
from operad.ndarray.nested import nested as nested
from operad.ndarray.signature import array_names as array_names
from operad.ndarray.signature import presented as presented

from collections.abc import Sequence
from typing import Any, Literal, overload

from numpy.typing import DTypeLike

from operad.device import Context

def __getattr__(name: str) -> Any: ...
from operad_mxnet.cached_op import CachedOp as CachedOp
from operad_mxnet.base import _DTYPE_MX_TO_NP as _DTYPE_MX_TO_NP
from operad_mxnet.base import _DTYPE_NP_TO_MX as _DTYPE_NP_TO_MX
from operad_image.functions import copyMakeBorder as _added__cvcopyMakeBorder
_cvcopyMakeBorder = _added__cvcopyMakeBorder
from operad_image.functions import imdecode as _added__cvimdecode
_cvimdecode = _added__cvimdecode
from operad_image.functions import imread as _added__cvimread
_cvimread = _added__cvimread
from operad_image.functions import imresize as _added__cvimresize
_cvimresize = _added__cvimresize
from operad_mxnet.prefixed import nd_internal as _added__internal
_internal = _added__internal
from operad_init.array_face import set_value as _added__set_value
_set_value = _added__set_value
from operad_mxnet.scalars import add as add
from operad_init.array_face import arange as arange
from operad_shape.array_face import concatenate as concatenate
from operad_mxnet.prefixed import nd_contrib as _added_contrib
contrib = _added_contrib
from operad_mxnet.scalars import divide as divide
from operad_serialization.arrays import dumps as dumps
from operad_mxnet.scalars import equal as equal
from operad_init.array_face import eye as eye
from operad_numpy.interchange import from_dlpack as from_dlpack
from operad_mxnet.nd_functions import from_numpy as from_numpy
from operad_init.array_face import full as full
from operad_mxnet.scalars import greater as greater
from operad_mxnet.scalars import greater_equal as greater_equal
from operad_mxnet.nd_functions import histogram as histogram
from operad_mxnet.prefixed import nd_image as _added_image
image = _added_image
from operad_mxnet.nd_functions import imdecode as imdecode
from operad_mxnet.scalars import lesser as lesser
from operad_mxnet.scalars import lesser_equal as lesser_equal
from operad_mxnet.prefixed import nd_linalg as _added_linalg
linalg = _added_linalg
from operad_mxnet.nd_functions import linspace as linspace
from operad_serialization.arrays import load as load
from operad_mxnet.nd_functions import load_frombuffer as load_frombuffer
from operad_serialization.arrays import loads as loads
from operad_mxnet.scalars import logical_and as logical_and
from operad_mxnet.scalars import logical_or as logical_or
from operad_mxnet.scalars import logical_xor as logical_xor
from operad_mxnet.scalars import maximum as maximum
from operad_mxnet.scalars import minimum as minimum
from operad_mxnet.scalars import modulo as modulo
from operad_mxnet.nd_functions import moveaxis as moveaxis
from operad_mxnet.scalars import multiply as multiply
from operad_mxnet.base import mx_real_t as mx_real_t
from operad_mxnet.scalars import not_equal as not_equal
from operad_mxnet.nd_functions import onehot_encode as onehot_encode
from operad_init.array_face import ones as ones
from operad_mxnet.prefixed import nd_op as _added_op
op = _added_op
from operad_mxnet.scalars import power as power
from operad_mxnet.base import py_slice as py_slice
from operad_sampling import array_face as _added_random
random = _added_random
from operad_serialization.arrays import save as save
from operad_mxnet.nd_functions import split_v2 as split_v2
from operad_mxnet.scalars import subtract as subtract
from operad_mxnet.nd_functions import to_dlpack_for_read as to_dlpack_for_read
from operad_mxnet.nd_functions import to_dlpack_for_write as to_dlpack_for_write
from operad_mxnet.scalars import true_divide as true_divide
from operad_mxnet import nd_utils as _added_utils
utils = _added_utils
from operad_init.array_face import zeros as zeros
def Activation(data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """One of five functions, applied to every element."""
    ...

def BatchNorm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Each channel less its mean, over its standard deviation, times gamma plus beta."""
    ...

def BatchNorm_v1(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """The `BatchNorm` of MXNet before 1.0."""
    ...

def BlockGrad(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; no gradient goes back through it."""
    ...

def Cast(data: NDArray, dtype: DTypeLike, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Every element as another type; numbers with a fraction lose it where integers are asked for."""
    ...

def Concat(*data: NDArray | Sequence[NDArray], dim: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The arrays one after another along an axis."""
    ...

def Convolution(data: NDArray, weight: NDArray, bias: NDArray = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Correlation of images with filters, in one to three dimensions."""
    ...

def Convolution_v1(data: NDArray, weight: NDArray, bias: NDArray = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCDHW', 'NCHW', 'NDHWC', 'NHWC'] | None = None, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`Convolution` under its name before MXNet 0.9, which old files have."""
    ...

def Crop(*data: NDArray | Sequence[NDArray], offset: int | Sequence[int] = (0, 0), h_w: int | Sequence[int] = (0, 0), center_crop: bool = False, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A window of the images: of size `h_w`, or of the size of the second argument's images."""
    ...

def Custom(*data: NDArray | Sequence[NDArray], op_type: str, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None, **params: Any) -> list[NDArray] | NDArray:
    """An operator that the program registered with `operator.register(op_type)`."""
    ...

def Deconvolution(data: NDArray, weight: NDArray, bias: NDArray = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int, num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None, cudnn_off: bool = False, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'] | None = None, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The transposed convolution: what `Convolution` does to gradients, in one to three dimensions."""
    ...

def Dropout(data: NDArray, p: float = 0.5, mode: Literal['training', 'always'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each element is zeroed with probability `p`, and the others divided by `1 - p`, while training."""
    ...

def ElementWiseSum(*data: NDArray | Sequence[NDArray], out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Sum of arrays of one shape, element by element."""
    ...

def Embedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DTypeLike = 'float32', sparse_grad: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Rows of a table, by their numbers; numbers out of range stand for the nearest row."""
    ...

def Flatten(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each item of the data as one row."""
    ...

def FullyConnected(data: NDArray, weight: NDArray, bias: NDArray = ..., *, num_hidden: int, no_bias: bool = False, flatten: bool = True, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`output = data @ weight.T + bias`, for every row of `data`."""
    ...

def GroupNorm(data: NDArray, gamma: NDArray, beta: NDArray, num_groups: int = 1, eps: float = 1e-05, output_mean_var: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Each group of channels less its mean, over its standard deviation, times gamma plus beta."""
    ...

def IdentityAttachKLSparseReg(data: NDArray, moving_avg: NDArray, sparseness_target: float = 0.1, penalty: float = 0.001, momentum: float = 0.9, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data itself; the gradient of a penalty on the mean of each column is added to its gradient."""
    ...

def InstanceNorm(data: NDArray, gamma: NDArray, beta: NDArray, eps: float = 0.001, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each channel of each sample less its mean, over its standard deviation, times gamma plus beta."""
    ...

def L2Normalization(data: NDArray, eps: float = 1e-10, mode: Literal['instance', 'channel', 'spatial'] = 'instance', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data over the root of its sum of squares plus `eps`."""
    ...

def LRN(data: NDArray, alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2.0, *, nsize: int, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data over a power of the sum of squares of neighbouring channels."""
    ...

def LayerNorm(data: NDArray, gamma: NDArray, beta: NDArray, axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Data less its mean along an axis, over its standard deviation, times gamma plus beta."""
    ...

def LeakyReLU(data: NDArray, gamma: NDArray = ..., act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """A rectified linear unit with another slope or function below zero."""
    ...

def LinearRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data itself; the gradient is its difference from the label, that of half the squared error."""
    ...

def LogisticRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The logistic function of the data; the gradient is that of the cross-entropy to the label."""
    ...

def MAERegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data itself; the gradient is the sign of its difference from the label, that of the absolute error."""
    ...

def MakeLoss(data: NDArray, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: Literal['null', 'batch', 'valid'] = 'null', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data itself; its gradient is `grad_scale` everywhere."""
    ...

def Pad(data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with a margin of a constant, of its edge, or of its reflection."""
    ...

def Pooling(data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['max', 'avg', 'sum', 'lp'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['valid', 'full', 'same'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The maximum, mean, sum or Lp norm of each window, in one to three dimensions."""
    ...

def Pooling_v1(data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['max', 'avg', 'sum', 'lp'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['valid', 'full', 'same'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal['NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`Pooling` under its name before MXNet 0.9, which old files have."""
    ...

def RMSNorm(data: NDArray, weight: NDArray, eps: float = 1e-06, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`data / sqrt(mean(data^2) + eps) * weight`, over the last axis."""
    ...

def RNN(data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray = ..., sequence_length: NDArray = ..., *, state_size: int, num_layers: int, bidirectional: bool = False, mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'], p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Recurrent layers, one upon another, in one direction or both."""
    ...

def Reshape(data: NDArray, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data in another shape."""
    ...

def SVMOutput(data: NDArray, label: NDArray, margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Scores of classes; the gradient is that of the hinge loss."""
    ...

def SequenceLast(data: NDArray, sequence_length: NDArray = ..., use_sequence_length: bool = False, axis: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The last step of each sequence; 0 where a sequence has none."""
    ...

def SequenceMask(data: NDArray, sequence_length: NDArray = ..., use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data, with `value` in the steps beyond the end of each sequence."""
    ...

def SequenceReverse(data: NDArray, sequence_length: NDArray = ..., use_sequence_length: bool = False, axis: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each sequence backwards; the steps beyond its end stay where they are."""
    ...

def SliceChannel(data: NDArray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Equal parts of the data along an axis."""
    ...

def Softmax(data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['null', 'batch', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Probabilities of classes; the gradient is their difference from the label."""
    ...

def SoftmaxActivation(data: NDArray, mode: Literal['instance', 'channel'] = 'instance', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The softmax over the last axis, or over the channels."""
    ...

def SoftmaxOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['null', 'batch', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Probabilities of classes; the gradient is their difference from the label."""
    ...

def SwapAxis(data: NDArray, dim1: int = 0, dim2: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with two axes exchanged."""
    ...

def UpSampling(*data: NDArray | Sequence[NDArray], scale: int, num_filter: int = 0, sample_type: Literal['nearest', 'bilinear'], multi_input_mode: Literal['concat', 'sum'] = 'concat', workspace: int = 512, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Images of `scale` times the height and width."""
    ...

def _Div(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _DivScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x / scalar`, of integers rounded towards zero; `dy/dx = 1 / scalar`."""
    ...

def _Equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0."""
    ...

def _EqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data == scalar`, else 0."""
    ...

def _Greater(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0."""
    ...

def _GreaterEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data >= scalar`, else 0."""
    ...

def _GreaterScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data > scalar`, else 0."""
    ...

def _Greater_Equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0."""
    ...

def _Hypot(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def _HypotScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt(x^2 + scalar^2)`, without overflow; `dy/dx = x / y`, 0 at 0."""
    ...

def _Lesser(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0."""
    ...

def _LesserEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data <= scalar`, else 0."""
    ...

def _LesserScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data < scalar`, else 0."""
    ...

def _Lesser_Equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0."""
    ...

def _LogicalAndScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data and scalar`, else 0."""
    ...

def _LogicalOrScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data or scalar`, else 0."""
    ...

def _LogicalXorScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data xor scalar`, else 0."""
    ...

def _Logical_And(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs and rhs`, else 0."""
    ...

def _Logical_Or(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs or rhs`, else 0."""
    ...

def _Logical_Xor(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs xor rhs`, else 0."""
    ...

def _Maximum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def _MaximumScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(x, scalar)`; `dy/dx = 1` where `x >= scalar`, else 0."""
    ...

def _Minimum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def _MinimumScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = min(x, scalar)`; `dy/dx = 1` where `x <= scalar`, else 0."""
    ...

def _Minus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _MinusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _Mod(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def _ModScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x - floor(x / scalar) * scalar`, 0 where `scalar` is; `dy/dx = 1`."""
    ...

def _Mul(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def _MulScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar * x`; `dy/dx = scalar`."""
    ...

def _NotEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data != scalar`, else 0."""
    ...

def _Not_Equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0."""
    ...

def _Plus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _PlusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _Power(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def _PowerScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x^scalar`; `dy/dx = scalar * x^(scalar - 1)`, 0 where `scalar` is."""
    ...

def _RDivScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar / x`, of integers rounded towards zero; `dy/dx = -y / x`."""
    ...

def _RMinusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar - x`; `dy/dx = -1`."""
    ...

def _RModScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar - floor(scalar / x) * x`, 0 where `x` is; `dy/dx = -floor(scalar / x)`."""
    ...

def _RPowerScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar^x`; `dy/dx = y ln(scalar)`, 0 where `scalar` is."""
    ...

def _adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, *, eta: float, clip_gradient: float = -1.0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _add(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _amp_scale_gradient(data: NDArray, scale: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; its gradient is multiplied by a number that is a state, and may change between steps."""
    ...

def _arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: Context | None = None, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers from `start`, `step` apart, up to and without `stop`; each `repeat` times."""
    ...

def _backward_gather_nd(data: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Zeros, with elements or parts added at points, in their order: the gradient of `gather_nd`."""
    ...

def _contrib_AdaptiveAvgPooling2D(data: NDArray, output_size: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The means of as many windows as the output has elements, which together cover the image."""
    ...

def _contrib_BatchNormWithReLU(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """`BatchNorm`, and 0 where its output is below 0; where it is, no gradient goes back."""
    ...

def _contrib_SyncBatchNorm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, ndev: int = 1, *, key: str, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """A `BatchNorm` over the whole batch, which is that of one device."""
    ...

def _contrib_arange_like(data: NDArray, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Context | None = None, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers from `start`, `step` apart, each `repeat` times, as many as `data` has."""
    ...

def _contrib_boolean_mask(data: NDArray, index: NDArray, axis: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The rows of an array for which a mask is not 0."""
    ...

def _contrib_gradientmultiplier(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; its gradient is multiplied by the number, `dy/dx = scalar`."""
    ...

def _contrib_group_adagrad_update(weight: NDArray, grad: NDArray, history: NDArray, lr: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, epsilon: float = 1e-05, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight - lr grad / sqrt(history + epsilon)`, with one rate for each row."""
    ...

def _contrib_index_array(data: NDArray, axes: int | Sequence[int | None] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The indices of every element along all axes, or along some."""
    ...

def _contrib_index_copy(old_tensor: NDArray, index_vector: NDArray, new_tensor: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of an array in which some rows, by their numbers, are replaced."""
    ...

def _contrib_round_ste(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The integer next to `x`, halves away from 0; the gradient goes straight through: `dy/dx = 1`."""
    ...

def _contrib_sign_ste(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """-1, 0 or 1, the sign of `x`; 0 for NaN. The gradient goes straight through: `dy/dx = 1`."""
    ...

def _copy(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; `dy/dx = 1`."""
    ...

def _copyto(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of `data`; `dy/dx = 1`."""
    ...

def _crop_assign(lhs: NDArray, rhs: NDArray, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of lhs with a part replaced by rhs: `lhs[begin:end:step] = rhs`."""
    ...

def _crop_assign_scalar(data: NDArray, scalar: float = 0.0, *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of the data with a part set to a number: `data[begin:end:step] = scalar`."""
    ...

def _div(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _div_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x / scalar`, of integers rounded towards zero; `dy/dx = 1 / scalar`."""
    ...

def _equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0."""
    ...

def _equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data == scalar`, else 0."""
    ...

def _eye(N: int, M: int = 0, k: int = 0, ctx: Context | None = None, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """A matrix of zeros with ones on diagonal `k`."""
    ...

def _full(shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike = 'float32', *, value: float, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """`value` everywhere."""
    ...

def _grad_add(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`, by which MXNet adds gradients up; `d/dlhs = d/drhs = 1`."""
    ...

def _greater(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0."""
    ...

def _greater_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0."""
    ...

def _greater_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data >= scalar`, else 0."""
    ...

def _greater_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data > scalar`, else 0."""
    ...

def _histogram(data: NDArray, bins: NDArray, bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """Number of elements in each bin: from its lower edge up to, but without, its upper one."""
    ...

def _hypot(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def _hypot_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt(x^2 + scalar^2)`, without overflow; `dy/dx = x / y`, 0 at 0."""
    ...

def _identity_with_attr_like_rhs(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The left array; the right one tells shape inference its shape. `dy/da = 1`."""
    ...

def _init_normal(shape: int | Sequence[int], dtype: Literal['float16', 'float32', 'float64'] = 'float32', scale: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of a normal distribution around 0."""
    ...

def _init_uniform(shape: int | Sequence[int], dtype: Literal['float16', 'float32', 'float64'] = 'float32', low: float = 0.0, high: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly between `low` and `high`."""
    ...

def _lamb_norm(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Euclidean norm of all elements, which phase 2 takes of the weight and of the direction."""
    ...

def _lesser(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0."""
    ...

def _lesser_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0."""
    ...

def _lesser_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data <= scalar`, else 0."""
    ...

def _lesser_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data < scalar`, else 0."""
    ...

def _linalg_det(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet."""
    ...

def _linalg_extractdiag(A: NDArray, offset: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A diagonal of each matrix."""
    ...

def _linalg_extracttrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A triangle of each matrix, packed: the lower one row by row, the upper one column by column."""
    ...

def _linalg_gelqf(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal."""
    ...

def _linalg_gemm(A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B + beta * C`."""
    ...

def _linalg_gemm2(A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B`."""
    ...

def _linalg_inverse(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The inverse of each matrix."""
    ...

def _linalg_makediag(A: NDArray, offset: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices with the given diagonals, and else 0."""
    ...

def _linalg_maketrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices with the given packed triangles, and else 0."""
    ...

def _linalg_potrf(A: NDArray, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The Cholesky factor L of a symmetric positive definite matrix: `A = L @ L.T`."""
    ...

def _linalg_potri(A: NDArray, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The inverse of a matrix whose Cholesky factor `A` is given: of `A @ A.T`."""
    ...

def _linalg_slogdet(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """The sign of each matrix's determinant, and the logarithm of its absolute value."""
    ...

def _linalg_sumlogdiag(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of the logarithms of the diagonal's elements."""
    ...

def _linalg_syevd(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """`A = U.T @ diag(L) @ U`: the eigenvectors of a symmetric matrix, in rows, and its eigenvalues."""
    ...

def _linalg_syrk(A: NDArray, transpose: bool = False, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ A.T`; with `transpose`, `alpha * A.T @ A`."""
    ...

def _linalg_trmm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B` for a triangular `A`; with `rightside`, `alpha * B @ A`."""
    ...

def _linalg_trsm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The solution of `A @ output = alpha * B` for a triangular `A`."""
    ...

def _linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Context | None = None, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """`num` numbers at equal distances from `start` to `stop`."""
    ...

def _logical_and(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs and rhs`, else 0."""
    ...

def _logical_and_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data and scalar`, else 0."""
    ...

def _logical_or(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs or rhs`, else 0."""
    ...

def _logical_or_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data or scalar`, else 0."""
    ...

def _logical_xor(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs xor rhs`, else 0."""
    ...

def _logical_xor_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data xor scalar`, else 0."""
    ...

def _maximum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def _maximum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(x, scalar)`; `dy/dx = 1` where `x >= scalar`, else 0."""
    ...

def _minimum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def _minimum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = min(x, scalar)`; `dy/dx = 1` where `x <= scalar`, else 0."""
    ...

def _minus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _minus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _mod(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def _mod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x - floor(x / scalar) * scalar`, 0 where `scalar` is; `dy/dx = 1`."""
    ...

def _mp_adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, *, eta: float, clip_gradient: float = -1.0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _mul(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def _mul_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar * x`; `dy/dx = scalar`."""
    ...

def _multi_adamw_update(weight_0: NDArray, grad_0: NDArray, mean_0: NDArray, var_0: NDArray, rescale_grad: NDArray, lrs: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, *, wds: float | Sequence[float], etas: float | Sequence[float], clip_gradient: float = -1.0, num_weights: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _multi_lamb_update(weight_0: NDArray, grad_0: NDArray, mean_0: NDArray, var_0: NDArray, learning_rates: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, wds: float | Sequence[float], rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int], num_tensors: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: Both phases of LAMB, `lamb_update_phase1` and `lamb_update_phase2`, with the norms between them."""
    ...

def _multi_mp_adamw_update(weight_0: NDArray, grad_0: NDArray, mean_0: NDArray, var_0: NDArray, weight32_0: NDArray, rescale_grad: NDArray, lrs: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, *, wds: float | Sequence[float], etas: float | Sequence[float], clip_gradient: float = -1.0, num_weights: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `weight = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)`."""
    ...

def _multi_mp_lamb_update(weight_0: NDArray, grad_0: NDArray, mean_0: NDArray, var_0: NDArray, weight32_0: NDArray, learning_rates: float | Sequence[float], beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, wds: float | Sequence[float], rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int], num_tensors: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: Both phases of LAMB, `lamb_update_phase1` and `lamb_update_phase2`, with the norms between them."""
    ...

def _not_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0."""
    ...

def _not_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `data != scalar`, else 0."""
    ...

def _np_all(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where no element is 0 along axes; of nothing, too."""
    ...

def _np_any(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where an element is not 0 along axes; of nothing, False."""
    ...

def _np_cumsum(a: NDArray, axis: int | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each element, the sum of those before it along an axis, and itself."""
    ...

def _np_roll(data: NDArray, shift: int | Sequence[int | None], axis: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Elements moved along axes, from the end to the front; `dy/dx` moves them back."""
    ...

def _np_trace(data: NDArray, offset: int = 0, axis1: int = 0, axis2: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of a diagonal of matrices; `dy/dx` is 1 on it, else 0."""
    ...

def _npi_arctan2(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Angle of the point `(rhs, lhs)`; `d/dlhs = rhs / r^2`, `d/drhs = -lhs / r^2`, 0 at the origin."""
    ...

def _npi_arctan2_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Angle of the point `(scalar, x)`; `dy/dx = scalar / (x^2 + scalar^2)`, 0 at the origin."""
    ...

def _npi_bincount(data: NDArray, weights: NDArray = ..., minlength: int = 0, has_weights: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of all numbers from 0 on, or sums of their weights, which are added in double precision."""
    ...

def _npi_bitwise_and(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are both set in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_and_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are both set in `x` and `scalar`; of bool, logic."""
    ...

def _npi_bitwise_not(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The complement of every bit; `logical_not` is that of bool."""
    ...

def _npi_bitwise_or(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are not both clear in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_or_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are not both clear in `x` and `scalar`; of bool, logic."""
    ...

def _npi_bitwise_xor(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that differ in `lhs` and `rhs`; of bool, logic."""
    ...

def _npi_bitwise_xor_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that differ in `x` and `scalar`; of bool, logic."""
    ...

def _npi_copysign(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The magnitude of `lhs` with the sign of `rhs`; `d/dlhs` is 1 where the signs are equal and -1 elsewhere, 0 at 0."""
    ...

def _npi_copysign_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The magnitude of `x` with the sign of `scalar`; `dy/dx` is 1 where signs are equal, else -1, 0 at 0."""
    ...

def _npi_einsum(*data: NDArray | Sequence[NDArray], subscripts: str = '', optimize: int = 0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Products of arrays, summed over the letters that the result lacks, as `numpy.einsum`."""
    ...

def _npi_isfinite(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is neither infinite nor NaN."""
    ...

def _npi_isinf(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is infinite."""
    ...

def _npi_isnan(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is NaN."""
    ...

def _npi_matmul(a: NDArray, b: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The matrix product over the last axis of `a` and the last but one of `b`; the axes before broadcast."""
    ...

def _npi_nan_to_num(data: NDArray, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers in place of NaN and infinities; `dy/dx = 1` where `x` is finite, else 0."""
    ...

def _npi_nonzero(x: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def _npi_percentile(a: NDArray, q: NDArray = ..., axis: int | Sequence[int] | None = None, interpolation: Literal['linear', 'lower', 'higher', 'nearest', 'midpoint'] = 'linear', keepdims: bool = False, q_scalar: float | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The elements in order along axes below which `q` percent lie, or a mean of two; no gradient."""
    ...

def _npi_std(a: NDArray, axis: int | Sequence[int] | None = None, dtype: Literal[None, 'float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None, ddof: int = 0, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is. Of integers the whole part."""
    ...

def _npi_tensordot(a: NDArray, b: NDArray, a_axes_summed: int | Sequence[int | None], b_axes_summed: int | Sequence[int | None], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""
    ...

def _npi_tensordot_int_axes(a: NDArray, b: NDArray, axes: int, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`tensordot` over the last axes of `a` and as many first ones of `b`."""
    ...

def _npi_tril(data: NDArray, k: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices, with 0 above diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def _npi_unique(data: NDArray, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """`unique` by the name that MXNet 1.x has, in files too."""
    ...

def _npi_var(a: NDArray, axis: int | Sequence[int] | None = None, dtype: Literal[None, 'float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None, ddof: int = 0, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. Of integers the whole part."""
    ...

def _npx_nonzero(x: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def _npx_rnn(data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray = ..., sequence_length: NDArray = ..., *, state_size: int, num_layers: int, bidirectional: bool = False, mode: Literal['rnn_relu', 'rnn_tanh', 'lstm', 'gru'], p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Recurrent layers, one upon another, in one direction or both."""
    ...

def _onehot_encode(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each number in `lhs`, a row with 1 at that position and 0 elsewhere, as long as those of `rhs`."""
    ...

def _ones(shape: int | Sequence[int] = (), ctx: Context | None = None, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Ones."""
    ...

def _plus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def _plus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _power(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def _power_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x^scalar`; `dy/dx = scalar * x^(scalar - 1)`, 0 where `scalar` is."""
    ...

def _random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def _random_exponential_like(data: NDArray, lam: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def _random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def _random_gamma_like(data: NDArray, alpha: float = 1.0, beta: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def _random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def _random_generalized_negative_binomial_like(data: NDArray, mu: float = 1.0, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def _random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def _random_negative_binomial_like(data: NDArray, k: int = 1, p: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def _random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def _random_normal_like(data: NDArray, loc: float = 0.0, scale: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def _random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def _random_poisson_like(data: NDArray, lam: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def _random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Integers from `low` up to and without `high`, each as likely as the others."""
    ...

def _random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def _random_uniform_like(data: NDArray, low: float = 0.0, high: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def _ravel_multi_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The number of each point: its last coordinate, plus the one before times the last length, and so on."""
    ...

def _rdiv_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar / x`, of integers rounded towards zero; `dy/dx = -y / x`."""
    ...

def _rminus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar - x`; `dy/dx = -1`."""
    ...

def _rmod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar - floor(scalar / x) * x`, 0 where `x` is; `dy/dx = -floor(scalar / x)`."""
    ...

def _rnn_param_concat(*data: NDArray | Sequence[NDArray], dim: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`Concat` under the name by which MXNet joins the parameters of its RNN."""
    ...

def _rpower_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = scalar^x`; `dy/dx = y ln(scalar)`, 0 where `scalar` is."""
    ...

def _sample_exponential(lam: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the exponential distribution with rate `lam`, for each element of the arguments."""
    ...

def _sample_gamma(alpha: NDArray, beta: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`, for each element of the arguments."""
    ...

def _sample_generalized_negative_binomial(mu: NDArray, alpha: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of mean `mu` and variance `mu + alpha mu^2`, for each element of the arguments."""
    ...

def _sample_multinomial(data: NDArray, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DTypeLike = 'int32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Classes, each drawn with the probability that the last axis of `data` has for it; with replacement."""
    ...

def _sample_negative_binomial(k: NDArray, p: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """How many trials fail before `k` succeed, each with probability `p`, for each element of the arguments."""
    ...

def _sample_normal(mu: NDArray, sigma: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`, for each element of the arguments."""
    ...

def _sample_poisson(lam: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`, for each element of the arguments."""
    ...

def _sample_uniform(low: NDArray, high: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type, for each element of the arguments."""
    ...

def _sample_unique_zipfian(range_max: int, shape: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """Rows of different numbers below `range_max`; the weight of `k` is `log((k + 2) / (k + 1))`."""
    ...

def _scatter_elemwise_div(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def _scatter_minus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x - scalar`; `dy/dx = 1`."""
    ...

def _scatter_plus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x + scalar`; `dy/dx = 1`."""
    ...

def _scatter_set_nd(lhs: NDArray, rhs: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of `lhs` with elements or parts written at points; with `out=lhs`, `lhs` itself."""
    ...

def _shuffle(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The items along the first axis in random order, every order as likely as the others."""
    ...

def _slice_assign(lhs: NDArray, rhs: NDArray, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of lhs with a part replaced by rhs: `lhs[begin:end:step] = rhs`."""
    ...

def _slice_assign_scalar(data: NDArray, scalar: float = 0.0, *, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of the data with a part set to a number: `data[begin:end:step] = scalar`."""
    ...

def _sparse_Embedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DTypeLike = 'float32', sparse_grad: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Rows of a table, by their numbers; numbers out of range stand for the nearest row."""
    ...

def _sparse_where(condition: NDArray, x: NDArray, y: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The elements of `x` where the condition is not 0, and those of `y` elsewhere."""
    ...

def _split_v2(data: NDArray, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Parts of the data along an axis, as equal as can be or between given indices."""
    ...

def _sub(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def _unravel_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The coordinates of each point, from its number."""
    ...

def _zeros(shape: int | Sequence[int] = (), ctx: Context | None = None, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Zeros."""
    ...

def abs(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = |x|`; `dy/dx` is the sign of `x`, 0 at 0."""
    ...

def adam_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight - lr mean / (sqrt(var) + epsilon)`, by averages of the gradient and its square."""
    ...

def add_n(*data: NDArray | Sequence[NDArray], out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Sum of arrays of one shape, element by element."""
    ...

def all(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where no element is 0 along axes; of nothing, too."""
    ...

def all_finite(data: NDArray, init_output: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where all elements are finite, else 0."""
    ...

def amp_cast(data: NDArray, dtype: DTypeLike, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """An array of half or single precision as another type; arrays of other types as they are."""
    ...

def amp_multicast(*data: NDArray | Sequence[NDArray], cast_narrow: bool = False, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Arrays of half and single precision in one of these types; arrays of other types as they are."""
    ...

def any(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where an element is not 0 along axes; of nothing, False."""
    ...

def arccos(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The angle whose cosine `x` is; `dy/dx = -1 / sqrt(1 - x^2)`."""
    ...

def arccosh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln(x + sqrt(x^2 - 1))`; `dy/dx = 1 / sqrt(x^2 - 1)`."""
    ...

def arcsin(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The angle whose sine `x` is; `dy/dx = 1 / sqrt(1 - x^2)`."""
    ...

def arcsinh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln(x + sqrt(x^2 + 1))`; `dy/dx = 1 / sqrt(x^2 + 1)`."""
    ...

def arctan(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The angle whose tangent `x` is; `dy/dx = 1 / (1 + x^2)`."""
    ...

def arctan2(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Angle of the point `(rhs, lhs)`; `d/dlhs = rhs / r^2`, `d/drhs = -lhs / r^2`, 0 at the origin."""
    ...

def arctanh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln((1 + x) / (1 - x)) / 2`; `dy/dx = 1 / (1 - x^2)`."""
    ...

def argmax(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The index of the first largest element along an axis, as a number of the data's type."""
    ...

def argmax_channel(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The index of the first largest channel."""
    ...

def argmin(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The index of the first smallest element along an axis, as a number of the data's type."""
    ...

def argsort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The numbers of elements in order along an axis."""
    ...

def attention(query: NDArray, key: NDArray, value: NDArray, mask: NDArray = ..., length: NDArray = ..., kept: NDArray = ..., causal: bool = False, mask_for: Literal['none', 'all', 'heads', 'items'] = 'none', use_length: bool = False, group_size: int = 1, use_kept: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`softmax(query key^T / sqrt(D) + mask) value` of each head; 0 for a query that sees no key."""
    ...

def batch_dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrix products of the last two axes, one for each position along the others."""
    ...

def batch_take(a: NDArray, indices: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """One element of each row, by its number; numbers out of range stand for the nearest element."""
    ...

def bce_with_logits(data: NDArray, label: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The binary cross entropy of logits and probabilities, element by element: `y = -t ln s - (1 - t) ln(1 - s)` with `s = 1 / (1 + e^-x)`; `dy/dx = s - t`, `dy/dt = -x`."""
    ...

def bincount(data: NDArray, weights: NDArray = ..., minlength: int = 0, has_weights: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of all numbers from 0 on, or sums of their weights, which are added in double precision."""
    ...

def bitwise_and(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are both set in `lhs` and `rhs`; of bool, logic."""
    ...

def bitwise_not(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The complement of every bit; `logical_not` is that of bool."""
    ...

def bitwise_or(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that are not both clear in `lhs` and `rhs`; of bool, logic."""
    ...

def bitwise_xor(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Bits that differ in `lhs` and `rhs`; of bool, logic."""
    ...

def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def broadcast_arrays(*data: NDArray | Sequence[NDArray], out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """The arrays, each repeated to the shape that all broadcast to; gradients are sums over repetitions."""
    ...

def broadcast_axes(data: NDArray, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with given axes of length 1 repeated."""
    ...

def broadcast_axis(data: NDArray, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with given axes of length 1 repeated."""
    ...

def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def broadcast_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0."""
    ...

def broadcast_greater(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0."""
    ...

def broadcast_greater_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0."""
    ...

def broadcast_hypot(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0."""
    ...

def broadcast_lesser(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0."""
    ...

def broadcast_lesser_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0."""
    ...

def broadcast_like(lhs: NDArray, rhs: NDArray, lhs_axes: int | Sequence[int] | None = None, rhs_axes: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`lhs` with axes of length 1 repeated to the lengths of `rhs`, whose values do not count."""
    ...

def broadcast_logical_and(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs and rhs`, else 0."""
    ...

def broadcast_logical_or(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs or rhs`, else 0."""
    ...

def broadcast_logical_xor(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs xor rhs`, else 0."""
    ...

def broadcast_maximum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0."""
    ...

def broadcast_minimum(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0."""
    ...

def broadcast_minus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def broadcast_mod(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`."""
    ...

def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def broadcast_not_equal(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0."""
    ...

def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def broadcast_power(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is."""
    ...

def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def broadcast_to(data: NDArray, shape: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with axes of length 1 repeated to a shape."""
    ...

def cached_attention(query: NDArray, key: NDArray, value: NDArray, offset: NDArray, keys: NDArray, values: NDArray, max_length: int, group_size: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Write keys and values to a cache, and attend to all that it holds up to each query."""
    ...

def cast(data: NDArray, dtype: DTypeLike, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Every element as another type; numbers with a fraction lose it where integers are asked for."""
    ...

def cbrt(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x^(1/3)`; `dy/dx = 1 / (3 y^2)`."""
    ...

def cdist(lhs: NDArray, rhs: NDArray, p: float = 2.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The distance of each row of `lhs` from each of `rhs`, `y = (sum |a - b|^p)^(1/p)`, without overflow; `dy/da = sign(a - b) (|a - b| / y)^(p - 1)`, and 0 where `y` is."""
    ...

def ceil(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The integer at or above `x`."""
    ...

def choose_element_0index(data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """One element of each row along an axis, by its number."""
    ...

def clip(data: NDArray, a_min: float, a_max: float, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`x`, or the bound that it lies beyond; `dy/dx = 1` from bound to bound, else 0."""
    ...

def col2im(data: NDArray, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of blocks, given as columns, where they lie in images."""
    ...

def concat(*data: NDArray | Sequence[NDArray], dim: int = 1, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The arrays one after another along an axis."""
    ...

def copysign(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The magnitude of `lhs` with the sign of `rhs`; `d/dlhs` is 1 where the signs are equal and -1 elsewhere, 0 at 0."""
    ...

def cos(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = cos x`; `dy/dx = -sin x`."""
    ...

def cosh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = (e^x + e^-x) / 2`; `dy/dx = sinh x`."""
    ...

def cosine_distance(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 less the cosine of the angle between rows, without overflow; of a row of zeros 1. `dy/da = (cos a/|a| - b/|b|) / |a|`, and 0 where `a` is."""
    ...

def count_nonzero(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """How many elements are not 0 along axes."""
    ...

def crop(data: NDArray, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A part of the data, by begin, end and step on the leading axes."""
    ...

def cross(a: NDArray, b: NDArray, axis: int = -1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The vector product along an axis of length 3; the other axes broadcast."""
    ...

def cross_entropy(data: NDArray, label: NDArray, weight: NDArray = ..., smoothing: float = 0.0, ignored: int = -100, use_weight: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The mean of `-sum(weight * target * log softmax(data))` over the rows that count."""
    ...

def cummax(data: NDArray, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each element, the largest of those before it along an axis, and itself; of equal ones the last has the gradient."""
    ...

def cummin(data: NDArray, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each element, the smallest of those before it along an axis, and itself; of equal ones the last has the gradient."""
    ...

def cumprod(data: NDArray, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each element, the product of those before it along an axis, and itself; right where some are 0."""
    ...

def cumsum(a: NDArray, axis: int | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each element, the sum of those before it along an axis, and itself."""
    ...

def degrees(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = 180 x / pi`; `dy/dx = 180 / pi`."""
    ...

def depth_to_space(data: NDArray, block_size: int, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Channels unfolded into blocks of pixels."""
    ...

def diag(data: NDArray, k: int = 0, axis1: int = 0, axis2: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The diagonal of matrices, or the matrix that has a vector as its diagonal."""
    ...

def digamma(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Slope of `gammaln` of every element, NaN at its poles, 0, -1, -2 and so on, within 4 units in the last place of the type, or of the number 1 where the value is smaller."""
    ...

def dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of products over the last axis of `lhs` and the first of `rhs`."""
    ...

def einsum(*data: NDArray | Sequence[NDArray], subscripts: str = '', optimize: int = 0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Products of arrays, summed over the letters that the result lacks, as `numpy.einsum`."""
    ...

def elemwise_add(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs + rhs`; `d/dlhs = d/drhs = 1`."""
    ...

def elemwise_div(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`."""
    ...

def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`."""
    ...

def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`."""
    ...

def erf(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Error function of every element, within 4 units in the last place of the type; `dy/dx = 2 / sqrt(pi) e^(-x^2)`."""
    ...

def erfc(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """One minus the error function of every element, without cancellation, within 8 units in the last place of the type; `dy/dx = -2 / sqrt(pi) e^(-x^2)`."""
    ...

def erfinv(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y` with `erf y = x`, within 4 units in the last place, infinite at -1 and 1, NaN beyond; `dy/dx = sqrt(pi) / 2 e^(y^2)`."""
    ...

def exp(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = e^x`; `dy/dx = y`."""
    ...

def exp2(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = 2^x`; `dy/dx = y ln 2`."""
    ...

def expand_dims(data: NDArray, axis: int, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with a new axis of length 1."""
    ...

def expm1(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = e^x - 1`, exact near 0; `dy/dx = e^x`."""
    ...

def fill_element_0index(lhs: NDArray, mhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of `lhs` with one element of each row, that of the number in `rhs`, replaced by that of `mhs`."""
    ...

def fix(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`x` rounded towards 0."""
    ...

def flatten(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each item of the data as one row."""
    ...

def flip(data: NDArray, axis: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with the order of elements reversed along axes."""
    ...

def floor(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The integer at or below `x`."""
    ...

def fmod(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Remainder with the sign of `lhs`, of integers 0 where `rhs` is; `d/drhs = -trunc(lhs / rhs)`."""
    ...

def ftml_update(weight: NDArray, grad: NDArray, d: NDArray, v: NDArray, z: NDArray, lr: float, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-08, *, t: int, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = -z / d`, the minimum of a moving average of the losses' approximations."""
    ...

def ftrl_update(weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = (clip(z, lamda1) - z) / ((beta + sqrt(n)) / lr + wd)`: the best so far, often exactly 0."""
    ...

def gamma(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Gamma function of every element, `(x - 1)!` for integers, within 16 units in the last place of the type; `dy/dx = y digamma(x)`."""
    ...

def gammaln(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Logarithm of the absolute value of the gamma function of every element, within 8 units in the last place of the type, or of the number 1 where the value is smaller; `dy/dx = digamma(x)`."""
    ...

def gather_nd(data: NDArray, indices: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The elements, or parts, of an array at points."""
    ...

def geglu(gate: NDArray, value: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`gelu_tanh(gate) value`; the gradients are `value gelu_tanh'(gate)` and `gelu_tanh(gate)`."""
    ...

def gelu_tanh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x (1 + tanh(u)) / 2` with `u = sqrt(2 / pi) (x + 0.044715 x^3)`; `dy/dx = s + 2 x s (1 - s) du/dx` with `s = 1 / (1 + e^-2u)`."""
    ...

def hard_sigmoid(data: NDArray, alpha: float = 0.2, beta: float = 0.5, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = alpha x + beta`, kept between 0 and 1; `dy/dx = alpha` between them, else 0."""
    ...

def hard_swish(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x r / 6` with `r = x + 3`, kept between 0 and 6; `dy/dx = (2 x + 3) / 6` there, 0 below, 1 above."""
    ...

def identity(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; `dy/dx = 1`."""
    ...

def im2col(data: NDArray, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Sliding blocks of images as columns."""
    ...

def isfinite(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is neither infinite nor NaN."""
    ...

def isinf(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is infinite."""
    ...

def isnan(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """True where `x` is NaN."""
    ...

def khatri_rao(*data: NDArray | Sequence[NDArray], out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The outer product of the first columns, then of the second columns, and so on."""
    ...

def kron(a: NDArray, b: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The Kronecker product: each element of `a` is a block, the element times `b`."""
    ...

def lamb_update_phase1(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, t: int, bias_correction: bool = True, wd: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`output = m / (sqrt(v) + epsilon) + wd weight`: Adam's direction, for phase 2."""
    ...

def lamb_update_phase2(weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight - lr r1 / r2 g`, where `r1` and `r2` are the norms of `weight` and `g`."""
    ...

def left_shift(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The bits of `lhs` moved to the left by `rhs`; by all of them or more, 0."""
    ...

def linalg_det(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The determinant of each matrix. The gradient of a singular matrix is 0, as in MXNet."""
    ...

def linalg_extractdiag(A: NDArray, offset: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A diagonal of each matrix."""
    ...

def linalg_extracttrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A triangle of each matrix, packed: the lower one row by row, the upper one column by column."""
    ...

def linalg_gelqf(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """`A = L @ Q`, where L is lower triangular and the rows of Q are orthonormal."""
    ...

def linalg_gemm(A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B + beta * C`."""
    ...

def linalg_gemm2(A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B`."""
    ...

def linalg_inverse(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The inverse of each matrix."""
    ...

def linalg_makediag(A: NDArray, offset: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices with the given diagonals, and else 0."""
    ...

def linalg_maketrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices with the given packed triangles, and else 0."""
    ...

def linalg_potrf(A: NDArray, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The Cholesky factor L of a symmetric positive definite matrix: `A = L @ L.T`."""
    ...

def linalg_potri(A: NDArray, lower: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The inverse of a matrix whose Cholesky factor `A` is given: of `A @ A.T`."""
    ...

def linalg_slogdet(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """The sign of each matrix's determinant, and the logarithm of its absolute value."""
    ...

def linalg_sumlogdiag(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of the logarithms of the diagonal's elements."""
    ...

def linalg_syevd(A: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """`A = U.T @ diag(L) @ U`: the eigenvectors of a symmetric matrix, in rows, and its eigenvalues."""
    ...

def linalg_syrk(A: NDArray, transpose: bool = False, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ A.T`; with `transpose`, `alpha * A.T @ A`."""
    ...

def linalg_trmm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`alpha * A @ B` for a triangular `A`; with `rightside`, `alpha * B @ A`."""
    ...

def linalg_trsm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The solution of `A @ output = alpha * B` for a triangular `A`."""
    ...

def log(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln x`; `dy/dx = 1 / x`."""
    ...

def log10(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln x / ln 10`; `dy/dx = 1 / (x ln 10)`."""
    ...

def log1p(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln(1 + x)`, exact near 0; `dy/dx = 1 / (1 + x)`."""
    ...

def log2(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln x / ln 2`; `dy/dx = 1 / (x ln 2)`."""
    ...

def log_softmax(data: NDArray, length: NDArray = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The logarithm of the softmax, exact where the softmax underflows."""
    ...

def logaddexp(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln(e^lhs + e^rhs)`, without overflow; `d/dlhs = 1 / (1 + e^(rhs - lhs))`, `d/drhs = 1 - d/dlhs`."""
    ...

def logical_not(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where `x` is 0, else 0."""
    ...

def logsumexp(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = ln(sum e^x)` along axes, without overflow; `dy/dx = e^x / sum e^x`. Of nothing, minus infinity."""
    ...

def make_loss(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself, as a loss: its gradient is 1."""
    ...

def matmul(a: NDArray, b: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The matrix product over the last axis of `a` and the last but one of `b`; the axes before broadcast."""
    ...

def max(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The largest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def max_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The largest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def mean(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The mean of n elements along axes; `dy/dx = 1 / n`. Of integers, rounded to zero; of nothing, NaN."""
    ...

def median(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The middle element in order along axes, or the mean of the middle two; these have the gradient."""
    ...

def meshgrid(*data: NDArray | Sequence[NDArray], indexing: Literal['xy', 'ij'] = 'xy', out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Coordinates of all points of a grid, from those along each axis; gradients are sums over the grid."""
    ...

def min(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The smallest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def min_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The smallest element along axes; `dy/dx = 1` for all that equal it, as in MXNet."""
    ...

def mish(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x t` with `t = tanh(ln(1 + e^x))`; `dy/dx = t + x (1 - t^2) / (1 + e^-x)`."""
    ...

def moments(data: NDArray, axes: int | Sequence[int] | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """The mean and the variance along axes; the variance divides by the count. Of nothing, NaN."""
    ...

def mp_lamb_update_phase1(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, *, t: int, bias_correction: bool = True, wd: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`output = m / (sqrt(v) + epsilon) + wd weight`: Adam's direction, for phase 2."""
    ...

def mp_lamb_update_phase2(weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, weight32: NDArray, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`lamb_update_phase2` of a half-precision weight through its single-precision copy."""
    ...

def mp_nag_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight + momentum (momentum mom - step) - step`, with `step = lr (grad + wd weight)`."""
    ...

def mp_sgd_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def mp_sgd_update(weight: NDArray, grad: NDArray, weight32: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_all_finite(array_0: NDArray, array_1: NDArray = ..., array_2: NDArray = ..., num_arrays: int = 1, init_output: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """1 where all elements of all arrays are finite, else 0."""
    ...

def multi_lars(lrs: NDArray, weights_sum_sq: NDArray, grads_sum_sq: NDArray, wds: NDArray, eta: float, eps: float, rescale_grad: float = 1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`lrs eta |weight| / (rescale_grad |grad| + wds |weight| + eps)`: rates of layers for LARS."""
    ...

def multi_mp_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight32_0: NDArray, lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def multi_mp_sgd_update(weight_0: NDArray, grad_0: NDArray, weight32_0: NDArray, lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def multi_sgd_update(weight_0: NDArray, grad_0: NDArray, lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def multi_sum_sq(array_0: NDArray, array_1: NDArray = ..., array_2: NDArray = ..., *, num_arrays: int, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Of each array the sum of its squared elements, in one array."""
    ...

def nag_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight + momentum (momentum mom - step) - step`, with `step = lr (grad + wd weight)`."""
    ...

def nan_to_num(data: NDArray, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers in place of NaN and infinities; `dy/dx = 1` where `x` is finite, else 0."""
    ...

def nanprod(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The product along axes, where NaN counts as 1; `dy/dx` is the product of the others, and 0 for NaN."""
    ...

def nansum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum along axes, where NaN counts as 0; `dy/dx = 1`, and 0 where x is NaN."""
    ...

def negative(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = -x`; `dy/dx = -1`."""
    ...

def nll_loss(data: NDArray, label: NDArray, ignored: int = -100, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The negative log likelihood of each item: minus the logarithm, in `data`, of its class; `dy/dx = -1` there, else 0. An item labelled `ignored`, or with no class, has 0."""
    ...

def nonzero(x: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient."""
    ...

def norm(data: NDArray, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DTypeLike | None = None, keepdims: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The root of the sum of squares along axes; with `ord=1`, the sum of absolute values."""
    ...

def normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def one_hot(indices: NDArray, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """For each number, a row with `on_value` at that position and `off_value` elsewhere."""
    ...

def ones_like(data: NDArray, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Ones in the shape and element type of `x`."""
    ...

def outer(a: NDArray, b: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The products of each element of `a` with each of `b`; `d/da = output_grad b`, `d/db = output_grad^T a`."""
    ...

def pad(data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with a margin of a constant, of its edge, or of its reflection."""
    ...

def pick(data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """One element of each row along an axis, by its number."""
    ...

@overload
def preloaded_multi_mp_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight32_0: NDArray, weight_1: NDArray, grad_1: NDArray, mom_1: NDArray, weight32_1: NDArray, weight_2: NDArray, grad_2: NDArray, mom_2: NDArray, weight32_2: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_mp_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight32_0: NDArray, weight_1: NDArray, grad_1: NDArray, mom_1: NDArray, weight32_1: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_mp_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight32_0: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_mp_sgd_update(weight_0: NDArray, grad_0: NDArray, weight32_0: NDArray, weight_1: NDArray, grad_1: NDArray, weight32_1: NDArray, weight_2: NDArray, grad_2: NDArray, weight32_2: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

@overload
def preloaded_multi_mp_sgd_update(weight_0: NDArray, grad_0: NDArray, weight32_0: NDArray, weight_1: NDArray, grad_1: NDArray, weight32_1: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

@overload
def preloaded_multi_mp_sgd_update(weight_0: NDArray, grad_0: NDArray, weight32_0: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

@overload
def preloaded_multi_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight_1: NDArray, grad_1: NDArray, mom_1: NDArray, weight_2: NDArray, grad_2: NDArray, mom_2: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, weight_1: NDArray, grad_1: NDArray, mom_1: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_sgd_mom_update(weight_0: NDArray, grad_0: NDArray, mom_0: NDArray, lrs: NDArray, wds: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

@overload
def preloaded_multi_sgd_update(weight_0: NDArray, grad_0: NDArray, weight_1: NDArray, grad_1: NDArray, weight_2: NDArray, grad_2: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

@overload
def preloaded_multi_sgd_update(weight_0: NDArray, grad_0: NDArray, weight_1: NDArray, grad_1: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

@overload
def preloaded_multi_sgd_update(weight_0: NDArray, grad_0: NDArray, lrs: NDArray, wds: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Of each tensor: `weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def prod(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The product along axes; `dy/dx` is the product of the others. Half precision is multiplied in single."""
    ...

def put_along_axis(data: NDArray, indices: NDArray, values: NDArray, axis: int | None = None, mode: Literal['set', 'add', 'max'] = 'set', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A copy of the data with values written, or added, or their maximum, at positions along an axis."""
    ...

def quantile(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, q: float = 0.5, interpolation: Literal['linear', 'lower', 'higher', 'nearest', 'midpoint'] = 'linear', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The element in order along axes below which the part `q` lies, or one between two; these have the gradient."""
    ...

def radians(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = pi x / 180`; `dy/dx = pi / 180`."""
    ...

def random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the exponential distribution with rate `lam`."""
    ...

def random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    ...

def random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    ...

def random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """How many trials fail before `k` succeed, each with probability `p`."""
    ...

def random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    ...

def random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`."""
    ...

def random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Integers from `low` up to and without `high`, each as likely as the others."""
    ...

def random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def ravel_multi_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The number of each point: its last coordinate, plus the one before times the last length, and so on."""
    ...

def rcbrt(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x^(-1/3)`; `dy/dx = -y^4 / 3`."""
    ...

def reciprocal(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = 1 / x`; `dy/dx = -y^2`."""
    ...

def relu(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = max(x, 0)`; `dy/dx = 1` where `y > 0`, else 0."""
    ...

def repeat(data: NDArray, repeats: int, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Each element repeated, along an axis or in the flattened data."""
    ...

def reset_arrays(data_0: NDArray, data_1: NDArray = ..., data_2: NDArray = ..., *, num_arrays: int, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray]:
    """Set every element of every array to 0."""
    ...

def reshape(data: NDArray, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data in another shape."""
    ...

def reshape_like(lhs: NDArray, rhs: NDArray, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data in the shape of another array, or with some axes taken from it."""
    ...

def reverse(data: NDArray, axis: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with the order of elements reversed along axes."""
    ...

def right_shift(lhs: NDArray, rhs: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The bits of `lhs` moved to the right by `rhs`; by all of them or more, 0 or -1, the sign."""
    ...

def rint(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The integer next to `x`; halves down."""
    ...

def rmsprop_update(weight: NDArray, grad: NDArray, n: NDArray, lr: float, gamma1: float = 0.95, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = weight - lr grad / sqrt(n + epsilon)`, where `n` is the moved average squared gradient."""
    ...

def rmspropalex_update(weight: NDArray, grad: NDArray, n: NDArray, g: NDArray, delta: NDArray, lr: float, gamma1: float = 0.95, gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`delta = gamma2 delta - lr grad / sqrt(n - g^2 + epsilon)`, and then `weight = weight + delta`."""
    ...

def roll(data: NDArray, shift: int | Sequence[int | None], axis: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Elements moved along axes, from the end to the front; `dy/dx` moves them back."""
    ...

def rotary_embedding(data: NDArray, offset: NDArray = ..., base: float = 10000.0, layout: Literal['halves', 'pairs'] = 'halves', use_offset: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Pair `i` of the last axis, of length `d`, turned by the angle `position * base^(-2 i / d)`."""
    ...

def round(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The integer next to `x`; halves away from 0."""
    ...

def rsqrt(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = 1 / sqrt x`; `dy/dx = -y^3 / 2`."""
    ...

def sample_exponential(lam: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the exponential distribution with rate `lam`, for each element of the arguments."""
    ...

def sample_gamma(alpha: NDArray, beta: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`, for each element of the arguments."""
    ...

def sample_generalized_negative_binomial(mu: NDArray, alpha: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of mean `mu` and variance `mu + alpha mu^2`, for each element of the arguments."""
    ...

def sample_multinomial(data: NDArray, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DTypeLike = 'int32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Classes, each drawn with the probability that the last axis of `data` has for it; with replacement."""
    ...

def sample_negative_binomial(k: NDArray, p: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """How many trials fail before `k` succeed, each with probability `p`, for each element of the arguments."""
    ...

def sample_normal(mu: NDArray, sigma: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`, for each element of the arguments."""
    ...

def sample_poisson(lam: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`, for each element of the arguments."""
    ...

def sample_uniform(low: NDArray, high: NDArray, shape: int | Sequence[int] = (), dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type, for each element of the arguments."""
    ...

def scatter_nd(data: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Zeros, with elements or parts written at points; of several at one point the last one stays."""
    ...

def searchsorted(a: NDArray, v: NDArray, side: Literal['left', 'right'] = 'left', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Where each element of `v` belongs in the ascending `a`; it has no gradient."""
    ...

def sgd_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`mom = momentum mom - lr (grad + wd weight)`, and then `weight = weight + mom`."""
    ...

def sgd_update(weight: NDArray, grad: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = (1 - lr wd) weight - lr grad`, where grad is rescaled and clipped first."""
    ...

def shape_array(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The lengths of the axes of `x`."""
    ...

def shuffle(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The items along the first axis in random order, every order as likely as the others."""
    ...

def sigmoid(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = 1 / (1 + e^-x)`; `dy/dx = y (1 - y)`."""
    ...

def sign(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """-1, 0 or 1, the sign of `x`; 0 for NaN."""
    ...

def signsgd_update(weight: NDArray, grad: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`weight = (1 - lr wd) weight - lr sign(grad)`, where the sign of NaN is 0."""
    ...

def signum_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, wd_lh: float = 0.0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`mom = momentum mom - (1 - momentum) (grad + wd weight)`, the negative of an average gradient."""
    ...

def silu(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x s(x)` with `s(x) = 1 / (1 + e^-x)`; `dy/dx = s + x s (1 - s)`."""
    ...

def sin(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sin x`; `dy/dx = cos x`."""
    ...

def sinh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = (e^x - e^-x) / 2`; `dy/dx = cosh x`."""
    ...

def size_array(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The number of elements of `x`."""
    ...

def slice(data: NDArray, begin: int | Sequence[int | None], end: int | Sequence[int | None], step: int | Sequence[int | None] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A part of the data, by begin, end and step on the leading axes."""
    ...

def slice_axis(data: NDArray, axis: int, begin: int, end: int | None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """A part of the data along one axis."""
    ...

def slice_like(data: NDArray, shape_like: NDArray, axes: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The leading part of the data that has another array's lengths."""
    ...

def softmax(data: NDArray, length: NDArray = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Exponentials that sum to one along an axis."""
    ...

def softmax_cross_entropy(data: NDArray, label: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Sum over the items of the cross-entropy of a label and the softmax of the scores."""
    ...

def softmin(data: NDArray, length: NDArray = ..., axis: int = -1, temperature: float | None = None, dtype: Literal['float16', 'float32', 'float64'] | None = None, use_length: bool | None = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The softmax of `-data`."""
    ...

def softsign(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x / (1 + |x|)`; `dy/dx = 1 / (1 + |x|)^2`."""
    ...

def sort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Elements in order along an axis."""
    ...

def space_to_depth(data: NDArray, block_size: int, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Blocks of pixels folded into channels."""
    ...

def split(data: NDArray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """Equal parts of the data along an axis."""
    ...

def sqrt(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sqrt x`; `dy/dx = 1 / (2 y)`."""
    ...

def square(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x^2`; `dy/dx = 2 x`."""
    ...

def squeeze(data: NDArray, axis: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data without axes of length 1."""
    ...

def stack(*data: NDArray | Sequence[NDArray], axis: int = 0, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The arrays along a new axis."""
    ...

def std(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The square root of the variance; `dy/dx = (x - mean) / ((n - ddof) y)`, and 0 where `y` is."""
    ...

def stop_gradient(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The array itself; no gradient goes back through it."""
    ...

def sum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum along axes; `dy/dx = 1`. Half precision is summed in single precision."""
    ...

def sum_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum along axes; `dy/dx = 1`. Half precision is summed in single precision."""
    ...

def swapaxes(data: NDArray, dim1: int = 0, dim2: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with two axes exchanged."""
    ...

def swiglu(gate: NDArray, value: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`silu(gate) value`; the gradients are `value silu'(gate)` and `silu(gate)`."""
    ...

def swish(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = x s(x)` with `s(x) = 1 / (1 + e^-x)`; `dy/dx = s + x s (1 - s)`."""
    ...

def take(a: NDArray, indices: NDArray, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Parts of an array along an axis, by their numbers."""
    ...

def take_along_axis(data: NDArray, indices: NDArray, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The elements at positions along an axis, one for each index; negative ones count from the end."""
    ...

def tan(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = tan x`; `dy/dx = 1 + y^2`."""
    ...

def tanh(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`y = sinh x / cosh x`; `dy/dx = 1 - y^2`."""
    ...

def tensordot(a: NDArray, b: NDArray, a_axes_summed: int | Sequence[int | None], b_axes_summed: int | Sequence[int | None], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""
    ...

def tile(data: NDArray, reps: int | Sequence[int], *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data repeated as a whole along each axis."""
    ...

def top_k_gating(data: NDArray, k: int = 2, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`softmax` of the `k` largest of each row; zeros elsewhere."""
    ...

def topk(data: NDArray, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """The first `k` elements in order along an axis: their numbers, their values, both, or a mask of them."""
    ...

def trace(data: NDArray, offset: int = 0, axis1: int = 0, axis2: int = 1, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The sum of a diagonal of matrices; `dy/dx` is 1 on it, else 0."""
    ...

def transpose(data: NDArray, axes: int | Sequence[int] = (), *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The data with its axes in another order."""
    ...

def tril(data: NDArray, k: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices, with 0 above diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def triu(data: NDArray, k: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Matrices, with 0 below diagonal `k`; `dy/dx = 1` elsewhere."""
    ...

def trunc(data: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """`x` rounded towards 0."""
    ...

def uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Context | None = None, dtype: DTypeLike | None = None, *, out: NDArray | Sequence[NDArray] | None = None, name: str | None = None) -> NDArray:
    """Numbers spread evenly over [low, high), rounded to the element type."""
    ...

def unique(data: NDArray, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> list[NDArray] | NDArray:
    """The different elements in ascending order, or the different parts along an axis; they have no gradient."""
    ...

def unravel_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The coordinates of each point, from its number."""
    ...

def var(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. `sym.var` makes a variable: symbols have it as `variance`."""
    ...

def variance(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The mean squared distance from the mean, of n - ddof elements; `dy/dx = 2 (x - mean) / (n - ddof)`. `sym.var` makes a variable: symbols have it as `variance`."""
    ...

def where(condition: NDArray, x: NDArray, y: NDArray, *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """The elements of `x` where the condition is not 0, and those of `y` elsewhere."""
    ...

def zeros_like(data: NDArray, dtype: DTypeLike = 'float32', *, out: NDArray | Sequence[NDArray] | None = None, ctx: Context | None = None, name: str | None = None) -> NDArray:
    """Zeros in the shape and element type of `x`."""
    ...
