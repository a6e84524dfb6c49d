"""Which first-party distribution provides what, so that a missing name can say what to install.

Only messages read this table; what is installed speaks for itself through its entry points. Names
are MXNet 1.x's, aliases included.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

_COMPARISONS: Final = "equal not_equal greater greater_equal lesser lesser_equal"
_LOGICALS: Final = "logical_and logical_or logical_xor"
_DISTRIBUTIONS: Final = (
    "uniform normal gamma exponential poisson negative_binomial generalized_negative_binomial"
)
_LINALG: Final = (
    "gemm gemm2 potrf potri trmm trsm syrk sumlogdiag gelqf syevd inverse det slogdet extractdiag makediag "
    "extracttrian maketrian"
)


def _each(words: str, prefix: str = "", suffix: str = "") -> str:
    return " ".join(f"{prefix}{word}{suffix}" for word in words.split())


_OPERATORS: Final = {
    "elemwise": " ".join(
        [
            "abs sign round rint ceil floor trunc fix square sqrt rsqrt cbrt rcbrt exp log log10 log2 log1p",
            "expm1 sin cos tan arcsin arccos arctan degrees radians sinh cosh tanh arcsinh arccosh arctanh",
            "gamma gammaln erf erfinv reciprocal negative relu sigmoid hard_sigmoid softsign logical_not",
            "clip identity _copy BlockGrad stop_gradient make_loss Cast cast zeros_like ones_like",
            "shape_array size_array _identity_with_attr_like_rhs elemwise_add elemwise_sub",
            "elemwise_mul elemwise_div _power _maximum _minimum _hypot _mod add_n ElementWiseSum",
            _each(f"{_COMPARISONS} {_LOGICALS}", "_"),
            "_plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _mod_scalar",
            "_rmod_scalar _power_scalar _rpower_scalar _maximum_scalar _minimum_scalar _hypot_scalar",
            _each(f"{_COMPARISONS} {_LOGICALS}", "_", "_scalar"),
        ]
    ),
    "broadcast": _each(
        f"add plus sub minus mul div mod power maximum minimum hypot {_COMPARISONS} {_LOGICALS} "
        "to axis axes like",
        "broadcast_",
    ),
    "reduce": "sum sum_axis mean prod nansum nanprod max max_axis min min_axis norm argmax argmin "
    "argmax_channel moments cumsum _np_cumsum",
    "matrix": f"dot batch_dot khatri_rao {_each(_LINALG, 'linalg_')} {_each(_LINALG, '_linalg_')}",
    "shape": "Reshape reshape Flatten flatten transpose expand_dims squeeze SwapAxis swapaxes slice crop "
    "slice_axis slice_like _slice_assign _slice_assign_scalar SliceChannel split _split_v2 Concat concat "
    "stack tile repeat reverse flip Pad pad reshape_like depth_to_space space_to_depth diag im2col col2im",
    "indexing": "take batch_take pick choose_element_0index fill_element_0index one_hot _onehot_encode "
    "gather_nd scatter_nd _scatter_set_nd _backward_gather_nd Embedding where sort argsort topk "
    "ravel_multi_index unravel_index _histogram boolean_mask index_copy",
    "init": "_zeros _ones _full _arange _linspace _eye _copyto _contrib_arange_like",
    "sampling": " ".join(
        [
            "uniform normal _random_randint _random_randint_like _sample_multinomial _shuffle",
            _each(_DISTRIBUTIONS, "_random_"),
            _each(_DISTRIBUTIONS, "_random_", "_like"),
            _each(_DISTRIBUTIONS, "_sample_"),
        ]
    ),
    "fully_connected": "FullyConnected",
    "activation": "Activation LeakyReLU softmax softmin log_softmax SoftmaxActivation",
    "convolution": "Convolution Deconvolution UpSampling",
    "pooling": "Pooling",
    "normalization": "BatchNorm LayerNorm GroupNorm InstanceNorm L2Normalization LRN",
    "dropout": "Dropout",
    "loss": "SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput SVMOutput "
    "MakeLoss softmax_cross_entropy",
    "sequence": "SequenceMask SequenceLast SequenceReverse",
    "rnn": "RNN",
    "optimizer": "sgd_update sgd_mom_update nag_mom_update adam_update rmsprop_update rmspropalex_update "
    "ftrl_update ftml_update signsgd_update signum_update lamb_update_phase1 lamb_update_phase2 "
    "mp_sgd_update mp_sgd_mom_update mp_nag_mom_update mp_lamb_update_phase1 mp_lamb_update_phase2 "
    "_lamb_norm _init_normal _init_uniform",
    "smooth_l1": "smooth_l1",
    "roi_pooling": "ROIPooling ROIAlign _contrib_ROIAlign",
    "ctc_loss": "ctc_loss CTCLoss",
    "spatial_transformer": "GridGenerator BilinearSampler SpatialTransformer",
    "correlation": "Correlation",
    "box": "box_iou box_nms MultiBoxPrior MultiBoxTarget MultiBoxDetection "
    + _each("box_iou box_nms MultiBoxPrior MultiBoxTarget MultiBoxDetection", "_contrib_"),
    "attention": _each("selfatt_qk selfatt_valatt encdec_qk encdec_valatt", "interleaved_matmul_")
    + " "
    + _each("selfatt_qk selfatt_valatt encdec_qk encdec_valatt", "_contrib_interleaved_matmul_"),
    "fft": "fft ifft _contrib_fft _contrib_ifft",
    "quadratic": "quadratic _contrib_quadratic",
    "count_sketch": "count_sketch _contrib_count_sketch",
    "allclose": "allclose _contrib_allclose",
}

_ENTRIES: Final = {
    "operad.operators": _OPERATORS,
    "operad.namespaces": {
        "optimizer": "optimizer lr_scheduler init initializer",
        "module": "mod module metric callback",
        "recordio": "recordio",
        "image": "image",
    },
    "operad.kvstores": {
        "kvstore_ray": "dist_sync dist_async dist_device_sync",
    },
    "operad.iterators": {
        "recordio": "NDArrayIter CSVIter LibSVMIter MNISTIter RecordIter ImageRecordIter "
        "PrefetchingIter ResizeIter",
    },
}


@cache
def providers(group: str) -> Mapping[str, str]:
    """The distribution to install for each first-party name in `group`."""
    return {
        name: f"operad-{plugin.replace('_', '-')}"
        for plugin, names in _ENTRIES.get(group, {}).items()
        for name in names.split()
    }
