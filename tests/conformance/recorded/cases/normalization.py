"""Cases of BatchNorm, LayerNorm, GroupNorm, InstanceNorm, L2Normalization and LRN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

Shape = tuple[int, ...]


def batch_norm(
    name: str,
    data: Recipe,
    channels: int,
    *,
    state_dtype: str = "float32",
    is_train: bool = True,
    **params: Any,
) -> Case:
    """Data, gamma, beta, and the moving mean and variance, which get no gradient."""
    vectors = (
        normal(channels, dtype=state_dtype),
        normal(channels, dtype=state_dtype),
        normal(channels, dtype=state_dtype),
        uniform(channels, low=0.5, high=2.0, dtype=state_dtype),
    )
    return Case("BatchNorm", name, (data, *vectors), params, grad=(0, 1, 2), is_train=is_train)


def batch_norms() -> Iterator[Case]:
    """Each combination of training and statistics, then shapes and dtypes."""
    free: dict[str, Any] = {"fix_gamma": False}
    for fix_gamma in (True, False):
        for use_global_stats in (True, False):
            for is_train in (True, False):
                words = (
                    "fixed_gamma" if fix_gamma else "free_gamma",
                    "global_statistics" if use_global_stats else "batch_statistics",
                    "trains" if is_train else "predicts",
                )
                flags: dict[str, Any] = {"fix_gamma": fix_gamma, "use_global_stats": use_global_stats}
                yield batch_norm("_".join(words), normal(4, 3, 2), 3, is_train=is_train, **flags)
    for is_train in (True, False):
        word = "trains" if is_train else "predicts"
        yield batch_norm(f"defaults_{word}", normal(4, 3), 3, is_train=is_train)
        for fix_gamma in (True, False):
            flags = {"fix_gamma": fix_gamma, "output_mean_var": True}
            label = f"mean_and_variance_{'fixed' if fix_gamma else 'free'}_gamma_{word}"
            yield batch_norm(label, normal(2, 3, 2, 2), 3, is_train=is_train, **flags)
        yield batch_norm(f"last_axis_{word}", normal(2, 3, 4), 4, is_train=is_train, axis=-1, **free)
    yield batch_norm("axis_0", normal(3, 4), 3, axis=0, **free)
    yield batch_norm("axis_2", normal(2, 3, 4, 2), 4, axis=2, **free)
    yield batch_norm("last_axis_mean_and_variance", normal(2, 2, 3), 3, axis=2, output_mean_var=True, **free)
    yield batch_norm("eps", normal(4, 3), 3, eps=0.5, **free)
    yield batch_norm("momentum", normal(4, 3), 3, momentum=0.5, **free)
    yield batch_norm("momentum_0", normal(4, 3), 3, momentum=0.0, **free)
    yield batch_norm("momentum_1", normal(4, 3), 3, momentum=1.0, **free)
    yield batch_norm("four_axes", normal(2, 3, 2, 3), 3, **free)
    yield batch_norm("five_axes", normal(2, 2, 2, 1, 2), 2, **free)
    yield batch_norm("one_channel", normal(4, 1, 3), 1, **free)
    yield batch_norm("one_sample_of_an_image", normal(1, 2, 2, 3), 2, **free)
    yield batch_norm("one_value_per_channel", normal(1, 3), 3, **free)
    yield batch_norm("equal_values", exactly([[2.0, -1.0]] * 3), 2, **free)
    yield batch_norm("mean_of_ten", normal(6, 2, mean=10.0), 2, **free)
    yield batch_norm("cudnn_off", normal(4, 3), 3, cudnn_off=True, **free)
    double = normal(4, 3, 2, dtype="float64")
    half = normal(4, 3, 2, dtype="float16")
    for is_train in (True, False):
        word = "trains" if is_train else "predicts"
        yield batch_norm(f"float64_{word}", double, 3, state_dtype="float64", is_train=is_train, **free)
        yield batch_norm(f"float16_{word}", half, 3, is_train=is_train, **free)
    yield batch_norm(
        "inf_and_nan", exactly([[float("inf"), 1.0], [1.0, float("nan")], [0.0, 2.0]]), 2, **free
    )


def layer_norms() -> Iterator[Case]:
    """Any one axis."""
    shapes: list[tuple[str, Shape, int, dict[str, Any]]] = [
        ("defaults", (3, 4), 4, {}),
        ("axis_0", (3, 4), 3, {"axis": 0}),
        ("axis_1", (2, 3, 4), 3, {"axis": 1}),
        ("last_axis_by_number", (2, 3, 4), 4, {"axis": 2}),
        ("axis_minus_2", (2, 3, 2), 3, {"axis": -2}),
        ("eps", (3, 4), 4, {"eps": 0.5}),
        ("mean_and_deviation", (3, 4), 4, {"output_mean_var": True}),
        ("mean_and_deviation_axis_1", (2, 3, 2), 3, {"output_mean_var": True, "axis": 1}),
        ("one_axis", (5,), 5, {}),
        ("one_row", (1, 4), 4, {}),
        ("axis_of_length_one", (3, 1), 1, {}),
        ("axis_of_length_two", (3, 2), 2, {}),
        ("long_axis", (2, 70), 70, {}),
    ]
    for name, shape, length, params in shapes:
        yield Case("LayerNorm", name, (normal(*shape), normal(length), normal(length)), params)
    for dtype in ("float64", "float16"):
        inputs = (normal(3, 4, dtype=dtype), normal(4, dtype=dtype), normal(4, dtype=dtype))
        yield Case("LayerNorm", dtype, inputs)
        yield Case("LayerNorm", f"{dtype}_axis_0", (normal(4, 3, dtype=dtype), *inputs[1:]), {"axis": 0})
    yield Case("LayerNorm", "equal_values", (exactly([[2.0, 2.0, 2.0]]), normal(3), normal(3)))
    yield Case("LayerNorm", "mean_of_ten", (normal(2, 5, mean=10.0), normal(5), normal(5)))
    yield Case(
        "LayerNorm",
        "inf_and_nan",
        (exactly([[float("inf"), 1.0], [float("nan"), 0.0]]), normal(2), normal(2)),
    )
    yield Case("LayerNorm", "refused_gamma_of_another_length", (normal(3, 4), normal(3), normal(4)))


def group_norms() -> Iterator[Case]:
    """Cases of GroupNorm: gamma and beta have one entry per group."""
    shapes: list[tuple[str, Shape, dict[str, Any]]] = [
        ("defaults", (2, 4, 3), {}),
        ("two_groups", (2, 4, 3), {"num_groups": 2}),
        ("a_group_per_channel", (2, 3, 4), {"num_groups": 3}),
        ("four_axes", (2, 4, 2, 2), {"num_groups": 2}),
        ("five_axes", (1, 2, 2, 1, 2), {"num_groups": 2}),
        ("eps", (2, 4, 3), {"num_groups": 2, "eps": 0.5}),
        ("mean_and_deviation", (2, 4, 3), {"num_groups": 2, "output_mean_var": True}),
        ("one_sample", (1, 4, 2), {"num_groups": 4}),
        ("one_value_per_group", (2, 2, 1), {"num_groups": 2}),
    ]
    for name, shape, params in shapes:
        groups = params.get("num_groups", 1)
        yield Case("GroupNorm", name, (normal(*shape), normal(groups), normal(groups)), params)
    for dtype in ("float64", "float16"):
        inputs = (normal(2, 4, 2, dtype=dtype), normal(2, dtype=dtype), normal(2, dtype=dtype))
        yield Case("GroupNorm", dtype, inputs, {"num_groups": 2})
    inputs = (normal(2, 4, 3), normal(3), normal(3))
    yield Case("GroupNorm", "refused_groups_that_do_not_divide", inputs, {"num_groups": 3})
    inputs = (normal(2, 4, 3), normal(4), normal(4))
    yield Case("GroupNorm", "refused_gamma_per_channel", inputs, {"num_groups": 2})


def instance_norms() -> Iterator[Case]:
    """One mean and variance for each sample and channel."""
    shapes: list[tuple[str, Shape, dict[str, Any]]] = [
        ("defaults", (2, 3, 4), {}),
        ("four_axes", (2, 3, 2, 2), {}),
        ("five_axes", (1, 2, 2, 2, 2), {}),
        ("eps", (2, 3, 4), {"eps": 0.5}),
        ("one_sample", (1, 2, 3), {}),
        ("one_channel", (2, 1, 3), {}),
        ("one_value_per_channel", (2, 3, 1), {}),
    ]
    for name, shape, params in shapes:
        yield Case("InstanceNorm", name, (normal(*shape), normal(shape[1]), normal(shape[1])), params)
    inputs = (normal(2, 2, 3, dtype="float64"), normal(2, dtype="float64"), normal(2, dtype="float64"))
    yield Case("InstanceNorm", "refused_float64", inputs)
    yield Case("InstanceNorm", "equal_values", (exactly([[[2.0, 2.0]]]), normal(1), normal(1)))
    yield Case("InstanceNorm", "refused_gamma_of_another_length", (normal(2, 3, 4), normal(2), normal(3)))


def l2_normalizations() -> Iterator[Case]:
    """Over a sample, over channels, over what lies behind channels."""
    for mode in ("instance", "channel", "spatial"):
        recipes: list[tuple[str, Recipe, dict[str, Any]]] = [
            ("three_axes", normal(2, 3, 4), {}),
            ("four_axes", normal(2, 3, 2, 2), {}),
            ("eps", normal(2, 2, 3), {"eps": 0.5}),
            ("zeros", exactly([[[0.0, 0.0], [0.0, 0.0]]]), {}),
            ("one_value", normal(1, 1, 1), {}),
            ("one_sample", normal(1, 2, 3), {}),
            ("float64", normal(2, 2, 3, dtype="float64"), {}),
            ("float16", normal(2, 2, 3, dtype="float16"), {}),
        ]
        for name, data, params in recipes:
            yield Case("L2Normalization", f"{mode}_{name}", (data,), {"mode": mode, **params})
    yield Case("L2Normalization", "defaults", (normal(3, 4),))
    yield Case("L2Normalization", "one_axis", (normal(4),))
    yield Case("L2Normalization", "refused_spatial_of_two_axes", (normal(3, 4),), {"mode": "spatial"})


def lrns() -> Iterator[Case]:
    """A window over neighbouring channels."""
    cases: list[tuple[str, Shape, dict[str, Any]]] = [
        ("defaults", (2, 5, 2, 2), {"nsize": 3}),
        ("five_channels", (1, 7, 2, 2), {"nsize": 5}),
        ("window_of_one", (1, 3, 2, 2), {"nsize": 1}),
        ("window_beyond_the_channels", (1, 3, 2, 2), {"nsize": 7}),
        ("one_channel", (2, 1, 2, 2), {"nsize": 3}),
        ("strong", (2, 4, 2, 1), {"nsize": 3, "alpha": 1.0}),
        ("beta", (1, 4, 2, 2), {"nsize": 3, "alpha": 0.5, "beta": 0.5}),
        ("beta_beyond_one", (1, 4, 1, 2), {"nsize": 3, "alpha": 0.5, "beta": 2.0}),
        ("knorm", (1, 4, 2, 2), {"nsize": 3, "alpha": 0.5, "knorm": 0.25}),
        ("alpha_zero", (1, 4, 1, 1), {"nsize": 3, "alpha": 0.0}),
    ]
    for name, shape, params in cases:
        yield Case("LRN", name, (normal(*shape),), params)
    yield Case("LRN", "even_window", (normal(1, 4, 2, 2),), {"nsize": 2, "alpha": 0.5})
    yield Case("LRN", "refused_float64", (normal(1, 4, 2, 2, dtype="float64"),), {"nsize": 3})


CASES: list[Case] = [
    *batch_norms(),
    *layer_norms(),
    *group_norms(),
    *instance_norms(),
    *l2_normalizations(),
    *lrns(),
]
