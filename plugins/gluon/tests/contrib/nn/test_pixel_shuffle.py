from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import operad as od

nn = od.gluon.contrib.nn


@pytest.mark.parametrize("factors", [(3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("is_hybrid", [False, True])
def test_each_pixel_comes_from_the_channel_of_its_place(factors: tuple[int, ...], is_hybrid: bool) -> None:
    channels, size = 2, (4, 2, 3)[: len(factors)]
    data = np.random.default_rng(0).random((2, channels * int(np.prod(factors)), *size), np.float32)
    block = getattr(nn, f"PixelShuffle{len(factors)}D")(factors if len(factors) > 1 else factors[0])
    block.hybridize(is_hybrid)
    found = block(od.nd.array(data)).asnumpy()
    assert found.shape == (2, channels, *np.multiply(size, factors))
    for places in product(*(range(length) for length in np.multiply(size, factors))):
        inner = [place % factor for place, factor in zip(places, factors, strict=True)]
        outer = tuple(place // factor for place, factor in zip(places, factors, strict=True))
        channel = int(np.ravel_multi_index(inner, factors))
        for own in range(channels):
            expected = data[(slice(None), own * int(np.prod(factors)) + channel, *outer)]
            np.testing.assert_array_equal(found[(slice(None), own, *places)], expected)
