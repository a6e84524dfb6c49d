from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_sdk import ParamError, ShapeError

IMAGE = np.arange(20.0).reshape(1, 1, 4, 5) ** 2
ONE: dict[str, Any] = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}


def at(y: float, x: float, operator: str = "DeformableConvolution") -> float:
    """The image's sample at a point, by a window of one element."""
    rows, columns = np.mgrid[:4, :5]
    offset = np.stack([y - rows, x - columns])[None]
    arrays = [
        IMAGE,
        offset,
        *([np.ones((1, 1, 4, 5))] if "Modulated" in operator else []),
        np.ones((1, 1, 1, 1)),
    ]
    call = getattr(od.nd.contrib, operator)
    found = np.unique(call(*(od.nd.array(a, dtype="float64") for a in arrays), **ONE).asnumpy())
    return float(found.item())


@pytest.mark.parametrize("kernel", [(3, 3), (2, 1)])
@pytest.mark.parametrize("operator", ["DeformableConvolution", "ModulatedDeformableConvolution"])
def test_windows_that_are_not_moved_are_those_of_a_convolution(
    operator: str, kernel: tuple[int, int]
) -> None:
    rng = np.random.default_rng(0)
    data, weight = rng.normal(size=(2, 4, 6, 7)), rng.normal(size=(6, 2, *kernel))
    options = {"kernel": kernel, "num_filter": 6, "num_group": 2, "stride": (2, 1), "no_bias": True}
    plain = od.nd.Convolution(od.nd.array(data), od.nd.array(weight), **options)
    taps = kernel[0] * kernel[1]
    extra = [np.zeros((2, 2 * taps, *plain.shape[2:])), np.ones((2, taps, *plain.shape[2:]))]
    given = [data, *extra[: 2 if "Modulated" in operator else 1], weight]
    found = getattr(od.nd.contrib, operator)(*map(od.nd.array, given), **options)
    np.testing.assert_allclose(found.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-4)


def test_a_sample_between_pixels_is_interpolated() -> None:
    assert at(1.5, 2.25) == pytest.approx(0.5 * (0.75 * 49 + 0.25 * 64) + 0.5 * (0.75 * 144 + 0.25 * 169))


def test_edges_differ_between_the_two_convolutions() -> None:
    assert (at(3.5, 2), at(3.5, 2, "ModulatedDeformableConvolution")) == (17**2, 17**2 / 2)
    assert (at(-0.5, 2), at(-0.5, 2, "ModulatedDeformableConvolution")) == (0, 2)
    assert (at(4, 2), at(4, 2, "ModulatedDeformableConvolution")) == (0, 0)


def test_moves_are_in_sizes_of_the_region() -> None:
    data = np.broadcast_to(np.arange(8.0), (1, 1, 8, 8))
    options = {
        "spatial_scale": 1.0, "output_dim": 1, "group_size": 1, "pooled_size": 1, "sample_per_part": 2,
        "trans_std": 0.25,
    }  # fmt: skip
    rois = od.nd.array([[0, 2, 2, 5, 5]])
    still, moved = (
        od.nd.contrib.DeformablePSROIPooling(
            od.nd.array(data), rois, od.nd.array([[[[across]], [[0.0]]]]), **options
        ).asnumpy().item()
        for across in (0.0, 0.5)
    )  # fmt: skip
    assert moved - still == pytest.approx(0.5 * 0.25 * 4)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParamError, match=r"kernel is \(3,\), expected two sizes"):
        od.registry.get("_contrib_DeformableConvolution")(kernel=(3,), num_filter=1)
    with pytest.raises(ShapeError, match="expected a multiple of num_deformable_group, 2"):
        od.registry.get("_contrib_DeformableConvolution")(
            kernel=(1, 1), num_filter=1, num_deformable_group=2
        ).infer_shape([(1, 3, 4, 4), None, None, None])
