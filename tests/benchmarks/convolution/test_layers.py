from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.benchmarks.convolution.layers import LAYERS, Layer, error, rows

SMALL = [
    Layer("one", 2, 3, 4, 6, 3, pad=1),
    Layer("strides that leave a rest", 2, 2, 3, 8, 3, stride=2, pad=1),
    Layer("groups", 1, 4, 6, 5, 2, groups=2),
    Layer("dilated", 1, 2, 2, 7, 3, pad=2, dilate=2),
    Layer("kernels apart", 2, 2, 3, 7, 1, stride=2),
    Layer("transposed", 2, 3, 2, 4, 4, stride=2, pad=1, transposed=True),
    Layer("transposed groups", 1, 4, 6, 3, 3, stride=2, pad=1, groups=2, transposed=True),
]


def _by_definition(layer: Layer, data: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The sum over every product, one number at a time."""
    size, out = layer.size, np.zeros((layer.batch, layer.outputs, layer.result_size, layer.result_size))
    inputs, outputs = layer.inputs // layer.groups, layer.outputs // layer.groups
    spaces = map(range, (layer.batch, layer.groups, outputs, inputs, layer.kernel, layer.kernel))
    for n, group, o, i, row, column in product(*spaces):
        to, of = group * outputs + o, group * inputs + i
        taps = layer.dilate * row - layer.pad, layer.dilate * column - layer.pad
        for y, x in product(range(size if layer.transposed else layer.result_size), repeat=2):
            wide = layer.stride * y + taps[0], layer.stride * x + taps[1]
            inside = all(0 <= each < (layer.result_size if layer.transposed else size) for each in wide)
            if inside and layer.transposed:
                out[n, to, wide[0], wide[1]] += data[n, of, y, x] * weight[of, o, row, column]
            elif inside:
                out[n, to, y, x] += data[n, of, wide[0], wide[1]] * weight[to, i, row, column]
    return out


@pytest.mark.parametrize("layer", SMALL, ids=str)
def test_what_is_expected_is_the_sum_over_all_products(layer: Layer) -> None:
    arrays = {name: value.astype(np.float64) for name, value in layer.arrays().items()}

    found = layer.expected()["forward"]

    np.testing.assert_allclose(
        found, _by_definition(layer, arrays["data"], arrays["weight"]), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("layer", SMALL, ids=str)
@pytest.mark.parametrize("of", ["data", "weight"])
def test_gradients_are_what_one_element_changes(layer: Layer, of: str) -> None:
    arrays = {name: value.astype(np.float64) for name, value in layer.arrays().items()}
    head = arrays.pop("head")
    rng = np.random.default_rng(0)
    found = layer.expected()[of]

    assert found.shape == arrays[of].shape
    for place in rng.integers(0, found.size, 5):
        unit = np.zeros(found.size)
        unit[place] = 1.0  # the layer is linear in each of the two
        moved = {**arrays, of: unit.reshape(found.shape)}
        assert found.ravel()[place] == pytest.approx((_by_definition(layer, **moved) * head).sum(), abs=1e-10)


def test_operations_are_two_for_each_product_of_every_pixel() -> None:
    assert Layer("a", 2, 3, 4, 6, 3, pad=1).operations == 2 * 2 * 3 * 4 * 9 * 36
    assert Layer("a", 2, 4, 4, 8, 3, stride=2, pad=1, groups=4).operations == 2 * 2 * 4 * 9 * 16
    assert Layer("a", 2, 3, 4, 5, 4, stride=2, pad=1, transposed=True).operations == 2 * 2 * 3 * 4 * 16 * 25


def test_errors_are_parts_of_the_largest_number() -> None:
    assert error(np.array([1.0, -2.000002]), np.array([1.0, -2.0])) == pytest.approx(10, rel=1e-4)


def test_every_layer_has_a_time_and_an_error_for_each_pass() -> None:
    names = [row.name for row in rows()]

    assert len(names) == len(set(names)) == 6 * len(LAYERS)
