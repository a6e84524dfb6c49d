"""Cases of Convolution, Deconvolution and UpSampling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, exactly, integers, normal

Shape = tuple[int, ...]


def convolution(
    name: str, data: Shape, kernel: Shape, num_filter: int = 2, *, dtype: str = "float32", **params: Any
) -> Case:
    """A convolution with a weight of (num_filter, channels / groups, *kernel)."""
    weight = (num_filter, data[1] // params.get("num_group", 1), *kernel)
    inputs = [normal(*data, dtype=dtype), normal(*weight, dtype=dtype)]
    if not params.get("no_bias", False):
        inputs.append(normal(num_filter, dtype=dtype))
    return Case("Convolution", name, inputs, {"kernel": kernel, "num_filter": num_filter, **params})


def deconvolution(
    name: str, data: Shape, kernel: Shape, num_filter: int = 2, *, dtype: str = "float32", **params: Any
) -> Case:
    """A transposed convolution with a weight of (channels, num_filter / groups, *kernel)."""
    weight = (data[1], num_filter // params.get("num_group", 1), *kernel)
    inputs = [normal(*data, dtype=dtype), normal(*weight, dtype=dtype)]
    if not params.get("no_bias", True):
        inputs.append(normal(num_filter, dtype=dtype))
    return Case("Deconvolution", name, inputs, {"kernel": kernel, "num_filter": num_filter, **params})


def convolutions_of_images() -> Iterator[Case]:
    """Convolutions whose windows end where the data does, and earlier."""
    yield convolution("defaults", (2, 2, 4, 5), (3, 2))
    yield convolution("no_bias", (2, 2, 4, 5), (3, 3), no_bias=True)
    yield convolution("stride", (1, 2, 6, 7), (3, 3), stride=(2, 3))
    yield convolution("stride_of_one_axis", (1, 2, 5, 5), (2, 2), stride=(1, 2))
    yield convolution("pad", (1, 2, 3, 4), (3, 3), pad=(1, 2))
    yield convolution("pad_beyond_the_kernel", (1, 1, 2, 2), (2, 2), pad=(2, 3))
    yield convolution("dilate", (1, 2, 6, 7), (3, 2), dilate=(2, 3))
    yield convolution("dilate_pad_stride", (1, 2, 6, 7), (3, 2), dilate=(2, 3), pad=(1, 2), stride=(2, 1))
    yield convolution("stride_that_leaves_a_rest", (1, 1, 6, 6), (3, 3), stride=(2, 2))
    yield convolution("stride_beyond_the_kernel", (1, 1, 7, 7), (2, 2), stride=(3, 4))
    yield convolution("groups", (2, 4, 3, 4), (2, 2), 6, num_group=2)
    yield convolution("groups_no_bias", (1, 4, 3, 4), (2, 2), 4, num_group=2, no_bias=True)
    yield convolution("depthwise", (1, 3, 4, 4), (3, 3), 3, num_group=3, pad=(1, 1))
    yield convolution("depthwise_two_filters_a_channel", (1, 2, 3, 4), (2, 2), 4, num_group=2, stride=(1, 2))
    yield convolution("pointwise", (2, 3, 2, 3), (1, 1), 4)
    yield convolution("pointwise_stride", (1, 3, 4, 5), (1, 1), 2, stride=(2, 2))
    yield convolution("pointwise_pad", (1, 2, 2, 2), (1, 1), 2, pad=(1, 1))
    yield convolution("kernel_as_large_as_the_data", (2, 2, 3, 4), (3, 4))
    yield convolution("one_pixel", (1, 1, 1, 1), (1, 1), 1)
    yield convolution("one_pixel_padded", (1, 1, 1, 1), (3, 3), 1, pad=(1, 1))
    yield convolution("one_row", (1, 2, 1, 6), (1, 3))
    yield convolution("one_channel_many_filters", (1, 1, 3, 3), (2, 2), 9)
    yield convolution("layout_named", (1, 2, 4, 4), (3, 3), layout="NCHW")
    yield convolution("hints_for_a_gpu", (1, 2, 4, 4), (3, 3), cudnn_tune="off", cudnn_off=True, workspace=16)


def other_convolutions() -> Iterator[Case]:
    """One and three spatial axes, other dtypes and values, refusals."""
    yield convolution("width_defaults", (2, 2, 6), (3,))
    yield convolution("width_stride_pad_dilate", (2, 2, 8), (3,), stride=(2,), pad=(2,), dilate=(2,))
    yield convolution("width_groups", (1, 4, 5), (2,), 4, num_group=2)
    yield convolution("width_no_bias", (1, 3, 5), (2,), no_bias=True)
    yield convolution("width_layout_named", (1, 2, 4), (3,), layout="NCW")
    yield convolution("width_one", (2, 3, 1), (1,))
    yield convolution("depth_defaults", (1, 2, 3, 3, 3), (2, 2, 2))
    yield convolution("depth_stride_pad", (1, 1, 3, 4, 4), (2, 3, 2), stride=(2, 1, 2), pad=(1, 0, 1))
    yield convolution("depth_dilate", (1, 1, 4, 3, 5), (2, 2, 2), dilate=(2, 1, 3))
    yield convolution("depth_groups_no_bias", (1, 2, 3, 3, 2), (2, 2, 2), num_group=2, no_bias=True)
    yield convolution("depth_layout_named", (1, 1, 2, 3, 3), (2, 2, 2), layout="NCDHW")
    yield convolution("float64", (1, 2, 4, 5), (3, 3), dtype="float64", pad=(1, 1))
    yield convolution("float64_width", (1, 2, 5), (3,), dtype="float64", stride=(2,))
    yield convolution("float64_depth", (1, 1, 3, 3, 3), (2, 2, 2), dtype="float64")
    yield convolution("float64_groups", (1, 4, 3, 3), (2, 2), 4, dtype="float64", num_group=2)
    yield convolution("refused_float16", (1, 2, 3, 3), (2, 2), dtype="float16")
    yield convolution("refused_kernel_larger_than_the_data", (1, 1, 2, 2), (3, 3))
    yield convolution("refused_filters_that_groups_do_not_divide", (1, 4, 3, 3), (2, 2), 3, num_group=2)
    kernel = exactly([[[[1.0, 2.0], [-1.0, 0.5]]]])
    params = {"kernel": (2, 2), "num_filter": 1, "no_bias": True}
    data = exactly([[[[1.0, float("inf"), 2.0], [3.0, 4.0, 5.0], [float("nan"), 6.0, 7.0]]]])
    yield Case("Convolution", "inf_and_nan", (data, kernel), params)
    yield Case("Convolution", "whole_numbers", (integers(1, 1, 4, 4), integers(1, 1, 2, 2)), params)


def deconvolutions() -> Iterator[Case]:
    """The same, and the two ways of choosing between sizes that a stride maps to one."""
    yield deconvolution("defaults", (2, 2, 3, 4), (3, 2))
    yield deconvolution("bias", (2, 2, 3, 4), (3, 2), no_bias=False)
    yield deconvolution("stride", (1, 2, 3, 2), (3, 3), stride=(2, 3))
    yield deconvolution("stride_beyond_the_kernel", (1, 1, 3, 2), (2, 2), stride=(3, 4))
    yield deconvolution("pad", (1, 2, 3, 4), (3, 3), pad=(1, 1))
    yield deconvolution("pad_and_stride", (1, 2, 3, 4), (4, 4), pad=(1, 1), stride=(2, 2))
    yield deconvolution("dilate", (1, 2, 3, 3), (2, 3), dilate=(3, 2))
    yield deconvolution("dilate_pad_stride", (1, 1, 3, 3), (3, 3), dilate=(2, 2), pad=(2, 1), stride=(2, 1))
    yield deconvolution("adj", (1, 2, 3, 3), (3, 3), stride=(2, 3), adj=(1, 2))
    yield deconvolution("adj_and_pad", (1, 1, 3, 3), (3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1))
    yield deconvolution("adj_and_bias", (1, 1, 2, 2), (2, 2), stride=(2, 2), adj=(1, 0), no_bias=False)
    yield deconvolution("target_shape_in_float32", (1, 1, 3, 3), (3, 3), stride=(2, 2), target_shape=(6, 6))
    for name, data, kernel, params in target_shapes():
        yield deconvolution(name, data, kernel, dtype="float64", **params)
    yield deconvolution("groups", (1, 4, 3, 2), (2, 2), 6, num_group=2)
    yield deconvolution(
        "groups_bias_stride", (2, 2, 2, 2), (2, 2), 4, num_group=2, no_bias=False, stride=(2, 2)
    )
    yield deconvolution("depthwise", (1, 3, 2, 3), (3, 3), 3, num_group=3, pad=(1, 1))
    yield deconvolution("pointwise", (2, 3, 2, 2), (1, 1), 4)
    yield deconvolution("one_pixel", (1, 1, 1, 1), (3, 3), 1)
    yield deconvolution("layout_named", (1, 2, 2, 3), (2, 2), layout="NCHW")
    yield deconvolution("width_defaults", (2, 2, 4), (3,))
    yield deconvolution("width_stride_pad_adj", (1, 2, 4), (3,), stride=(3,), pad=(1,), adj=(2,))
    yield deconvolution("width_dilate_bias", (1, 2, 4), (2,), dilate=(3,), no_bias=False)
    yield deconvolution("width_groups", (1, 4, 3), (2,), 4, num_group=2)
    yield deconvolution("depth_defaults", (1, 2, 2, 2, 3), (2, 2, 2))
    yield deconvolution("depth_stride_pad", (1, 1, 2, 3, 2), (2, 3, 2), stride=(2, 1, 2), pad=(1, 1, 0))
    yield deconvolution(
        "depth_adj_bias", (1, 1, 2, 2, 2), (2, 2, 2), stride=(2, 2, 2), adj=(1, 0, 1), no_bias=False
    )
    yield deconvolution("float64", (1, 2, 3, 3), (3, 3), dtype="float64", stride=(2, 2), pad=(1, 1))
    yield deconvolution("float64_bias", (1, 2, 3, 3), (2, 2), dtype="float64", no_bias=False)
    yield deconvolution("refused_float16", (1, 2, 2, 2), (2, 2), dtype="float16")
    yield deconvolution("refused_adj_as_large_as_the_stride", (1, 1, 3, 3), (3, 3), stride=(2, 2), adj=(2, 2))


def target_shapes() -> list[tuple[str, Shape, Shape, dict[str, Any]]]:
    """Output sizes that decide `pad` and `adj`. In float64: MXNet's oneDNN kernel refuses most of them."""
    twice: dict[str, Any] = {"stride": (2, 2)}
    image, square = (1, 1, 3, 3), (3, 3)
    return [
        ("target_shape", (1, 2, 3, 3), square, {**twice, "target_shape": (6, 6)}),
        ("target_shape_odd_rest", image, square, {**twice, "target_shape": (6, 7)}),
        ("target_shape_even_rest", image, (4, 4), {**twice, "target_shape": (6, 5)}),
        ("target_shape_overrides_pad", image, square, {**twice, "pad": (2, 2), "target_shape": (5, 6)}),
        ("target_shape_overrides_adj", image, square, {**twice, "adj": (1, 1), "target_shape": (7, 7)}),
        ("target_shape_beside_a_large_adj", image, square, {**twice, "adj": (5, 5), "target_shape": (7, 7)}),
        ("target_shape_and_dilate", image, (2, 2), {"dilate": (2, 2), "target_shape": (3, 5)}),
        ("target_shape_and_bias", image, square, {**twice, "no_bias": False, "target_shape": (6, 6)}),
        ("refused_target_shape_beyond_the_stride", image, square, {"target_shape": (4, 4)}),
        ("width_target_shape", (1, 1, 4), (3,), {"stride": (2,), "target_shape": (8,)}),
    ]


def up_samplings() -> Iterator[Case]:
    """Upsampling: nearest copies pixels; bilinear is a depthwise transposed convolution."""
    nearest = {"sample_type": "nearest", "num_args": 1}
    yield Case("UpSampling", "nearest", (normal(2, 2, 2, 3),), {"scale": 2, **nearest})
    yield Case("UpSampling", "nearest_scale_1", (normal(1, 2, 2, 3),), {"scale": 1, **nearest})
    yield Case("UpSampling", "nearest_scale_3", (normal(1, 2, 2, 1),), {"scale": 3, **nearest})
    yield Case("UpSampling", "nearest_one_pixel", (normal(1, 1, 1, 1),), {"scale": 2, **nearest})
    yield Case(
        "UpSampling", "nearest_float64", (normal(1, 2, 2, 2, dtype="float64"),), {"scale": 2, **nearest}
    )
    yield Case(
        "UpSampling", "nearest_float16", (normal(1, 2, 2, 2, dtype="float16"),), {"scale": 2, **nearest}
    )
    two = (normal(1, 2, 4, 4), normal(1, 3, 2, 2))
    summed = (normal(1, 2, 4, 2), normal(1, 2, 2, 1), normal(1, 2, 1, 1))
    several: dict[str, Any] = {"scale": 2, "sample_type": "nearest"}
    yield Case("UpSampling", "nearest_two_inputs", two, {**several, "num_args": 2})
    yield Case(
        "UpSampling",
        "nearest_two_concatenated",
        two,
        {**several, "num_args": 2, "multi_input_mode": "concat"},
    )
    yield Case(
        "UpSampling", "nearest_two_added", summed[:2], {**several, "num_args": 2, "multi_input_mode": "sum"}
    )
    for scale in (1, 2, 3, 4):
        size = 2 * scale - scale % 2
        inputs = (normal(1, 2, 2, 3), normal(2, 1, size, size))
        params = {"scale": scale, "sample_type": "bilinear", "num_filter": 2, "num_args": 2}
        yield Case("UpSampling", f"bilinear_scale_{scale}", inputs, params)
    inputs = (normal(1, 1, 2, 2, dtype="float64"), normal(1, 1, 4, 4, dtype="float64"))
    params = {"scale": 2, "sample_type": "bilinear", "num_filter": 1, "num_args": 2}
    yield Case("UpSampling", "bilinear_float64", inputs, params)


CASES: list[Case] = [*convolutions_of_images(), *other_convolutions(), *deconvolutions(), *up_samplings()]
