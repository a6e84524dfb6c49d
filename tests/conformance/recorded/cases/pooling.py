"""Cases of Pooling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, exactly, normal, permutation

Shape = tuple[int, ...]

# MXNet takes this convention for one spatial axis only, and then reads three elements of `pad`. Where it is
# used for a maximum the data are float64: MXNet's oneDNN kernel refuses it.
SAME: dict[str, Any] = {"pooling_convention": "same", "pad": (0, 0, 0)}

POOL_TYPES: tuple[dict[str, Any], ...] = (
    {"pool_type": "max"},
    {"pool_type": "avg"},
    {"pool_type": "sum"},
    {"pool_type": "lp", "p_value": 1},
    {"pool_type": "lp", "p_value": 2},
    {"pool_type": "lp", "p_value": 3},
)


def pooling(name: str, data: Shape, *, dtype: str = "float32", **params: Any) -> Case:
    """No ties, so that the gradient of a maximum goes one way."""
    recipe = (
        permutation(*data, dtype=dtype)
        if params.get("pool_type", "max") == "max"
        else normal(*data, dtype=dtype)
    )
    return Case("Pooling", name, (recipe,), params)


def every_type() -> Iterator[Case]:
    """Each kind of pooling over one, two and three spatial axes."""
    windows: list[tuple[str, Shape, dict[str, Any]]] = [
        ("plain", (2, 2, 4, 5), {"kernel": (2, 3)}),
        ("stride_and_pad", (1, 2, 5, 6), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
        ("rest", (1, 2, 6, 5), {"kernel": (3, 2), "stride": (2, 2)}),
        ("rest_full", (1, 2, 6, 5), {"kernel": (3, 2), "stride": (2, 2), "pooling_convention": "full"}),
        (
            "rest_full_pad",
            (1, 1, 6, 6),
            {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full"},
        ),
        ("global", (2, 2, 3, 4), {"kernel": (2, 2), "global_pool": True}),
        ("global_without_kernel", (2, 2, 3, 4), {"global_pool": True}),
        ("width", (2, 2, 6), {"kernel": (3,), "stride": (2,)}),
        ("width_pad", (1, 2, 5), {"kernel": (2,), "stride": (2,), "pad": (1,)}),
        ("width_same", (1, 2, 5), {"kernel": (2,), "stride": (2,), **SAME, "dtype": "float64"}),
        ("width_full", (1, 2, 6), {"kernel": (3,), "stride": (2,), "pooling_convention": "full"}),
        ("width_global", (2, 2, 4), {"kernel": (1,), "global_pool": True}),
        ("depth", (1, 2, 3, 3, 4), {"kernel": (2, 2, 2)}),
        ("depth_stride_pad", (1, 1, 3, 4, 3), {"kernel": (2, 3, 2), "stride": (2, 2, 1), "pad": (1, 1, 1)}),
        (
            "depth_full",
            (1, 1, 3, 4, 4),
            {"kernel": (2, 3, 2), "stride": (2, 2, 2), "pooling_convention": "full"},
        ),
        ("depth_global", (1, 2, 2, 3, 2), {"kernel": (1, 1, 1), "global_pool": True}),
        ("kernel_as_large_as_the_data", (1, 2, 3, 4), {"kernel": (3, 4)}),
        ("kernel_of_one", (1, 2, 3, 3), {"kernel": (1, 1)}),
        ("kernel_of_one_stride", (1, 1, 4, 5), {"kernel": (1, 1), "stride": (2, 3)}),
        ("one_pixel", (2, 1, 1, 1), {"kernel": (1, 1)}),
        ("one_pixel_padded", (1, 1, 1, 1), {"kernel": (3, 3), "pad": (1, 1)}),
        ("float64", (1, 2, 4, 4), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "dtype": "float64"}),
        ("float16", (1, 1, 4, 4), {"kernel": (2, 2), "stride": (2, 2), "dtype": "float16"}),
    ]
    for kind in POOL_TYPES:
        label = f"{kind['pool_type']}{kind.get('p_value', '')}"
        for name, data, params in windows:
            yield pooling(f"{label}_{name}", data, **params, **kind)


def padding_in_averages() -> Iterator[Case]:
    """Averages with and without padding, where windows hang over each edge."""
    windows: list[tuple[str, Shape, dict[str, Any]]] = [
        ("pad", (1, 1, 4, 4), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
        ("full", (1, 1, 6, 5), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
        (
            "pad_full",
            (1, 1, 6, 6),
            {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full"},
        ),
        ("width", (1, 2, 5), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
        ("width_same", (1, 2, 5), {"kernel": (2,), "stride": (2,), **SAME}),
        ("depth", (1, 1, 3, 3, 3), {"kernel": (2, 2, 2), "stride": (2, 2, 2), "pad": (1, 1, 1)}),
        ("global", (1, 2, 3, 3), {"kernel": (2, 2), "global_pool": True, "pad": (1, 1)}),
    ]
    for name, data, params in windows:
        for counts in (True, False):
            label = "counts" if counts else "excludes"
            params = {**params, "pool_type": "avg", "count_include_pad": counts}
            yield pooling(f"avg_{label}_padding_{name}", data, **params)


CASES: list[Case] = [
    *every_type(),
    *padding_in_averages(),
    pooling("defaults", (1, 2, 4, 4), kernel=(2, 2)),
    pooling("layout_named", (1, 2, 4, 4), kernel=(2, 2), layout="NCHW"),
    pooling("layout_named_width", (1, 2, 4), kernel=(2,), layout="NCW", pool_type="avg"),
    pooling("layout_named_depth", (1, 2, 2, 3, 2), kernel=(2, 2, 2), layout="NCDHW", pool_type="sum"),
    pooling("stride_beyond_the_kernel", (1, 1, 7, 7), kernel=(2, 2), stride=(3, 4)),
    pooling(
        "global_ignores_stride_and_pad",
        (1, 2, 3, 3),
        kernel=(2, 2),
        global_pool=True,
        stride=(2, 2),
        pad=(1, 1),
    ),
    pooling("cudnn_off", (1, 1, 3, 3), kernel=(2, 2), cudnn_off=True),
    pooling("width_pad_as_long_as_the_kernel", (1, 1, 4), kernel=(2,), pad=(2,), pool_type="sum"),
    Case("Pooling", "max_of_ties", (exactly([[[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]]]),), {"kernel": (2, 2)}),
    Case(
        "Pooling",
        "max_of_ties_in_overlapping_windows",
        (exactly([[[[1.0, 2.0, 2.0, 1.0], [2.0, 2.0, 1.0, 2.0]]]]),),
        {"kernel": (2, 2)},
    ),
    Case(
        "Pooling",
        "max_of_negative_values_padded",
        (exactly([[[[-3.0, -2.0], [-1.0, -4.0]]]]),),
        {"kernel": (2, 2), "pad": (1, 1)},
    ),
    Case(
        "Pooling",
        "lp2_of_zeros_with_nan_gradient",
        (exactly([[[[0.0, 0.0], [0.0, 0.0]]]]),),
        {"kernel": (2, 2), "pool_type": "lp", "p_value": 2},
    ),
    *(
        Case(
            "Pooling",
            f"{pool_type}_of_inf_and_nan",
            (exactly([[[[float("nan"), 1.0, -float("inf")], [2.0, float("inf"), -float("inf")]]]]),),
            {"kernel": (2, 1), "pool_type": pool_type},
        )
        for pool_type in ("max", "avg", "sum")
    ),
    pooling("refused_kernel_larger_than_the_data", (1, 1, 2, 2), kernel=(3, 3)),
    pooling("refused_lp_without_p", (1, 1, 3, 3), kernel=(2, 2), pool_type="lp"),
    pooling("refused_same_convention_of_two_axes", (1, 1, 3, 3), kernel=(2, 2), pooling_convention="same"),
]
