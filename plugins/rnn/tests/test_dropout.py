from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import check_forward, gradient_check
from operad_rnn.rnn import RNN

MODES = ("rnn_tanh", "lstm", "gru")


def network(mode: str, num_layers: int = 3, **params: Any) -> tuple[dict[str, Any], list[Any]]:
    """Parameters, and normal numbers for all arguments."""
    params = {"mode": mode, "state_size": 4, "num_layers": num_layers, "bidirectional": True, **params}
    prop, rng = RNN(**params), np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 2, 3)), rng.normal(scale=0.5, size=prop.layout(3).size)]
    return params, arrays + [rng.normal(size=(prop.cells, 2, 4)) for _ in range(1 + prop.is_lstm)]


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_dropped_in_prediction(mode: str) -> None:
    params, arrays = network(mode)
    without, *_ = check_forward(RNN, arrays, **params)
    check_forward(RNN, arrays, without, is_train=False, p=0.5, **params)


@pytest.mark.parametrize("mode", MODES)
def test_the_output_of_the_last_layer_is_not_dropped(mode: str) -> None:
    params, arrays = network(mode, num_layers=1)
    without, *_ = check_forward(RNN, arrays, **params)
    check_forward(RNN, arrays, without, p=0.9, **params)


@pytest.mark.parametrize("mode", [MODES[0], *(pytest.param(m, marks=pytest.mark.more) for m in MODES[1:])])
def test_gradients_are_those_of_what_was_kept(mode: str) -> None:
    params, arrays = network(mode)
    gradient_check(RNN, arrays, p=0.5, **params)


@pytest.mark.parametrize("p", [0.25, 0.5])
def test_the_share_of_dropped_elements_is_p(p: float) -> None:
    params, _ = network("rnn_tanh", state_size=50)
    rng = np.random.default_rng(0)
    prop = RNN(**params)
    arrays = [
        rng.normal(size=(20, 10, 3)),
        rng.normal(size=prop.layout(3).size),
        rng.normal(size=(prop.cells, 10, 50)),
    ]
    outputs = dict(
        zip(RNN(p=p, **params).list_outputs(), check_forward(RNN, arrays, p=p, **params), strict=True)
    )
    mask = outputs["mask"]
    # five standard deviations of a binomial share
    assert abs(mask.mean() - (1 - p)) < 5 * np.sqrt(p * (1 - p) / mask.size)
    np.testing.assert_allclose(outputs["scale"], [1 / (1 - p)])


def test_with_p_one_the_last_layer_sees_nothing() -> None:
    params, arrays = network("gru", num_layers=2)
    one, *_ = check_forward(RNN, arrays, p=1.0, **params)
    other, *_ = check_forward(RNN, [arrays[0] + 1, *arrays[1:]], p=1.0, **params)
    np.testing.assert_array_equal(one, other)


def test_a_seed_repeats_what_is_dropped() -> None:
    params, arrays = network("lstm")
    given = [od.nd.array(array) for array in arrays]

    def draw() -> Any:
        with od.autograd.train_mode():
            return od.nd.RNN(*given, p=0.5, **params).asnumpy()

    od.random.seed(7)
    first, second = draw(), draw()
    od.random.seed(7)
    np.testing.assert_array_equal(draw(), first)
    assert (first != second).any()


def slope_of_slopes(arrays: list[Any], params: dict[str, Any]) -> tuple[float, list[Any]]:
    """Sum of the squares of the gradients, with one mask in every call, and its gradients."""
    given = [od.nd.array(array, dtype="float64") for array in arrays]
    for array in given:
        array.attach_grad()
    od.random.seed(3)
    with od.autograd.record():
        output = od.nd.sin(od.nd.RNN(*given, p=0.5, **params))
        found = od.autograd.grad(output, given, create_graph=True)
        total = od.nd.add_n(*(od.nd.sum(od.nd.square(one)) for one in found))
    total.backward()
    return total.asscalar(), [array.grad.asnumpy() for array in given]


@pytest.mark.more
@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_are_those_of_what_was_kept(mode: str) -> None:
    params, arrays = network(mode, num_layers=2)
    _, found = slope_of_slopes(arrays, params)
    rng = np.random.default_rng(1)
    for number, slopes in enumerate(found):
        way = rng.standard_normal(slopes.shape)
        ends = []
        for step in (1e-5, -1e-5):
            moved = [*arrays[:number], arrays[number] + step * way, *arrays[number + 1 :]]
            ends.append(slope_of_slopes(moved, params)[0])
        np.testing.assert_allclose((slopes * way).sum(), (ends[0] - ends[1]) / 2e-5, rtol=1e-6)
