from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, FormatError
from operad_optimizer import optimizer as known
from operad_optimizer.base import Optimizer

CLASSES = sorted(
    name
    for name, cls in vars(known).items()
    if isinstance(cls, type) and issubclass(cls, Optimizer) and cls is not Optimizer
)


def moved(optimizer: Optimizer, steps: int, updater: Any = None) -> Any:
    updater = updater or od.optimizer.get_updater(optimizer)
    weight = od.nd.array(np.linspace(-1, 1, 6).reshape(2, 3))
    for step in range(steps):
        od.random.seed(step)
        updater("w_weight", od.nd.array(np.full((2, 3), 0.1 * (step + 1))), weight)
    return weight.asnumpy(), updater


@pytest.mark.parametrize("name", CLASSES)
def test_every_optimizer_moves_weights_alike_as_the_one_that_it_was_declared_from(name: str) -> None:
    made = od.optimizer.create(name, clip_gradient=np.float32(0.25), param_idx2name={"w_weight": "w"})
    made.set_lr_mult({"w_weight": 0.5})
    back = od.optimizer.from_declared(od.optimizer.declare(made))
    assert type(back) is type(made)
    assert np.array_equal(moved(back, 4)[0], moved(made, 4)[0])


@pytest.mark.parametrize("name", CLASSES)
def test_an_optimizer_that_has_moved_weights_goes_on_alike(name: str) -> None:
    made = od.optimizer.create(name, learning_rate=0.1)
    _, updater = moved(made, 3)
    back = od.optimizer.from_declared(od.optimizer.declare(made))
    again = od.optimizer.get_updater(back)
    again.set_states(updater.get_states())
    assert np.array_equal(moved(back, 2, again)[0], moved(made, 2, updater)[0])


@pytest.mark.parametrize(
    "schedule",
    [
        od.lr_scheduler.FactorScheduler(step=2, factor=0.5),
        od.lr_scheduler.MultiFactorScheduler(step=[1, 3], factor=0.5),
        od.lr_scheduler.CosineScheduler(max_update=5, final_lr=0.001),
        od.lr_scheduler.PolyScheduler(max_update=5, warmup_steps=2),
    ],
)
def test_a_schedule_travels_with_it(schedule: Any) -> None:
    made = od.optimizer.create("sgd", lr_scheduler=schedule, learning_rate=0.3)
    back = od.optimizer.from_declared(od.optimizer.declare(made))
    assert np.array_equal(moved(back, 5)[0], moved(made, 5)[0])


def test_multipliers_of_a_programs_parameters_travel() -> None:
    class Parameter:
        lr_mult, wd_mult = 0.25, 0.0

    made = od.optimizer.create("sgd", learning_rate=0.5, param_dict={"w_weight": Parameter()})
    back = od.optimizer.from_declared(od.optimizer.declare(made))
    assert np.array_equal(moved(back, 2)[0], moved(made, 2)[0])


def test_what_is_code_of_a_program_cannot_be_declared() -> None:
    class Own(Optimizer):
        pass

    class Falling(od.lr_scheduler.LRScheduler):  # type: ignore[misc]
        pass

    for one in (Own(), od.optimizer.create("sgd", lr_scheduler=Falling())):
        assert not od.optimizer.is_declarable(one)
        with pytest.raises(ArgumentError, match="not an optimizer of operad_optimizer"):
            od.optimizer.declare(one)
    made = od.optimizer.create("sgd")
    made.hook = print
    with pytest.raises(ArgumentError, match=r"\['hook'\] is <built-in"):
        od.optimizer.declare(made)


@pytest.mark.parametrize(
    "change", [{"name": "os"}, {"name": "create"}, {"holds": 1}, {"schedule": {"name": "math"}}]
)
def test_other_names_and_shapes_are_refused(change: dict[str, Any]) -> None:
    tree = od.optimizer.declare(od.optimizer.create("sgd")) | change
    with pytest.raises(FormatError, match="from_declared"):
        od.optimizer.from_declared(tree)
