"""Updates of several weights in one operator call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ConfigError

SHAPES = ((3, 4), (5,), (2, 2), (7,), (1, 3), (4,))


def trained(optimizer: Any, together: bool, dtypes: tuple[str, ...] = ("float32",)) -> list[Any]:
    """The weights and states after three updates, of all weights at once or one by one."""
    rng = np.random.RandomState(0)
    kinds = [dtypes[number % len(dtypes)] for number in range(len(SHAPES))]
    weights = [od.nd.array(rng.randn(*shape), dtype=kind) for shape, kind in zip(SHAPES, kinds, strict=True)]
    updater = od.optimizer.get_updater(optimizer)
    for _ in range(3):
        grads = [od.nd.array(rng.randn(*w.shape), dtype=w.dtype) for w in weights]
        if together:
            updater(list(range(len(weights))), grads, weights)
        else:
            for index, (grad, weight) in enumerate(zip(grads, weights, strict=True)):
                updater(index, grad, weight)
    return [weights, [updater.states[index] for index in range(len(weights))]]


def values(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [values(each) for each in found]
    return None if found is None else (found.dtype.name, found.asnumpy().tobytes())


@pytest.fixture(params=[False, True])
def always_pays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls for several weights, as on devices, and what is done on the host."""
    for module in ("gradient_descent", "adaptive") if request.param else ():
        monkeypatch.setattr(f"operad_optimizer.{module}.pays_together", lambda *_: True)


@pytest.mark.usefixtures("always_pays")
@pytest.mark.parametrize("size", [2, 4, 100])
@pytest.mark.parametrize(
    ("name", "arguments", "dtypes"),
    [
        ("sgd", {}, ("float32",)),
        ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 0.5}, ("float32", "float64")),
        ("sgd", {"momentum": 0.9, "multi_precision": True}, ("float16", "float32")),
        ("ccsgd", {"momentum": 0.9}, ("float16",)),
        ("lamb", {"wd": 0.01, "lower_bound": 0.1}, ("float32",)),
        ("adam", {}, ("float32",)),
    ],
)
def test_weights_move_by_the_same_bits_together_as_one_by_one(
    name: str, arguments: dict[str, Any], dtypes: tuple[str, ...], size: int
) -> None:
    made = [od.optimizer.create(name, learning_rate=0.1, **arguments) for _ in range(2)]
    for optimizer in made:
        optimizer.set_lr_mult({1: 0.5})
        if optimizer.aggregate_num:
            optimizer.aggregate_num = size
    assert values(trained(made[0], True, dtypes)) == values(trained(made[1], False, dtypes))
    assert made[0]._index_update_count == made[1]._index_update_count


def test_one_call_moves_as_many_weights_as_the_optimizer_says(monkeypatch: pytest.MonkeyPatch) -> None:
    sgd = od.optimizer.SGD(multi_precision=True)
    seen: list[int] = []
    step_several = type(sgd).step_several

    def counted(self: Any, indices: Any, *rest: Any) -> None:
        seen.append(len(indices))
        step_several(self, indices, *rest)

    monkeypatch.setattr(type(sgd), "step_several", counted)
    trained(sgd, together=True, dtypes=("float16",))
    assert seen == [4, 2] * 3


@pytest.mark.parametrize(("name", "size", "calls"), [("sgd", 4, 0), ("lamb", 4, 1), ("lamb", 20_000, 0)])
def test_calls_for_several_weights_are_made_where_they_pay(
    monkeypatch: pytest.MonkeyPatch, name: str, size: int, calls: int
) -> None:
    made: list[str] = []
    for operator in ("multi_sgd_update", "_multi_lamb_update"):
        monkeypatch.setattr(od.nd, operator, lambda *_, **__: made.append(name))
    weights, grads = ([od.nd.ones(size) for _ in range(2)] for _ in range(2))
    od.nd.waitall()
    od.optimizer.get_updater(od.optimizer.create(name))([0, 1], grads, weights)
    assert len(made) == calls


def test_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERAD_OPTIMIZER_AGGREGATION_SIZE", "0")
    assert od.optimizer.get_updater(od.optimizer.SGD()).aggregate_updates is False
    monkeypatch.setenv("OPERAD_OPTIMIZER_AGGREGATION_SIZE", "-1")
    with pytest.raises(ConfigError, match="at least 0"):
        od.optimizer.get_updater(od.optimizer.SGD())


def test_a_subclass_that_says_how_one_weight_moves_is_asked_for_each() -> None:
    class Half(od.optimizer.SGD):
        def step(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            weight *= 0.5

    updater, weights = od.optimizer.get_updater(Half()), [od.nd.ones(2), od.nd.ones(3)]
    updater([0, 1], [od.nd.ones(2), od.nd.ones(3)], weights)
    assert [w.asnumpy().tolist() for w in weights] == [[0.5] * 2, [0.5] * 3]


def test_states_follow_their_weights_to_another_context() -> None:
    updater = od.optimizer.get_updater(od.optimizer.Adam())
    state = (od.nd.ones(2), None, [od.nd.zeros(1, ctx=od.cpu(1))])
    first, none, (inner,) = updater.sync_state_context(state, od.cpu(1))
    assert (first.context, none, inner) == (od.cpu(1), None, state[2][0])
