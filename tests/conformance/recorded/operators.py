"""The operators that are recorded: MXNet 1.9.1's canonical names, by the plugin they belong to."""

from __future__ import annotations

from typing import Final

_UNARY = """
    abs sign round rint ceil floor trunc fix square sqrt rsqrt cbrt rcbrt exp log log10 log2 log1p expm1
    sin cos tan arcsin arccos arctan degrees radians sinh cosh tanh arcsinh arccosh arctanh gamma gammaln
    erf erfinv reciprocal negative relu sigmoid hard_sigmoid softsign logical_not clip _copy BlockGrad
    make_loss Cast zeros_like ones_like shape_array size_array _identity_with_attr_like_rhs
    _contrib_round_ste _contrib_sign_ste _contrib_gradientmultiplier amp_cast amp_multicast
"""
_BINARY = """
    elemwise_add elemwise_sub elemwise_mul elemwise_div _power _maximum _minimum _hypot _mod _equal
    _not_equal _greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor add_n
    _grad_add
"""
_SCALAR = """
    _plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _mod_scalar _rmod_scalar
    _power_scalar _rpower_scalar _maximum_scalar _minimum_scalar _hypot_scalar _equal_scalar
    _not_equal_scalar _greater_scalar _greater_equal_scalar _lesser_scalar _lesser_equal_scalar
    _logical_and_scalar _logical_or_scalar _logical_xor_scalar _scatter_elemwise_div _scatter_plus_scalar
    _scatter_minus_scalar _npi_arctan2_scalar _npi_copysign_scalar _npi_bitwise_and_scalar
    _npi_bitwise_or_scalar _npi_bitwise_xor_scalar
"""
_DISTRIBUTIONS = """
    uniform normal gamma exponential poisson negative_binomial generalized_negative_binomial
""".split()

OPERATORS: Final[dict[str, tuple[str, ...]]] = {
    plugin: tuple(names.split())
    for plugin, names in {
        "elemwise": _UNARY + _BINARY + _SCALAR,
        "broadcast": """
            broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power
            broadcast_maximum broadcast_minimum broadcast_hypot broadcast_equal broadcast_not_equal
            broadcast_greater broadcast_greater_equal broadcast_lesser broadcast_lesser_equal
            broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_to broadcast_axis
            broadcast_like
        """,
        "reduce": """
            sum mean prod nansum nanprod max min norm argmax argmin argmax_channel moments cumsum _npi_var
            _npi_std _npi_percentile
        """,
        "matrix": """
            dot batch_dot khatri_rao _linalg_gemm _linalg_gemm2 _linalg_potrf _linalg_potri _linalg_trmm
            _linalg_trsm _linalg_syrk _linalg_sumlogdiag _linalg_gelqf _linalg_syevd _linalg_inverse
            _linalg_det _linalg_slogdet _linalg_extractdiag _linalg_makediag _linalg_extracttrian
            _linalg_maketrian
        """,
        "shape": """
            Reshape Flatten transpose expand_dims squeeze SwapAxis slice slice_axis slice_like _slice_assign
            _slice_assign_scalar SliceChannel _split_v2 Concat stack tile repeat reverse Pad reshape_like
            depth_to_space space_to_depth diag im2col col2im Crop _rnn_param_concat
        """,
        "indexing": """
            take batch_take pick fill_element_0index one_hot _onehot_encode gather_nd scatter_nd
            _scatter_set_nd Embedding where sort argsort topk _ravel_multi_index _unravel_index _histogram
            _contrib_boolean_mask _contrib_index_copy _backward_gather_nd _contrib_index_array
            _npi_unique
        """,
        "init": "_zeros _ones _full _arange _linspace _eye _copyto _contrib_arange_like",
        "sampling": " ".join(
            [
                *(f"_random_{name}" for name in _DISTRIBUTIONS),
                "_random_randint",
                *(f"_random_{name}_like" for name in _DISTRIBUTIONS),
                *(f"_sample_{name}" for name in _DISTRIBUTIONS),
                "_sample_multinomial",
                "_shuffle",
            ]
        ),
        "fully_connected": "FullyConnected",
        "activation": "Activation LeakyReLU softmax softmin log_softmax SoftmaxActivation",
        "convolution": "Convolution Deconvolution UpSampling Convolution_v1",
        "pooling": "Pooling _contrib_AdaptiveAvgPooling2D Pooling_v1",
        "normalization": """
            BatchNorm LayerNorm GroupNorm InstanceNorm L2Normalization LRN BatchNorm_v1 _contrib_SyncBatchNorm
            _contrib_BatchNormWithReLU
        """,
        "dropout": "Dropout",
        "loss": """
            SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput SVMOutput
            MakeLoss softmax_cross_entropy IdentityAttachKLSparseReg
        """,
        "sequence": "SequenceMask SequenceLast SequenceReverse",
        "rnn": "RNN",
        "optimizer": """
            sgd_update sgd_mom_update nag_mom_update adam_update rmsprop_update rmspropalex_update
            ftrl_update ftml_update signsgd_update signum_update lamb_update_phase1 lamb_update_phase2
            mp_sgd_update mp_sgd_mom_update mp_nag_mom_update mp_lamb_update_phase1 mp_lamb_update_phase2
            multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update
            preloaded_multi_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_mp_sgd_update
            preloaded_multi_mp_sgd_mom_update _adamw_update _mp_adamw_update _multi_adamw_update
            _multi_mp_adamw_update _multi_lamb_update _multi_mp_lamb_update multi_sum_sq multi_lars
            multi_all_finite all_finite reset_arrays _contrib_group_adagrad_update
        """,
        "contrib": """
            smooth_l1 ROIPooling _contrib_ROIAlign CTCLoss GridGenerator BilinearSampler SpatialTransformer
            Correlation _contrib_box_iou _contrib_box_nms _contrib_MultiBoxPrior _contrib_MultiBoxTarget
            _contrib_MultiBoxDetection _contrib_interleaved_matmul_selfatt_qk
            _contrib_interleaved_matmul_selfatt_valatt _contrib_interleaved_matmul_encdec_qk
            _contrib_interleaved_matmul_encdec_valatt _contrib_fft _contrib_ifft _contrib_quadratic
            _contrib_count_sketch _contrib_allclose _contrib_div_sqrt_dim _contrib_box_encode
            _contrib_box_decode _contrib_bipartite_matching _contrib_PSROIPooling _contrib_RROIAlign
            _contrib_Proposal _contrib_MultiProposal _contrib_DeformableConvolution
            _contrib_ModulatedDeformableConvolution _contrib_DeformablePSROIPooling
            _contrib_BilinearResize2D _contrib_hawkesll _image_to_tensor _image_normalize _image_crop
            _image_resize _image_flip_left_right _image_flip_top_bottom _image_random_flip_left_right
            _image_random_flip_top_bottom _image_random_brightness _image_random_contrast
            _image_random_saturation _image_random_hue _image_random_color_jitter _image_adjust_lighting
            _image_random_lighting _random_pdf_uniform _random_pdf_normal _random_pdf_gamma
            _random_pdf_exponential _random_pdf_poisson _random_pdf_negative_binomial
            _random_pdf_generalized_negative_binomial _random_pdf_dirichlet
        """,
    }.items()
}

PLUGIN_OF: Final = {name: plugin for plugin, names in OPERATORS.items() for name in names}

UNBINDABLE: Final = frozenset({"fill_element_0index", "_onehot_encode", "reset_arrays"})
"""Operators whose binding ends MXNet's process; only their imperative calls are recorded."""
