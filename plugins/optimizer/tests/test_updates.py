from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import DTypeError, ParamError
from operad_check.testing import check_forward
from operad_optimizer.updates.family import BLOCK

RNG = np.random.default_rng(9)

UPDATES = {
    "sgd_update": (0, {"lr": 0.1, "wd": 0.1}),
    "sgd_mom_update": (1, {"lr": 0.1, "wd": 0.1, "momentum": 0.9, "clip_gradient": 0.5}),
    "nag_mom_update": (1, {"lr": 0.1, "wd": 0.1, "momentum": 0.9}),
    "adam_update": (2, {"lr": 0.1, "wd": 0.1, "epsilon": 1e-3}),
    "rmsprop_update": (1, {"lr": 0.1, "wd": 0.1, "clip_weights": 0.7}),
    "rmspropalex_update": (3, {"lr": 0.1, "epsilon": 1e-2}),
    "ftrl_update": (2, {"lr": 0.1, "wd": 0.1}),
    "ftml_update": (3, {"lr": 0.1, "wd": 0.1, "t": 2}),
    "signsgd_update": (0, {"lr": 0.1, "wd": 0.1}),
    "signum_update": (1, {"lr": 0.1, "momentum": 0.5, "wd_lh": 0.1}),
    "lamb_update_phase1": (2, {"wd": 0.1, "t": 2}),
}
RATED = [name for name in UPDATES if "lamb" not in name]


def arrays(states: int, shape: tuple[int, ...], dtype: str = "float32") -> list[Any]:
    weight_and_gradient = [RNG.uniform(-1, 1, shape).astype(dtype) for _ in range(2)]
    kept = [RNG.uniform(0.5, 1, shape).astype(dtype) for _ in range(states)]
    if states == 3:
        kept[0] = kept[0] + 1
    return [*weight_and_gradient, *kept]


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_request_and_sharing_gives_the_same_weight(name: str, dtype: str) -> None:
    states, params = UPDATES[name]
    weight, grad, *aux = arrays(states, (3, 4), dtype)
    (out,) = check_forward(registry.get(name), [weight, grad], aux=aux, **params)
    assert out.dtype == dtype


@pytest.mark.parametrize("name", UPDATES)
def test_blocks_give_what_the_whole_array_gives(name: str) -> None:
    states, params = UPDATES[name]
    given = arrays(states, (2, BLOCK - 7))
    update = getattr(od.nd, name)
    large = [od.nd.array(value) for value in given]
    result = update(*large, **params)
    parts = [[od.nd.array(value[row]) for value in given] for row in range(2)]
    for row, part in enumerate(parts):
        np.testing.assert_array_equal(result.asnumpy()[row], update(*part, **params).asnumpy())
        for whole, piece in zip(large, part, strict=True):
            np.testing.assert_array_equal(whole.asnumpy()[row], piece.asnumpy())


@pytest.mark.parametrize("name", RATED)
def test_a_new_rate_makes_no_new_operator(name: str, made: list[str]) -> None:
    states, params = UPDATES[name]
    given = [od.nd.array(value) for value in arrays(states, (3, 1, 7))]  # a shape of this test alone
    for lr in (0.11, 0.12, 0.13):
        getattr(od.nd, name)(*given, **{**params, "lr": lr})
    assert made == [name]


@pytest.mark.parametrize("name", UPDATES)
def test_empty_weights_are_no_error(name: str) -> None:
    states, params = UPDATES[name]
    given = [od.nd.array(np.zeros((0, 3), "float32")) for _ in range(states + 2)]
    assert getattr(od.nd, name)(*given, **params).shape == (0, 3)


@pytest.mark.parametrize("name", UPDATES)
def test_a_weight_with_no_axis_moves_as_one_of_one_element(name: str) -> None:
    states, params = UPDATES[name]
    given = arrays(states, (1,))
    update = getattr(od.nd, name)
    expected = update(*map(od.nd.array, given), **params).asnumpy()
    single = [od.nd.array(value.reshape(())) for value in given]
    out = update(*single, **params)
    assert out.shape == ()
    np.testing.assert_array_equal(out.asnumpy(), expected[0])


def test_the_second_phase_of_lamb_takes_a_weight_with_no_axis() -> None:
    weight, direction, norm = od.nd.array(3.0), od.nd.array(2.0), od.nd.array([1.0])
    out = od.nd.lamb_update_phase2(weight, direction, norm, norm, lr=0.5)
    np.testing.assert_array_equal(out.asnumpy(), np.float32(2.0))


@pytest.mark.parametrize("name", [*UPDATES, "mp_sgd_update", "_lamb_norm"])
def test_weights_of_whole_numbers_are_refused(name: str) -> None:
    rate = {} if name == "_lamb_norm" else {"lr": 0.1}
    prop = registry.get(name)(**UPDATES.get(name, (0, rate))[1])
    with pytest.raises(DTypeError, match="is int32, expected a floating type; cast with astype"):
        prop.infer_type([np.dtype("int32"), *[None] * (len(prop.list_arguments()) - 1)])


@pytest.mark.parametrize(("name", "states"), [("ftrl_update", 2), ("ftml_update", 3)])
def test_a_rate_of_0_that_is_divided_by_gives_nan_as_in_mxnet(name: str, states: int) -> None:
    given = [od.nd.array([1.0]), od.nd.array([2.0]), *(od.nd.array([0.0]) for _ in range(states))]
    params = {"t": 1} if name == "ftml_update" else {}
    assert np.isnan(getattr(od.nd, name)(*given, lr=0, **params).asnumpy()).all()


@pytest.mark.parametrize("name", RATED)
def test_the_rate_is_required(name: str) -> None:
    states, params = UPDATES[name]
    given = [od.nd.array(value) for value in arrays(states, (3,))]
    update = getattr(od.nd, name)
    with pytest.raises(ParamError, match="parameter 'lr' is missing"):
        update(*given, **{key: value for key, value in params.items() if key != "lr"})
    with pytest.raises(ParamError, match="parameter 'lr' is None, expected float"):
        update(*given, **{**params, "lr": None})


def test_weights_are_clipped_to_a_bound_of_0_and_not_below_it() -> None:
    given = [od.nd.array([value]) for value in (1.0, 2.0, 0.0)]
    clipped = od.nd.rmsprop_update(*given, lr=0.1, clip_weights=0)
    np.testing.assert_array_equal(clipped.asnumpy(), [0.0])


# In the order of MXNet 1.9.1's own signatures, which positional calls rely on.
ORDERS = {
    "sgd_update": "lr wd rescale_grad clip_gradient lazy_update",
    "sgd_mom_update": "lr momentum wd rescale_grad clip_gradient lazy_update",
    "nag_mom_update": "lr momentum wd rescale_grad clip_gradient",
    "adam_update": "lr beta1 beta2 epsilon wd rescale_grad clip_gradient lazy_update",
    "rmsprop_update": "lr gamma1 epsilon wd rescale_grad clip_gradient clip_weights",
    "rmspropalex_update": "lr gamma1 gamma2 epsilon wd rescale_grad clip_gradient clip_weights",
    "ftrl_update": "lr lamda1 beta wd rescale_grad clip_gradient",
    "ftml_update": "lr beta1 beta2 epsilon t wd rescale_grad clip_grad",
    "signsgd_update": "lr wd rescale_grad clip_gradient",
    "signum_update": "lr momentum wd rescale_grad clip_gradient wd_lh",
    "lamb_update_phase1": "beta1 beta2 epsilon t bias_correction wd rescale_grad clip_gradient",
    "lamb_update_phase2": "lr lower_bound upper_bound",
}
MIXED = ["sgd_update", "sgd_mom_update", "nag_mom_update", "lamb_update_phase1", "lamb_update_phase2"]


@pytest.mark.parametrize("name", [*ORDERS, *(f"mp_{name}" for name in MIXED)])
def test_parameters_are_in_mxnets_order(name: str) -> None:
    assert list(registry.get(name).params) == ORDERS[name.removeprefix("mp_")].split()


def test_parameters_are_given_by_position_as_in_mxnet() -> None:
    by_place, by_name = ([od.nd.array([value]) for value in (1.0, 2.0, 4.0)] for _ in range(2))
    expected = od.nd.sgd_mom_update(*by_name, lr=0.5, momentum=0.25)
    np.testing.assert_array_equal(od.nd.sgd_mom_update(*by_place, 0.5, 0.25).asnumpy(), expected.asnumpy())
    np.testing.assert_array_equal(expected.asnumpy(), [1.0])


def test_an_update_writes_a_view_that_is_not_contiguous() -> None:
    base = od.nd.array(np.ones((3, 4)))
    weight = base[:, :2]
    od.nd.sgd_update(weight, od.nd.array(np.ones((3, 2))), lr=0.5, out=weight)
    np.testing.assert_array_equal(base.asnumpy(), [[0.5, 0.5, 1, 1]] * 3)


def test_mixed_precision_keeps_what_half_precision_would_lose() -> None:
    weight32 = od.nd.array([1.0])
    weight, grad = weight32.astype("float16"), od.nd.array([1.0]).astype("float16")
    for _ in range(8):
        od.nd.mp_sgd_update(weight, grad, weight32, lr=1e-4, out=weight)
    np.testing.assert_allclose(weight32.asnumpy(), [1 - 8e-4], rtol=1e-6)
    np.testing.assert_array_equal(weight.asnumpy(), weight32.asnumpy().astype("float16"))


def test_lamb_takes_the_norms_ratio_as_1_where_a_norm_is_0() -> None:
    weight, direction = od.nd.array([0.0]), od.nd.array([2.0])
    out = od.nd.lamb_update_phase2(weight, direction, od.nd.array([0.0]), od.nd.array([2.0]), lr=0.5)
    np.testing.assert_array_equal(out.asnumpy(), [-1.0])
