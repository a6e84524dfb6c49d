"""Where weights are after five steps, as MXNet 1.9.1 said once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od

_random = np.random.RandomState(11)
WEIGHTS = [_random.randn(2, 3), _random.randn(4)]
GRADIENTS = [[_random.randn(*weight.shape) for weight in WEIGHTS] for _ in range(5)]
COMMON: dict[str, Any] = {
    "wd": 0.01,
    "clip_gradient": 1.5,
    "rescale_grad": 0.5,
    "param_idx2name": {0: "a_weight", 1: "b_weight"},
}

# fmt: off
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("adadelta", {},
     "1.66074 -0.239015 -0.487234 -2.54889 -0.0192393 -0.287733 -0.552261 0.29188 0.459258 -1.0003"),
    ("adadelta", {"rho": 0.5, "epsilon": 0.001},
     "1.64588 -0.118871 -0.567826 -2.6462 -0.0856141 -0.23621 -0.721602 0.272723 0.593142 -0.954577"),
    ("adagrad", {"learning_rate": 0.1},
     "1.75517 -0.0237665 -0.691652 -2.84644 -0.0386748 -0.169939 -0.824825 0.218738 0.79539 -0.937824"),
    ("adagrad", {"learning_rate": 0.1, "eps": 0.01},
     "1.75351 -0.0373228 -0.68632 -2.83991 -0.038874 -0.171804 -0.818759 0.219429 0.67764 -0.942941"),
    ("adamax", {},
     "1.75079 -0.279071 -0.490914 -2.65835 -0.00631935 -0.314653 -0.54451 0.310833 0.427048 -1.06116"),
    ("adamax", {"beta1": 0.5},
     "1.75001 -0.279243 -0.490063 -2.65782 -0.00798801 -0.315316 -0.544142 0.311874 0.428118 -1.06182"),
    ("dcasgd", {"learning_rate": 0.1},
     "1.72223 -0.194541 -0.589167 -2.75746 -0.0521734 -0.22224 -0.693211 0.233689 0.59754 -1.02231"),
    ("lars", {"learning_rate": 0.1},
     "1.74939 -0.285684 -0.484868 -2.65353 -0.008475 -0.319356 -0.536888 0.315354 0.421267 -1.06551"),
    ("lars", {"learning_rate": 0.1, "momentum": 0.9, "eta": 0.01, "eps": 0.001},
     "1.75013 -0.2735 -0.491477 -2.65984 -0.00879577 -0.310985 -0.54308 0.311949 0.426019 -1.06202"),
    ("lbsgd", {"learning_rate": 0.1},
     "1.72229 -0.194468 -0.589175 -2.75754 -0.0521613 -0.222242 -0.69325 0.233714 0.59778 -1.02233"),
    ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9, "warmup_strategy": "lars"},
     "1.77602 0.364522 -0.842134 -2.98968 -0.0546223 0.126302 -0.861536 0.143496 0.668373 -0.884135"),
    ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9, "batch_scale": 2},
     "1.74555 -0.203436 -0.541995 -2.73954 -0.00542815 -0.242838 -0.618828 0.230706 0.512658 -1.00484"),
    ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9, "batch_scale": 4, "warmup_strategy": "power2",
      "updates_per_epoch": 1},
     "1.75282 -0.193836 -0.52174 -2.71206 -0.0258194 -0.244094 -0.607435 0.22496 0.545386 -1.02061"),
    ("lbsgd", {"learning_rate": 0.1, "warmup_strategy": "sqrt", "batch_scale": 1, "updates_per_epoch": 1},
     "1.72229 -0.194468 -0.589175 -2.75754 -0.0521613 -0.222242 -0.69325 0.233714 0.59778 -1.02233"),
    ("nadam", {},
     "1.74954 -0.283069 -0.487097 -2.65561 -0.00862126 -0.317698 -0.539814 0.314498 0.424846 -1.06452"),
    ("nadam", {"learning_rate": 0.05, "schedule_decay": 0.1},
     "1.75413 -0.136264 -0.610575 -2.76751 -0.0244831 -0.223216 -0.695029 0.269956 0.609878 -1.01122"),
    ("lamb", {},
     "1.74999 -0.277071 -0.492052 -2.66013 -0.00746541 -0.312993 -0.540773 0.3131 0.424665 -1.06379"),
    ("lamb", {"learning_rate": 0.1, "lower_bound": 0.5, "upper_bound": 1.2},
     "1.76904 0.0466282 -0.761264 -2.90524 0.0217218 -0.0742329 -0.91801 0.103607 0.75371 -0.898936"),
    ("lamb", {"learning_rate": 0.1, "bias_correction": False},
     "1.80808 0.703744 -1.31407 -3.42835 0.0527935 0.411711 -0.964523 0.0823491 0.794004 -0.885838"),
    ("ccsgd", {"learning_rate": 0.1, "momentum": 0.9},
     "1.73949 0.0158316 -0.756178 -2.98253 0.0167989 -0.0137428 -0.926606 -0.0584384 0.828715 -0.895835"),
    ("test", {},
     "1.93339 -1.19036 0.58791 -1.47562 0.429855 -1.28017 1.05932 1.12019 -1.36997 -1.4467"),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9},
     "1.73949 0.0158316 -0.756178 -2.98253 0.0167989 -0.0137428 -0.926606 -0.0584384 0.828715 -0.895835"),
    ("nag", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.0},
     "1.74303 0.0733258 -0.84277 -3.0997 -0.0289324 0.0488213 -1.05446 -0.0990111 0.972456 -0.886686"),
    ("nag", {"learning_rate": 0.1},
     "1.72229 -0.194468 -0.589175 -2.75754 -0.0521613 -0.222242 -0.69325 0.233714 0.59778 -1.02233"),
    ("signum", {},
     "1.73945 -0.236073 -0.534565 -2.70332 0.00171537 -0.269631 -0.586629 0.265403 0.471051 -1.0356"),
    ("signum", {"momentum": 0.0, "learning_rate": 0.1},
     "1.84033 0.0143555 -0.581748 -2.93948 -0.308043 -0.418036 -1.03295 0.214228 0.917951 -0.960885"),
    ("signum", {"wd_lh": 0.1},
     "1.73073 -0.234745 -0.532047 -2.68998 0.00167681 -0.268136 -0.583852 0.263929 0.46885 -1.03035"),
    ("adam", {"learning_rate": 0.1},
     "1.8048 0.146622 -0.85097 -2.99058 0.0834231 0.00561663 -1.00087 0.0443687 0.828265 -0.827204"),
    ("rmsprop", {"learning_rate": 0.1},
     "1.7502 0.549404 -1.14443 -3.28647 -0.140801 0.160044 -1.48523 0.0220813 1.61944 -0.667917"),
    ("rmsprop", {"learning_rate": 0.1, "centered": True},
     "2.26941 2.87311 -2.6588 -4.98997 0.315894 1.35205 -3.46892 -1.12321 4.3657 0.694832"),
    ("ftrl", {},
     "0.530703 0.0101409 -0.192433 -0.650796 -0.0225146 -0.0560521 -0.244479 0.0947947 0.101101 -0.241169"),
    ("ftml", {"learning_rate": 0.1},
     "1.76293 -0.0441977 -0.684735 -2.84254 -0.0274793 -0.174029 -0.81158 0.221565 0.769262 -0.942133"),
]
# fmt: on


def numbers(text: str) -> Any:
    return np.array(text.split(), dtype=np.float64)


def after_five_steps(name: str, dtype: str = "float32", **arguments: Any) -> Any:
    update = od.optimizer.get_updater(od.optimizer.create(name, **{**COMMON, **arguments}))
    weights = [od.nd.array(weight, dtype=dtype) for weight in WEIGHTS]
    for gradients in GRADIENTS:
        for index, gradient in enumerate(gradients):
            update(index, od.nd.array(gradient, dtype=dtype), weights[index])
    return np.concatenate([weight.asnumpy().ravel() for weight in weights])


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_weights_move_as_in_mxnet(name: str, arguments: dict[str, Any], expected: str) -> None:
    np.testing.assert_allclose(after_five_steps(name, **arguments), numbers(expected), rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_half_precision_moves_as_single_precision(
    name: str, arguments: dict[str, Any], expected: str
) -> None:
    weights = after_five_steps(name, "float16", multi_precision=True, **arguments)
    assert weights.dtype == np.float16
    np.testing.assert_allclose(weights, numbers(expected), rtol=1e-3, atol=2e-4)


def test_lars_follows_a_schedule_and_leaves_biases_at_the_plain_rate() -> None:
    schedule = od.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    names = {0: "a_weight", 1: "b_bias"}
    given: dict[str, Any] = {"wd": 0.01, "clip_gradient": None, "rescale_grad": 1.0, "param_idx2name": names}
    plain = {"momentum_correction": False, **given}
    weights = [
        after_five_steps("lars", learning_rate=0.1, momentum=0.9, lr_scheduler=schedule, **arguments)
        for arguments in (given, plain)
    ]
    corrected = [1.749571, -0.2857885, -0.4848104, -2.653588, -0.008077842, -0.3193285]
    uncorrected = [1.749749, -0.2855175, -0.4851086, -2.653913, -0.007735659, -0.3189549]
    of_bias = [-0.9970822, -0.3115017, 0.6100838, -0.7490582]
    np.testing.assert_allclose(weights[0][:6], corrected, rtol=1e-5, atol=5e-6)
    np.testing.assert_allclose(weights[1], uncorrected + of_bias, rtol=1e-5, atol=5e-6)


def test_rows_of_a_matrix_share_a_rate_in_group_adagrad() -> None:
    optimizer = od.optimizer.create("groupadagrad", learning_rate=0.1, clip_gradient=1.5, rescale_grad=0.5)
    update, weight = od.optimizer.get_updater(optimizer), od.nd.array(WEIGHTS[0])
    for gradients in GRADIENTS:
        update(0, od.nd.array(gradients[0]), weight)
    expected = [1.768993, -0.09615196, -0.6915762, -2.825843, -0.02000211, -0.1660953]
    np.testing.assert_allclose(weight.asnumpy().ravel(), expected, rtol=1e-5)


def test_delay_compensation_keeps_momentum() -> None:
    weight, gradient = np.array([1.0, -2.0]), np.array([0.5, 0.25])
    array, last, former = od.nd.array(weight), np.zeros(2), weight
    optimizer = od.optimizer.DCASGD(learning_rate=0.1, momentum=0.9, lamda=0.5, wd=0.01)
    update = od.optimizer.get_updater(optimizer)
    for _ in range(3):
        update(0, od.nd.array(gradient), array)
        delayed = 0.5 * gradient**2 * (weight - former)
        last = 0.9 * last - 0.1 * (gradient + 0.01 * weight + delayed)
        former, weight = weight, weight + last
    np.testing.assert_allclose(array.asnumpy(), weight, rtol=1e-6)


def test_langevin_noise_has_the_rate_as_variance() -> None:
    od.random.seed(1)
    weight = od.nd.ones((40_000,))
    od.optimizer.get_updater(od.optimizer.SGLD(learning_rate=0.01, wd=0.1))(0, weight, weight)
    noise = weight.asnumpy() - (1 - 0.005 * 1.1)
    assert abs(noise.mean()) < 5 * 0.1 / 200
    np.testing.assert_allclose(noise.std(), 0.1, rtol=0.02)


def test_a_weight_without_gradient_stays_in_adamax() -> None:
    weight = od.nd.array([1.0, 2.0])
    od.optimizer.get_updater(od.optimizer.Adamax())(0, od.nd.zeros((2,)), weight)
    np.testing.assert_array_equal(weight.asnumpy(), [1, 2])


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("linear", [1.0, 1.875, 2.75, 4.5, 8.0, 8.0]),
        ("power2", [1.0, 1.109375, 1.4375, 2.75, 8.0, 8.0]),
        ("sqrt", [1.0, 3.474874, 4.5, 5.949747, 8.0, 8.0]),
    ],
)
def test_the_rate_of_large_batches_warms_up(strategy: str, expected: list[float]) -> None:
    optimizer = od.optimizer.LBSGD(
        warmup_strategy=strategy, batch_scale=8, updates_per_epoch=4, warmup_epochs=2
    )
    np.testing.assert_allclose([optimizer.multiplier(n) for n in (0, 1, 2, 4, 8, 9)], expected, rtol=1e-6)
