"""Cases of operators that MXNet itself replaced, or has for sparse arrays alone."""

from __future__ import annotations

from tests.conformance.recorded.case import Case, exactly, integers, normal, uniform
from tests.conformance.recorded.cases.normalization_old import cases as batch_norm_cases

_IMAGES = normal(2, 3, 5, 6)
_POOLED: dict[str, dict[str, object]] = {
    "max": {"kernel": (2, 2), "stride": (2, 2)},
    "mean_with_padding": {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"},
    "sum_rounded_up": {"kernel": (2, 2), "stride": (3, 3), "pool_type": "sum", "pooling_convention": "full"},
    "global_mean": {"kernel": (2, 2), "pool_type": "avg", "global_pool": True},
}
_SCALARS = ("_scatter_plus_scalar", "_scatter_minus_scalar")

CASES: list[Case] = [
    Case("Crop", "offset", [_IMAGES], {"num_args": 1, "h_w": (2, 3), "offset": (1, 2)}),
    Case("Crop", "center", [_IMAGES], {"num_args": 1, "h_w": (3, 2), "center_crop": True}),
    Case("Crop", "like_another", [_IMAGES, normal(2, 1, 3, 4)], {"num_args": 2, "offset": (1, 1)}),
    Case("Crop", "center_like_another", [_IMAGES, normal(2, 1, 2, 4)], {"num_args": 2, "center_crop": True}),
    Case(
        "Convolution_v1", "bias", [_IMAGES, normal(4, 3, 2, 3), normal(4)],
        {"kernel": (2, 3), "num_filter": 4},
    ),
    Case(
        "Convolution_v1", "groups_stride_pad", [normal(2, 4, 5, 6), normal(4, 2, 3, 3)],
        {"kernel": (3, 3), "num_filter": 4, "num_group": 2, "stride": (2, 1), "pad": (1, 1), "no_bias": True},
    ),
    *(Case("Pooling_v1", name, [_IMAGES], params) for name, params in _POOLED.items()),
    Case("_rnn_param_concat", "vectors", [normal(3), normal(4), normal(2)], {"num_args": 3, "dim": 0}),
    Case("_rnn_param_concat", "columns", [normal(2, 3), normal(2, 1)], {"num_args": 2}),
    Case("_scatter_elemwise_div", "numbers", [normal(2, 3), uniform(2, 3, low=0.5, high=2)]),
    *(Case(op, "numbers", [normal(2, 3)], {"scalar": 2.5}) for op in _SCALARS),
    *(Case(op, "integers", [integers(2, 3, dtype="int32")], {"scalar": 2}) for op in _SCALARS),
    *batch_norm_cases("_contrib_BatchNormWithReLU", {}),
    Case(
        "IdentityAttachKLSparseReg", "training", [uniform(4, 3, low=0.1, high=0.9), exactly([0.3, 0.5, 0.2])],
        {"sparseness_target": 0.2, "penalty": 0.5, "momentum": 0.8},
    ),
    Case(
        "IdentityAttachKLSparseReg", "prediction",
        [uniform(4, 3, low=0.1, high=0.9), exactly([0.3, 0.5, 0.2])],
        is_train=False,
    ),
]  # fmt: skip
