"""Updates of several tensors, which are those of one tensor, tensor by tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_optimizer.updates.family import BLOCK

RNG = np.random.default_rng(4)
SHAPES = [(3, 4), (), (2, BLOCK // 2 + 3), (0, 2)]
LRS, WDS = (0.5, 0.25, 0.125, 1.0), (0.0, 0.5, 0.25, 0.0)  # in float32 as in float64
SGD = {"rescale_grad": 0.5, "clip_gradient": 0.4}
ADAM = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "clip_gradient": 0.4}
ADAM_STATES = ("mean", "var")

FORMS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "multi_sgd_update": ("sgd_update", (), SGD),
    "multi_sgd_mom_update": ("sgd_mom_update", ("mom",), {**SGD, "momentum": 0.75}),
    "multi_mp_sgd_update": ("mp_sgd_update", ("weight32",), SGD),
    "multi_mp_sgd_mom_update": ("mp_sgd_mom_update", ("mom", "weight32"), {**SGD, "momentum": 0.75}),
    "_multi_adamw_update": ("_adamw_update", ADAM_STATES, ADAM),
    "_multi_mp_adamw_update": ("_mp_adamw_update", (*ADAM_STATES, "weight32"), ADAM),
}
FORMS |= {f"preloaded_{name}": form for name, form in FORMS.items() if "sgd" in name}


def arrays(shape: tuple[int, ...], states: tuple[str, ...]) -> list[Any]:
    """Weight, gradient and states of one tensor."""
    half = "float16" if "weight32" in states else "float32"
    weight, grad = (RNG.uniform(-1, 1, shape).astype(half) for _ in range(2))
    kept = [RNG.uniform(0.5, 1, shape).astype("float32") for _ in states if _ != "weight32"]
    return [weight, grad, *kept, *([weight.astype("float32")] if half == "float16" else [])]


def on_device(tensors: list[list[Any]]) -> list[list[od.NDArray]]:
    return [[od.nd.array(value, dtype=value.dtype) for value in tensor] for tensor in tensors]


def assert_same_bits(one: list[list[od.NDArray]], other: list[list[od.NDArray]]) -> None:
    for first, second in zip(one, other, strict=True):
        for found, expected in zip(first, second, strict=True):
            np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy(), strict=True)


@pytest.mark.parametrize("name", FORMS)
def test_each_tensor_moves_by_the_bits_of_a_call_of_its_own(name: str) -> None:
    single, states, params = FORMS[name]
    tensors = [arrays(shape, states) for shape in SHAPES]
    alone, together = on_device(tensors), on_device(tensors)
    scale = [od.nd.array([0.5])] if "adamw" in name else []
    eta = {"eta": 0.5} if scale else {}
    for tensor, lr, wd in zip(alone, LRS, WDS, strict=True):
        getattr(od.nd, single)(*tensor, *scale, lr=lr, wd=wd, **eta, **params, out=tensor[0])
    rates: dict[str, Any] = {"lrs": LRS, "wds": WDS, **({"etas": (0.5,) * 4} if scale else {})}
    loaded = []
    if name.startswith("preloaded"):
        loaded, rates = [od.nd.array(LRS), od.nd.array(WDS)], {}
    given = [array for tensor in together for array in tensor]
    out = [tensor[0] for tensor in together]
    getattr(od.nd, name)(*given, *loaded, *scale, num_weights=4, **rates, **params, out=out)
    assert_same_bits(together, alone)


@pytest.mark.parametrize("mixed", ["", "mp_"])
def test_lamb_of_several_tensors_is_both_phases_of_each(mixed: str) -> None:
    states = (*ADAM_STATES, *(["weight32"] if mixed else []))
    tensors = [arrays(shape, states) for shape in SHAPES[:3]]
    alone, together = on_device(tensors), on_device(tensors)
    common = {"beta1": 0.8, "rescale_grad": 0.5}
    for tensor, lr, wd in zip(alone, LRS, WDS, strict=False):
        direction = getattr(od.nd, f"{mixed}lamb_update_phase1")(*tensor, t=2, wd=wd, **common)
        own = tensor[-1] if mixed else tensor[0]
        norms = [od.nd._lamb_norm(own), od.nd._lamb_norm(direction)]
        phase2 = getattr(od.nd, f"{mixed}lamb_update_phase2")
        phase2(tensor[0], direction, *norms, *([own] if mixed else []), lr=lr, upper_bound=5.0, out=tensor[0])
    getattr(od.nd, f"_multi_{mixed}lamb_update")(
        *(array for tensor in together for array in tensor),
        learning_rates=LRS[:3], wds=WDS[:3], step_count=(2, 2, 2), num_tensors=3, upper_bound=5.0, **common,
        out=[tensor[0] for tensor in together],
    )  # fmt: skip
    assert_same_bits(together, alone)


@pytest.mark.parametrize("given", [{"lrs": (0.1,)}, {"lrs": (0.1, 0.2, 0.3)}, {"wds": ()}])
def test_as_many_rates_as_tensors_are_wanted(given: dict[str, Any]) -> None:
    tensors = [od.nd.array([1.0]) for _ in range(4)]
    params: dict[str, Any] = {"lrs": (0.1, 0.2), "wds": (0.0, 0.0), "num_weights": 2}
    od.nd.multi_sgd_update(*tensors, **params)  # so that a plan is there, which takes other rates
    with pytest.raises(ParamError, match="expected 2 items, one for each tensor"):
        od.nd.multi_sgd_update(*tensors, **{**params, **given})


def test_a_gradient_of_another_shape_is_refused_by_its_name() -> None:
    weight, grad = od.nd.array([1, 2]), od.nd.array([1, 2, 3])
    with pytest.raises(ShapeError, match=r"grad_1 has shape \(3,\), expected \(2,\)"):
        od.nd.multi_sgd_update(weight, weight, weight, grad, lrs=(0.1,) * 2, wds=(0,) * 2, num_weights=2)


def test_a_new_rate_of_several_tensors_makes_no_new_operator(made: list[str]) -> None:
    tensors = [od.nd.array(np.ones((5, 1, 3))) for _ in range(4)]  # a shape of this test alone
    for lr in (0.11, 0.12):
        od.nd.multi_sgd_update(*tensors, lrs=(lr, lr), wds=(0, 0), num_weights=2)
    assert made == ["multi_sgd_update"]


@pytest.mark.parametrize("count", [1, 3])
def test_new_rates_of_several_tensors_need_no_new_plan(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    tensors = [od.nd.array(np.ones((7, 2))) for _ in range(2 * count)]

    def move(lr: float) -> Any:
        return od.nd.multi_sgd_update(*tensors, lrs=[lr] * count, wds=[0.0] * count, num_weights=count)

    move(0.5)
    monkeypatch.setattr("operad.imperative.plan.Plan.bound", None)
    monkeypatch.setattr("operad.ndarray.function.find_invoker", None)
    moved = move(0.25)
    np.testing.assert_array_equal((moved if count == 1 else moved[-1]).asnumpy(), np.full((7, 2), 0.75, "f"))


@pytest.mark.parametrize("scale", [0.0, float("nan"), float("inf")])
def test_a_gradient_of_no_finite_scale_moves_nothing(scale: float) -> None:
    tensor = [od.nd.array([value]) for value in (1.0, 2.0, 3.0, 4.0)]
    od.nd._adamw_update(*tensor, od.nd.array([scale]), lr=0.1, eta=1.0, wd=0.5, out=tensor[0])
    assert [array.asscalar() for array in tensor] == [1.0, 2.0, 3.0, 4.0]


def test_squares_of_half_precision_are_summed_beyond_its_range() -> None:
    values = np.full(70_000, 2.0, "float16")
    out = od.nd.multi_sum_sq(od.nd.array(values, dtype="float16"), num_arrays=1)
    np.testing.assert_array_equal(out.asnumpy(), np.array([280_000], "float32"), strict=True)


@pytest.mark.parametrize(("weight", "grad"), [(0.0, 1.0), (1.0, 0.0)])
def test_lars_keeps_the_rate_where_a_norm_is_0(weight: float, grad: float) -> None:
    norms = [od.nd.array([weight]), od.nd.array([grad])]
    out = od.nd.multi_lars(od.nd.array([0.25]), *norms, od.nd.array([0.5]), eta=0.5, eps=0.0)
    assert out.asscalar() == 0.25


def test_finiteness_is_gathered_in_out() -> None:
    good, bad = od.nd.array([1.0, 2.0]), od.nd.array([float("nan")])
    out = od.nd.array([9.0])
    answers = []
    for array, is_first in ((good, True), (good, False), (bad, False), (good, False)):
        od.nd.all_finite(array, init_output=is_first, out=out)
        answers.append(out.asscalar())
    assert answers == [1, 1, 0, 0]


def test_rows_without_a_gradient_stay_in_group_adagrad() -> None:
    weight, history = od.nd.array([[1, 2], [3, 4]]), od.nd.array([[0], [7]])
    grad = od.nd.array([[3, 4], [0, 0]])
    od.nd._contrib_group_adagrad_update(weight, grad, history, lr=0.5, epsilon=0, out=weight)
    root = np.sqrt((3**2 + 4**2) / 2)
    np.testing.assert_allclose(weight.asnumpy(), [[1 - 1.5 / root, 2 - 2 / root], [3, 4]], rtol=1e-6)
    np.testing.assert_array_equal(history.asnumpy(), [[12.5], [7]])


@pytest.mark.parametrize("count", [2, 5])
def test_results_in_other_weights_do_not_disturb_inputs(count):
    weights = [od.nd.array([float(place)]) for place in range(count)]
    flat = [array for weight in weights for array in (weight, od.nd.zeros(1))]
    moved = weights[1:] + weights[:1]  # each result overwrites the next weight
    od.nd.multi_sgd_update(*flat, lrs=(0.1,) * count, wds=(0.0,) * count, num_weights=count, out=moved)
    assert [array.asscalar() for array in moved] == list(range(count))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 6])
def test_any_number_of_arrays_is_looked_at(count: int) -> None:
    arrays = [od.nd.ones(2) for _ in range(count)]
    assert od.nd.multi_all_finite(*arrays, num_arrays=count).asscalar() == 1
    arrays[-1][1] = np.nan
    assert od.nd.multi_all_finite(*arrays, num_arrays=count).asscalar() == 0
