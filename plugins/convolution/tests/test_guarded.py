"""Kernels of correlations beside pages that may not be touched: the bits of any other memory."""

from __future__ import annotations

import numpy as np
import pytest

from operad.operator import OpContext
from operad_convolution.direct import layer, program
from operad_convolution.direct.layer import DirectCorrelation
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.convolution.tests.correlations import Sizes, context, five
from plugins.convolution.tests.test_direct import KINDS

require_vector_code()


class Edge:
    """Memory that ends beside such a page, or begins there; None: any other. Scratch memory likewise."""

    def __init__(self, at_end):
        self.at_end = at_end

    def get_space(self, shape, dtype):
        found = np.empty(shape, dtype) if self.at_end is None else guarded(shape, dtype, at_end=self.at_end)
        found[...] = np.nan
        return found

    def of(self, array):
        found = self.get_space(array.shape, array.dtype)
        found[...] = array
        return found


def with_special_numbers(rng, array):
    """Some numbers replaced by NaN, infinities, zeros of both signs, and denormal numbers."""
    info = np.finfo(array.dtype)
    special = np.array(
        [np.nan, np.inf, -np.inf, 0, -0.0, info.smallest_subnormal, info.tiny / 2], array.dtype
    )
    return np.where(rng.integers(0, 40, array.shape) == 0, rng.choice(special, array.shape), array)


def all_three(sizes, edge):
    """Output and gradients, by kernels whose arrays and scratch memory lie at an edge."""
    bias = None if sizes.bias is None else edge.of(sizes.bias)
    data, weight, head = (edge.of(one) for one in (sizes.data, sizes.weight, sizes.head))
    outs = [edge.get_space(one.shape, one.dtype) for one in (sizes.head, sizes.data, sizes.weight)]
    run = context()._replace(requested=(edge,))
    direct = DirectCorrelation(sizes.geometry, sizes.data.dtype)
    direct.correlate(run, five(data), five(weight), bias, five(outs[0]))
    direct.data_gradient(run, five(weight), five(head), None, five(outs[1]))
    direct.weight_gradient(run, five(data), five(head), five(outs[2]))
    return [one.tobytes() for one in outs]


def expect_same_bits(seed, dtype, kind, threads, monkeypatch, **fixed):
    for name, make in zip(("forward_program", "weight_program"), KINDS[kind], strict=True):
        monkeypatch.setattr(layer, name, make)
    monkeypatch.setattr(OpContext, "num_threads", property(lambda _: threads))
    monkeypatch.setattr(program, "_PIECE_PRODUCTS", 1)
    sizes, rng = Sizes(seed, dtype, **fixed), np.random.default_rng(seed)
    for name in ("data", "weight", "head"):
        setattr(sizes, name, with_special_numbers(rng, getattr(sizes, name)))
    with np.errstate(all="ignore"):
        found = [all_three(sizes, Edge(at_end)) for at_end in (None, True, False)]
    assert found[0] == found[1] == found[2], (seed, dtype, kind, threads, f"{sizes.geometry}")


@pytest.mark.more
@pytest.mark.parametrize("kind", KINDS)
def test_random_sizes_beside_such_pages(kind, drawn_seed, monkeypatch):
    rng = np.random.default_rng(drawn_seed)
    for _ in range(4):
        seed, threads = int(rng.integers(1 << 30)), int(rng.integers(1, 4))
        expect_same_bits(seed, rng.choice(["float32", "float64"]), kind, threads, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_widths_beside_such_pages(kind, dtype, monkeypatch):
    for width in range(1, 71):
        rng = np.random.default_rng(width)
        pad, stride = (int(n) for n in rng.integers([0, 1], [3, 4]))
        kernel = (int(rng.integers(1, 4)), min(int(rng.integers(1, 6)), width + 2 * pad))
        fixed = {
            "size": (3, width),
            "kernel": kernel,
            "pad": (1, pad),
            "stride": (1, stride),
            "dilate": (1, 1),
        }
        expect_same_bits(width, dtype, kind, 1 + width % 3, monkeypatch, **fixed)
