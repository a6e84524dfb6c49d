"""Cases of operators that sample images: grids, bilinear interpolation, correlation of patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

IDENTITY = exactly([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
TURNED = exactly([[0.8, -0.6, 0.13, 0.6, 0.8, -0.17], [1.2, 0.0, 0.3, 0.1, 0.7, 0.0]])


def grids() -> Iterator[Case]:
    """Affine maps of a regular grid, or the grid moved by a flow in pixels."""
    affine = {"transform_type": "affine"}
    rows: list[tuple[str, Recipe, dict[str, Any]]] = [
        ("identity", IDENTITY, {**affine, "target_shape": (2, 3)}),
        ("affine", TURNED, {**affine, "target_shape": (3, 2)}),
        ("affine_one_row", TURNED, {**affine, "target_shape": (2, 4)}),
        ("refused_affine_float64", normal(2, 6, dtype="float64"), {**affine, "target_shape": (2, 2)}),
        ("warp", normal(2, 2, 3, 4), {"transform_type": "warp"}),
        ("warp_still", exactly([[[[0.0, 0.0], [0.0, 0.0]]] * 2]), {"transform_type": "warp"}),
        ("warp_square", normal(1, 2, 2, 2), {"transform_type": "warp"}),
        ("refused_warp_float64", normal(1, 2, 2, 3, dtype="float64"), {"transform_type": "warp"}),
    ]
    for name, data, params in rows:
        yield Case("GridGenerator", name, (data,), params)
    yield Case(
        "GridGenerator", "one_pixel_nan", (TURNED,), {"transform_type": "affine", "target_shape": (1, 1)}
    )


def samplers() -> Iterator[Case]:
    """Bilinear samples, which are zero beyond the edge."""
    rows: list[tuple[str, Recipe, Recipe]] = [
        ("defaults", normal(2, 2, 3, 4), uniform(2, 2, 2, 3)),
        ("beyond_the_edge", normal(1, 1, 3, 3), uniform(1, 2, 3, 3, low=-1.6, high=1.6)),
        ("far_beyond_the_edge_zero", normal(1, 1, 2, 2), exactly([[[[5.0, -5.0]], [[0.0, 9.0]]]])),
        ("corners", normal(1, 1, 3, 3), exactly([[[[-1.0, 1.0, 1.0]], [[-1.0, -1.0, 1.0]]]])),
        ("on_pixels", normal(1, 2, 3, 3), exactly([[[[0.0, 0.0, 1.0]], [[0.0, -1.0, 0.0]]]])),
        ("larger_output", normal(1, 1, 2, 2), uniform(1, 2, 4, 4)),
        ("one_row", normal(1, 1, 1, 4), uniform(1, 2, 1, 3)),
        ("float64", normal(1, 2, 3, 3, dtype="float64"), uniform(1, 2, 2, 2, dtype="float64")),
    ]
    for name, data, grid in rows:
        yield Case("BilinearSampler", name, (data, grid))


def transformers() -> Iterator[Case]:
    """An affine grid and bilinear sampling in one."""
    params: dict[str, Any] = {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (3, 2)}
    rows: list[tuple[str, Recipe, Recipe, dict[str, Any]]] = [
        ("defaults", normal(2, 2, 3, 4), TURNED, {}),
        ("identity", normal(1, 1, 3, 3), IDENTITY, {"target_shape": (3, 3)}),
        ("larger_output", normal(1, 1, 2, 2), IDENTITY, {"target_shape": (4, 5)}),
        ("shrinks", normal(1, 2, 4, 4), exactly([[0.5, 0.0, 0.2, 0.0, 0.5, -0.2]]), {"target_shape": (2, 2)}),
        ("beyond_the_edge", normal(1, 1, 3, 3), exactly([[2.0, 0.3, 0.1, -0.2, 1.5, 0.0]]), {}),
        ("same_size_as_data", normal(1, 1, 3, 2), normal(1, 6, scale=0.7), {"target_shape": (3, 2)}),
        (
            "float64",
            normal(1, 1, 3, 3, dtype="float64"),
            exactly([[0.8, -0.6, 0.13, 0.6, 0.8, -0.17]], "float64"),
            {},
        ),
    ]
    for name, data, location, more in rows:
        grad = (0,) if location is IDENTITY else (0, 1)  # on pixels the slope depends on rounding
        yield Case("SpatialTransformer", name, (data, location), {**params, **more}, grad=grad)


def correlations() -> Iterator[Case]:
    """Products, or absolute differences, of patches of two maps."""
    rows: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
        ("defaults", (1, 2, 4, 4), {}),
        ("padded", (2, 2, 3, 3), {"pad_size": 1}),
        ("kernel_of_three", (1, 1, 5, 5), {"kernel_size": 3, "pad_size": 1}),
        ("displacement_of_two", (1, 2, 4, 4), {"max_displacement": 2, "pad_size": 2}),
        ("displacement_of_zero", (1, 2, 3, 3), {"max_displacement": 0}),
        ("stride1", (1, 1, 5, 5), {"stride1": 2, "pad_size": 1}),
        ("stride2", (1, 1, 5, 5), {"stride2": 2, "max_displacement": 2, "pad_size": 2}),
        ("both_strides", (1, 1, 6, 6), {"stride1": 2, "stride2": 2, "max_displacement": 2, "pad_size": 2}),
        ("kernel_and_displacement", (1, 2, 5, 5), {"kernel_size": 3, "max_displacement": 1, "pad_size": 2}),
    ]
    for is_multiply in (True, False):
        word = "product" if is_multiply else "difference"
        for name, shape, params in rows:
            inputs = (normal(*shape), normal(*shape))
            yield Case("Correlation", f"{word}_{name}", inputs, {**params, "is_multiply": is_multiply})
    double = (normal(1, 1, 3, 3, dtype="float64"), normal(1, 1, 3, 3, dtype="float64"))
    yield Case("Correlation", "float64", double, {"pad_size": 1})


GROUPS = (grids, samplers, transformers, correlations)

CASES: list[Case] = [case for group in GROUPS for case in group()]
