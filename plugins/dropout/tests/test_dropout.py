from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_dropout import Dropout
from operad_dropout.dropout import _draws

ONES = np.ones((40, 50), np.float32)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_kept_elements_are_scaled_and_the_share_is_right(p: float) -> None:
    output, mask, scale = check_forward(Dropout, [np.ones((200, 500), np.float32)], p=p)
    assert set(np.unique(output)) == {0.0, np.float32(1 / (1 - p))}
    np.testing.assert_array_equal(output != 0, mask.astype(bool))
    # five standard deviations of a binomial share
    assert abs(mask.mean() - (1 - p)) < 5 * np.sqrt(p * (1 - p) / mask.size)
    np.testing.assert_allclose(scale, [1 / (1 - p)], rtol=1e-6)


@pytest.mark.parametrize("drawn_before", [0, 1])
@pytest.mark.parametrize("shape", [(256, 256), (65537,), (65538,), (1, 65539), (4, 5), (300, 1, 400)])
def test_words_of_four_decisions_are_what_single_ones_would_be(
    shape: tuple[int, ...], drawn_before: int
) -> None:
    one, other = (np.random.Generator(np.random.Philox(7)) for _ in range(2))
    for generator in (one, other):
        generator.integers(1 << 32, size=drawn_before, dtype=np.uint32)
    for _ in range(2):
        expected = other.integers(1 << 16, size=shape, dtype=np.uint16)
        np.testing.assert_array_equal(_draws(one, shape), expected)
    assert one.integers(1 << 32, size=3).tolist() == other.integers(1 << 32, size=3).tolist()
    assert one.random() == other.random()


@pytest.mark.parametrize(("p", "mode", "is_train"), [(0.5, "training", False), (0.0, "always", True)])
def test_is_the_identity_where_nothing_is_dropped(p: float, mode: str, is_train: bool) -> None:
    output, mask, _ = check_forward(Dropout, [ONES * 3], ONES * 3, is_train=is_train, p=p, mode=mode)
    assert mask.all()
    assert output.dtype == np.float32


def test_always_drops_in_prediction_too() -> None:
    output, *_ = check_forward(Dropout, [ONES], is_train=False, p=0.5, mode="always")
    assert 0 < (output == 0).mean() < 1


def test_probability_one_drops_all() -> None:
    output, mask, _ = check_forward(Dropout, [ONES], ONES * 0, p=1)
    assert not mask.any()
    assert np.isfinite(output).all()


@pytest.mark.parametrize("axes", [(0,), (1,), (-1,), (0, 2)])
def test_shared_axes_share_a_decision(axes: tuple[int, ...]) -> None:
    output, mask, _ = check_forward(Dropout, [np.ones((6, 5, 40), np.float32)], p=0.5, axes=axes)
    assert all(mask.shape[axis] == 1 for axis in axes)
    np.testing.assert_array_equal(output != 0, np.broadcast_to(mask, output.shape) != 0)


@pytest.mark.parametrize("params", [{"p": 0.3}, {"p": 0.3, "axes": (0,)}, {"p": 0}, {"p": 1}])
def test_gradient_follows_the_mask(params: dict[str, Any]) -> None:
    gradient_check(Dropout, [np.linspace(-1, 1, 24).reshape(4, 6)], **params)


def test_backward_in_another_mode_than_forward_is_right() -> None:
    x = od.nd.array(ONES)
    x.attach_grad()
    with od.autograd.record(train_mode=False):
        y = od.nd.Dropout(x, p=0.5)
    y.backward(train_mode=True)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.asnumpy(), ONES)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,)])
def test_empty_and_single_elements_are_legal(shape: tuple[int, ...]) -> None:
    check_forward(Dropout, [np.ones(shape, np.float32)], p=0.5)


def test_a_seed_repeats_the_masks_imperatively_and_symbolically() -> None:
    def imperative() -> list[Any]:
        od.random.seed(5)
        with od.autograd.train_mode():
            return [od.nd.Dropout(od.nd.array(ONES), p=0.5).asnumpy() for _ in range(3)]

    def symbolic() -> list[Any]:
        executor = od.sym.Dropout(od.sym.var("data"), p=0.5).simple_bind(od.cpu(), data=ONES.shape)
        od.random.seed(5)
        return [executor.forward(is_train=True, data=ONES)[0].asnumpy() for _ in range(3)]

    first = imperative()
    assert not np.array_equal(first[0], first[1])
    for repeat in (imperative(), symbolic()):
        for expected, got in zip(first, repeat, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_composition_sees_one_output() -> None:
    assert od.sym.Dropout(od.sym.var("data"), name="drop").list_outputs() == ["drop_output"]


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ParamError, match=r"Dropout: parameter 'p' is 1\.5"):
        od.nd.Dropout(od.nd.array(ONES), p=1.5)
    with pytest.raises(ShapeError, match="axes names axis 2"):
        od.nd.Dropout(od.nd.array(ONES), axes=(2,))


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_whole_numbers_are_refused(dtype: str) -> None:
    with pytest.raises(DTypeError, match=f"data is {dtype}, expected a floating type; cast with astype"):
        Dropout().infer_type([np.dtype(dtype)])
