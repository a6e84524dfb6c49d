"""Correlations in vector code against sums over windows, at random sizes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import operad as od
from operad.operator import OpContext, candidates
from operad_convolution import Convolution, Deconvolution
from operad_convolution.direct import across, layer, program
from operad_convolution.direct import kernel as kernels
from operad_convolution.direct import tiles as direct_tiles
from operad_convolution.direct.across import AcrossForward, AcrossWeightGradient
from operad_convolution.direct.correlation import by_data, forward
from operad_convolution.direct.direct import Forward, WeightGradient
from operad_convolution.direct.layer import DirectCorrelation
from operad_convolution.direct.program import ForwardProgram
from operad_convolution.direct.tiles import (
    across_tile,
    forward_tile,
    heads_of,
    is_by_rows,
    pixels_of,
    rows_seen,
    weight_tile,
)
from operad_sdk.vector import LANES, host, reason_against
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.convolution.tests.correlations import Memory, Sizes, assert_close, context, five

require_vector_code()

KINDS = {
    "chosen": (layer.forward_program, layer.weight_program),
    "pixels": (Forward, WeightGradient),
    "filters": (AcrossForward, AcrossWeightGradient),
}

LONG_TILES = reason_against() is None and host().vectors_held > 16
"""Whether one tile has the sums of sixteen pixels."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("group", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 12))])
def test_random_sizes(dtype, group, kind, monkeypatch):
    for name, make in zip(("forward_program", "weight_program"), KINDS[kind], strict=True):
        monkeypatch.setattr(layer, name, make)
    for seed in range(4 * group, 4 * group + 4):
        sizes = Sizes(seed, dtype)
        out, data_grad, weight_grad = (
            np.full(a.shape, np.nan, dtype) for a in (sizes.head, sizes.data, sizes.weight)
        )
        direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
        direct.correlate(context(), five(sizes.data), five(sizes.weight), sizes.bias, five(out))
        direct.data_gradient(context(), five(sizes.weight), five(sizes.head), None, five(data_grad))
        direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(weight_grad))
        for name, found, expected in zip(
            ("output", "data_grad", "weight_grad"),
            (out, data_grad, weight_grad),
            sizes.expected(),
            strict=True,
        ):
            assert_close(found, expected, dtype, f"{name} of seed {seed}, {sizes.geometry}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(12))
def test_few_pixels_leave_out_what_lies_beside_the_image(seed, dtype, monkeypatch):
    for name, make in zip(("forward_program", "weight_program"), KINDS["filters"], strict=True):
        monkeypatch.setattr(layer, name, make)
    rng, left_out = np.random.default_rng(seed), []
    given = direct_tiles.products_seen

    def noted(each):
        left_out.append(given(each))
        return left_out[-1]

    for module in (across, direct_tiles):
        monkeypatch.setattr(module, "products_seen", noted)
    kernel, stride = ([int(n) for n in rng.integers(2, 5, 2)], [int(n) for n in rng.integers(1, 3, 2)])
    size = [int(n) for n in rng.integers(2, 5, 2) * stride]
    fixed = {"kernel": kernel, "stride": stride, "size": size, "pad": (1, 1), "dilate": (1, 1)}
    sizes = Sizes(seed, dtype, filters=int(rng.integers(9, 40)), **fixed)
    found = [np.full(a.shape, np.nan, dtype) for a in (sizes.head, sizes.data, sizes.weight)]
    direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
    direct.correlate(context(), five(sizes.data), five(sizes.weight), sizes.bias, five(found[0]))
    direct.data_gradient(context(), five(sizes.weight), five(sizes.head), None, five(found[1]))
    direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(found[2]))
    assert any(left_out) or not LONG_TILES, "nothing was left out, so nothing was tested"
    for name, one, expected in zip(
        ("output", "data_grad", "weight_grad"), found, sizes.expected(), strict=True
    ):
        assert_close(one, expected, dtype, f"{name}, {sizes.geometry}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_windows_that_see_nothing_of_the_image(kind, dtype, monkeypatch):
    for name, make in zip(("forward_program", "weight_program"), KINDS[kind], strict=True):
        monkeypatch.setattr(layer, name, make)
    for size in ((1, 1), (1, 3)):
        fixed = {"size": size, "kernel": (1, 1), "stride": (2, 2 * size[1]), "pad": (1, size[1])}
        sizes = Sizes(0, dtype, filters=20, dilate=(1, 1), **fixed)
        found = [np.full(a.shape, np.nan, dtype) for a in (sizes.head, sizes.data, sizes.weight)]
        direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
        direct.correlate(context(), five(sizes.data), five(sizes.weight), sizes.bias, five(found[0]))
        direct.data_gradient(context(), five(sizes.weight), five(sizes.head), None, five(found[1]))
        direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(found[2]))
        for name, one, expected in zip(
            ("output", "data_grad", "weight_grad"), found, sizes.expected(), strict=True
        ):
            assert_close(one, expected, dtype, f"{name}, {sizes.geometry}")


@pytest.mark.parametrize(
    ("kernel", "channels", "whole"),
    [((4, 4), 3, False), ((2, 2), 4, True), ((2, 2), 5, False), ((3, 3), 4, True), ((2, 4), 2, True)],
)
def test_weights_of_few_pixels_in_blocks_of_whole_channels_or_not(kernel, channels, whole, monkeypatch):
    monkeypatch.setattr(layer, "weight_program", AcrossWeightGradient)
    fixed = {"size": (3, 3), "stride": (1, 1), "dilate": (1, 1), "pad": (1, 1), "groups": 2, "batch": 7}
    sizes = Sizes(5, np.float32, kernel=kernel, channels=channels, filters=21, **fixed)
    found = np.full(sizes.weight.shape, np.nan, np.float32)
    direct = DirectCorrelation(sizes.geometry, np.dtype(np.float32))
    direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(found))
    assert_close(found, sizes.expected()[2], np.float32, f"{sizes.geometry}")
    correlation = direct._correlation
    if LONG_TILES:
        seen = AcrossWeightGradient(correlation, np.dtype(np.float32), 2)._positions_seen()
        assert (seen is not None) is whole


@pytest.mark.parametrize("kernel", [Forward, AcrossForward])
def test_nothing_beside_the_output_is_written_and_infinities_stay_where_they_are(kernel):
    correlation = forward(2, 3, 1, (9, 13), (7, 11), (3, 3), (1, 1), (1, 1), (0, 0))
    program = kernel(correlation, np.dtype(np.float32), False)
    data = np.ones((2, 2, 9, 13), np.float32)
    data[1, :, 8, 12] = np.inf
    weight = np.ones(program.order.elements, np.float32)
    memory = np.full(64 + 2 * 3 * 77 + 64, 7, np.float32)
    out = memory[64:-64].reshape(2, 3, 7, 11)
    program.bind(data, weight, None, out).run(0, 2, np.full(program.scratch_elements, np.nan, np.float32))
    expected = np.full(out.shape, 18.0)
    expected[1, :, 6, 10] = np.inf
    np.testing.assert_array_equal(out, expected)
    assert (memory[:64] == 7).all()
    assert (memory[-64:] == 7).all()


def test_infinite_pixels_make_only_their_own_weights_infinite():
    sizes = Sizes(3, np.float32)
    sizes.data[0, 0, 0, 0] = np.inf
    found = np.empty_like(sizes.weight)
    direct = DirectCorrelation(sizes.geometry, np.dtype(np.float32))
    direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(found))
    with np.errstate(invalid="ignore"):
        expected = sizes.expected()[2]
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


@pytest.mark.parametrize("kind", ["pixels", "filters"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weight_gradients_of_more_images_than_are_copied_together(dtype, kind, monkeypatch):
    monkeypatch.setattr(layer, "weight_program", KINDS[kind][1])
    sizes = Sizes(2, dtype, kernel=(3, 2), stride=(1, 2), size=(12, 17), batch=29)
    found = np.full(sizes.weight.shape, np.nan, dtype)
    direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
    direct.weight_gradient(context(), five(sizes.data), five(sizes.head), five(found))
    assert_close(found, sizes.expected()[2], dtype, kind)


@pytest.mark.parametrize("kind", ["pixels", "filters"])
def test_results_do_not_depend_on_threads(kind, monkeypatch):
    for name, make in zip(("forward_program", "weight_program"), KINDS[kind], strict=True):
        monkeypatch.setattr(layer, name, make)
    monkeypatch.setattr(layer, "_DIVIDED", 1)
    monkeypatch.setattr(program, "_PIECE_PRODUCTS", 1)
    sizes = Sizes(1, np.float32, stride=(2, 2), batch=5, filters=37)
    found = []

    class Context:
        def __init__(self, width, order):
            self.num_threads, self.order, self.requested = width, order, (Memory(),)

        def parallel(self, function, count, width):
            for part in self.order(range(count)):
                function(part, part % width)

    for width, order, has_team in ((1, list, True), (4, list, True), (1, list, False), (4, reversed, False)):
        monkeypatch.setattr(layer, "has_team", lambda has_team=has_team: has_team)
        direct = DirectCorrelation(sizes.geometry, np.dtype(np.float32))
        results = [np.full(a.shape, np.nan, np.float32) for a in (sizes.head, sizes.data, sizes.weight)]
        out, data_grad, weight_grad = map(five, results)
        data, weight, head = map(five, (sizes.data, sizes.weight, sizes.head))
        direct.correlate(Context(width, order), data, weight, sizes.bias, out)
        direct.data_gradient(Context(width, order), weight, head, None, data_grad)
        direct.weight_gradient(Context(width, order), data, head, weight_grad)
        found.append(results)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.more
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pieces_of_an_image_have_the_bits_of_the_whole(dtype, kind, monkeypatch):
    monkeypatch.setattr(layer, "forward_program", KINDS[kind][0])
    monkeypatch.setattr(program, "_PIECE_PRODUCTS", 1)
    cut, given = set(), ForwardProgram._piece

    def piece(self, tiles, blocks):
        for name, part, whole in (("tiles", tiles, self._tiles), ("blocks", blocks, self.order.blocks)):
            if len(part) < len(whole):
                cut.add(name if self._correlation.groups == 1 else f"{name} of groups")
        return given(self, tiles, blocks)

    monkeypatch.setattr(ForwardProgram, "_piece", piece)
    for seed in range(12):
        fixed = {"batch": 1 + seed % 3, "filters": (40, 3)[seed % 2], "groups": 1 + seed // 6}
        fixed |= {"size": (18, 21)}
        if seed % 4 > 1:  # windows that reach the whole image and no more
            fixed |= {"stride": (1, 1), "pad": (0, 0), "kernel": (3, 2)}
        sizes, found = Sizes(seed, dtype, **fixed), []
        for threads, read in ((1, 0), (2, 0), (3, 1 << 30), (5, 0)):
            monkeypatch.setattr(OpContext, "num_threads", property(lambda _, threads=threads: threads))
            monkeypatch.setattr(program, "_READ", read)
            direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
            out, data_grad = (np.full(a.shape, np.nan, dtype) for a in (sizes.head, sizes.data))
            direct.correlate(context(), five(sizes.data), five(sizes.weight), sizes.bias, five(out))
            direct.data_gradient(context(), five(sizes.weight), five(sizes.head), None, five(data_grad))
            found.append(out.tobytes() + data_grad.tobytes())
        assert len(set(found)) == 1, sizes.geometry
    assert cut == {"tiles", "blocks", "tiles of groups", "blocks of groups"}


@pytest.mark.parametrize("lanes", LANES.values())
def test_vectors_cover_all_pixels(lanes):
    for rows in (1, 2, 3, 8, 13):
        for columns in range(1, 70):
            covered = np.zeros((rows, columns), int)
            pixels, _ = pixels_of((rows, columns), lanes)
            for row, column in pixels.places:
                assert column + pixels.used <= columns
                covered[row, column : column + pixels.used] += 1
            assert (covered >= 1).all()
            once = np.zeros((rows, columns), int)
            heads = heads_of((rows, columns), lanes)
            assert len(heads.whole) % heads.runs == 0
            for row, column in heads.whole:
                once[row, column : column + lanes // heads.runs] += 1
            for row, column in heads.fewer:
                once[row, column : column + heads.tail] += 1
            assert (once == 1).all()


def test_every_tap_adds_to_one_part_of_the_gradient_by_data():
    correlation = forward(1, 1, 1, (11, 12), (4, 6), (3, 4), (3, 2), (1, 1), (1, 1))
    parts = by_data(correlation)
    assert len(parts) == 6
    assert sum(len(each.taps) for _, each in parts if each is not None) == 12


def test_tiles_pass_over_rows_of_taps_that_see_only_zeros():
    sizes = (20, 7, 1, (12, 12), (8, 8), (5, 5), (1, 1), (1, 1), (0, 0))
    ((_, adjoint),) = by_data(forward(*sizes))
    made = Forward(adjoint, np.dtype(np.float32), False)
    _, tiles, _ = forward_tile(adjoint, LANES[4])
    seen = [rows_seen(adjoint, places) for places in tiles]
    assert made._tap_rows == 5
    assert (0, 5) in seen
    assert len(set(seen)) > 2
    rows = [tap.row for tap in adjoint.taps[::5]]
    for (first, end), places in zip(seen, tiles, strict=True):
        some = [any(0 <= row + tap_row < 8 for row, _ in places) for tap_row in rows]
        assert some == [first <= number < end for number in range(5)]


@pytest.mark.parametrize("held", [32, 8])
def test_sums_of_a_tile_fit_into_registers(held, monkeypatch):
    monkeypatch.setattr(direct_tiles, "host", lambda: SimpleNamespace(vectors_held=held))
    most = 0
    for filters, size in ((1, 12), (5, 24), (16, 32), (50, 8), (128, 7), (7, 100)):
        correlation = forward(3, filters, 1, (size, size), (size, size), (3, 3), (1, 1), (1, 1), (1, 1))
        heads = heads_of(correlation.out, LANES[4])
        tiles = (
            forward_tile(correlation, LANES[4])[0][:2],
            weight_tile(filters, 27, heads, LANES[4])[0][:2],
            across_tile(filters, size * size, 27, LANES[4])[0],
        )
        most = max(most, *(rows * columns for rows, columns in tiles))
    assert most <= {32: 20, 8: 6}[held]
    assert most > held // 2


def test_which_kernel_is_taken(monkeypatch):
    def taken(shape, **params):
        prop = Convolution(**params)
        shapes = prop.infer_shape([shape, *[None] * (len(prop.list_arguments()) - 1)])[0]
        first, *_ = candidates(prop, od.cpu(), shapes, [np.dtype(np.float32)] * len(shapes))
        assert first.kernel.name == "Convolution.Direct"
        return first.rejection

    assert taken((8, 16, 32, 32), kernel=(3, 3), num_filter=16) is None
    assert taken((8, 16, 1000), kernel=(3,), num_filter=16) is None
    assert "three spatial axes" in taken((8, 16, 8, 8, 8), kernel=(3, 3, 3), num_filter=16)
    assert taken((8, 16, 32, 32), kernel=(1, 1), num_filter=16) is None
    assert "one product of matrices" in taken((64, 1024, 1, 1), kernel=(1, 1), num_filter=64)
    assert taken((2, 64, 256, 256), kernel=(1, 1), num_filter=16) is None
    assert "not worth a compilation" in taken((1, 1, 5, 5), kernel=(3, 3), num_filter=1)
    monkeypatch.setenv("OPERAD_VECTOR", "off")
    assert "OPERAD_VECTOR is off" in taken((8, 16, 32, 32), kernel=(3, 3), num_filter=16)


@pytest.mark.parametrize("operator", ["Convolution", "Deconvolution"])
def test_a_layer_in_vector_code_is_the_layer(operator, monkeypatch):
    found = []
    rng = np.random.default_rng(0)
    for bound in (0, 1 << 62):
        monkeypatch.setattr(kernels, "FROM_PRODUCTS", bound)
        for number, params in enumerate(
            [
                {"kernel": (3, 3), "pad": (1, 1)},
                {"kernel": (2, 3), "stride": (2, 2), "no_bias": True},
                {"kernel": (4,), "stride": (2,), "num_group": 2},
            ]
        ):
            shape = (3, 6, 14, 17)[: 2 + len(params["kernel"])]
            # Another workspace is another plan, and so another choice of a kernel.
            params = {**params, "num_filter": 4, "workspace": 1000 + 10 * number + bool(bound)}
            prop = {"Convolution": Convolution, "Deconvolution": Deconvolution}[operator](**params)
            shapes = prop.infer_shape([shape, *[None] * (len(prop.list_arguments()) - 1)])[0]
            rng = np.random.default_rng(number)
            arrays = [od.nd.array(rng.standard_normal(each)) for each in shapes]
            for array in arrays:
                array.attach_grad()
            with od.autograd.record():
                out = getattr(od.nd, operator)(*arrays, **params)
            out.backward(od.nd.array(rng.standard_normal(out.shape)))
            found.append([out.asnumpy(), *(array.grad.asnumpy() for array in arrays)])
    half = len(found) // 2
    for some, others in zip(found[:half], found[half:], strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("held", [32, 8])
def test_many_taps_of_tiles_with_several_vectors_are_written_out_row_by_row(held, monkeypatch):
    monkeypatch.setattr(direct_tiles, "host", lambda: SimpleNamespace(vectors_held=held))

    def tap_rows(rows, columns):
        pad = rows // 2, columns // 2
        sizes = (16, 16, 1, (64, 64), (64, 64), (rows, columns), (1, 1), (1, 1), pad)
        tile, *_ = forward_tile(forward(*sizes), LANES[4])
        return tile.vectors > 1, is_by_rows(tile, rows * columns)

    assert tap_rows(3, 3) == (held == 32, False)
    assert tap_rows(5, 5) == (held == 32, held == 32)
    assert tap_rows(1, 13) == (False, False)
