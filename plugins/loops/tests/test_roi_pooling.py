from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_loops.roi_pooling import LOOPS
from operad_sdk.loops import has_numba

needs_numba = pytest.mark.skipif(not has_numba(), reason="needs numba: pip install operad-loops")


def by_loop_and_without(monkeypatch: pytest.MonkeyPatch, compute: Any) -> list[Any]:
    """What `compute` gives by the operator's own functions, and by loops."""
    found = []
    for size in (1 << 30, 0):
        monkeypatch.setattr(LOOPS, "from_size", size)
        od.registry.refresh()  # plans know the kernels that were chosen
        found.append(compute())
    return found


@needs_numba
def test_roi_pooling_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 9, (2, 16, 12, 15)).astype("float32")  # ties
    data[0, 0, 3, 4], data[1, 1] = np.nan, -np.inf
    rois = (rng.random((9, 5)) * [3, 12, 12, 9, 9]).astype("float32")
    rois[:, 3:] += rois[:, 1:3] - 2
    rois[0, 0] = np.nan
    head = od.nd.array(rng.random((9, 16, 5, 4)))

    def compute() -> tuple[np.ndarray, np.ndarray]:
        x = od.nd.array(data)
        x.attach_grad()
        with od.autograd.record():
            output = od.nd.ROIPooling(x, od.nd.array(rois), pooled_size=(5, 4), spatial_scale=0.75)
        output.backward(head)
        assert x.grad is not None
        return output.asnumpy(), x.grad.asnumpy()

    own, by_loop = by_loop_and_without(monkeypatch, compute)
    for first, second in zip(own, by_loop, strict=True):
        np.testing.assert_array_equal(first, second)


@needs_numba
@pytest.mark.parametrize("params", [{}, {"aligned": True}, {"sample_ratio": 2}, {"position_sensitive": True}])
def test_roi_align_agrees(params: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(2, 24, 12, 15))
    data[0, 0, 3, 4] = np.inf
    rois = rng.random((9, 5)) * [3, 18, 15, 9, 9] - [0, 2, 2, 0, 0]
    rois[:, 3:] += rois[:, 1:3]

    def compute() -> np.ndarray:
        given = [od.nd.array(array, dtype="float64") for array in (data, rois)]
        return od.nd._contrib_ROIAlign(*given, pooled_size=(3, 4), spatial_scale=1.0, **params).asnumpy()

    np.testing.assert_allclose(*by_loop_and_without(monkeypatch, compute), rtol=1e-12, atol=1e-12)


@needs_numba
@pytest.mark.parametrize("image", [-1, 2, 1e9, np.nan, np.inf])
def test_a_region_that_was_moved_out_of_all_images_gets_no_gradient(image: float) -> None:
    data_grad = np.zeros((2, 1, 3, 4))
    rois = np.array([[image, 0, 0, 1, 1], [1, 0, 0, 1, 1]])
    LOOPS.unpool(np.ones((2, 1, 1, 1)), rois, np.full((2, 1, 1, 1), 5), data_grad)
    assert (data_grad.sum(), data_grad[1, 0, 1, 1]) == (1, 1)


def test_the_distribution_of_a_kernel_is_told() -> None:
    names = [kernel.name for kernel in od.registry.get("_contrib_ROIAlign").kernels if kernel.distribution]
    assert names == ["_contrib_ROIAlign.align_by_loop"]
