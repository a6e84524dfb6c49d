"""Correlations of random sizes, what they are in float64, and what a kernel computes in."""

from __future__ import annotations

import numpy as np

import operad as od
from operad.operator import OpContext
from operad_convolution.geometry import Geometry


class Sizes:
    """Random sizes of a correlation, but for those that are fixed, and its arrays."""

    def __init__(self, seed, dtype, **fixed):
        rng = np.random.default_rng(seed)
        self.groups = fixed.get("groups", int(rng.choice([1, 1, 1, 2, 3])))
        channels, filters = int(rng.integers(1, 6)), int(rng.integers(1, 14))
        channels, filters = fixed.get("channels", channels), fixed.get("filters", filters)
        self.kernel = fixed.get("kernel", tuple(int(n) for n in rng.integers(1, 6, 2)))
        self.stride = fixed.get("stride", tuple(int(n) for n in rng.integers(1, 4, 2)))
        self.dilate = fixed.get("dilate", tuple(int(n) for n in rng.integers(1, 3, 2)))
        reach = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilate, strict=True)]
        pad = tuple(int(rng.integers(0, n + 1)) for n in reach)  # also beyond what windows reach
        self.pad = fixed.get("pad", pad)
        least = [max(1, n - 2 * p) for n, p in zip(reach, self.pad, strict=True)]
        self.size = fixed.get("size") or tuple(int(rng.integers(n, 40)) for n in least)
        self.out = tuple(
            (n + 2 * p - r) // s + 1
            for n, p, r, s in zip(self.size, self.pad, reach, self.stride, strict=True)
        )
        batch = fixed.get("batch", int(rng.integers(1, 7)))
        self.data = rng.standard_normal((batch, channels * self.groups, *self.size)).astype(dtype)
        self.weight = rng.standard_normal((filters * self.groups, channels, *self.kernel)).astype(dtype)
        self.bias = rng.standard_normal(filters * self.groups).astype(dtype) if rng.integers(2) else None
        self.head = rng.standard_normal((batch, filters * self.groups, *self.out)).astype(dtype)
        self.geometry = Geometry.of(
            self.data.shape, self.head.shape, self.kernel, self.stride, self.dilate, self.pad, self.groups
        )

    def windows(self):
        """Data that each tap sees, (tap, image, group, channel, row, column), as a view of padded data."""
        (top, left), (rows, columns) = self.pad, self.out
        padded = np.pad(self.data.astype(np.float64), ((0, 0), (0, 0), (top, top), (left, left)))
        self.padded = padded.reshape(len(padded), self.groups, -1, *padded.shape[2:])
        return {
            (i, j): (
                Ellipsis,
                slice(
                    i * self.dilate[0], i * self.dilate[0] + (rows - 1) * self.stride[0] + 1, self.stride[0]
                ),
                slice(
                    j * self.dilate[1],
                    j * self.dilate[1] + (columns - 1) * self.stride[1] + 1,
                    self.stride[1],
                ),
            )
            for i, j in np.ndindex(*self.kernel)
        }

    def expected(self):
        windows = self.windows()
        weight = self.weight.astype(np.float64).reshape(self.groups, -1, *self.weight.shape[1:])
        head = self.head.astype(np.float64).reshape(len(self.head), self.groups, -1, *self.out)
        out, data_grad, weight_grad = (
            np.zeros(head.shape),
            np.zeros(self.padded.shape),
            np.zeros(weight.shape),
        )
        for (i, j), where in windows.items():
            out += np.einsum("ngchw,gfc->ngfhw", self.padded[where], weight[..., i, j])
            data_grad[where] += np.einsum("ngfhw,gfc->ngchw", head, weight[..., i, j])
            weight_grad[..., i, j] = np.einsum("ngfhw,ngchw->gfc", head, self.padded[where])
        (top, left), (rows, columns) = self.pad, self.size
        data_grad = data_grad[..., top : top + rows, left : left + columns]
        if self.bias is not None:
            out += self.bias.reshape(self.groups, -1, 1, 1)
        return (
            out.reshape(self.head.shape),
            data_grad.reshape(self.data.shape),
            weight_grad.reshape(self.weight.shape),
        )


class Memory:
    """Scratch memory full of NaN, so that what a kernel does not write itself shows."""

    def get_space(self, shape, dtype):
        return np.full(shape, np.nan, dtype)


def context():
    return OpContext(od.cpu(), True, (Memory(),))


def five(array):
    return None if array is None else array[:, :, None]


def assert_close(found, expected, dtype, what):
    scale = max(1.0, np.abs(expected).max(initial=0))
    error = np.abs(found - expected).max(initial=0) / scale
    assert error <= 1000 * np.finfo(dtype).eps, f"{what}: {error}"
