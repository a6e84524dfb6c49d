from __future__ import annotations

from typing import Any

import pytest

import operad as od
from operad import NDArray
from operad_optimizer import lr_scheduler
from operad_optimizer.base import Optimizer, register
from operad_optimizer.initializer import base
from operad_sdk.arguments import UnknownArgumentError

OPTIMIZERS = ["sgd", "nag", "signum", "adam", "rmsprop", "ftrl", "ftml", "lamb"]
INITIALIZERS = sorted(base._registered._classes)
SCHEDULERS = [
    c for c in vars(lr_scheduler).values() if isinstance(c, type) and c.__module__ == lr_scheduler.__name__
]


@pytest.mark.walk
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("lr", "learning_rate"), ("learn_rate", "learning_rate"), ("weight_decay", "wd"),
        ("rescale", "rescale_grad"), ("clip_grad", "clip_gradient"), ("scheduler", "lr_scheduler"),
    ],
)  # fmt: skip
def test_an_optimizer_says_which_argument_may_be_meant(name: str, given: str, meant: str) -> None:
    with pytest.raises(
        UnknownArgumentError, match=rf"^(?i:{name}): unknown argument '{given}'; did you mean '{meant}'"
    ):
        od.optimizer.create(name, **{given: 0.1})


def test_arguments_of_one_optimizer_are_suggested_too() -> None:
    with pytest.raises(
        UnknownArgumentError, match="SGD: unknown argument 'momentun'; did you mean 'momentum'"
    ):
        od.optimizer.SGD(momentun=0.9)
    with pytest.raises(UnknownArgumentError, match="Adam: unknown argument 'eps'; did you mean 'epsilon'"):
        od.optimizer.Adam(eps=1e-8)


@pytest.mark.parametrize("cls", SCHEDULERS)
def test_a_schedule_says_which_argument_may_be_meant(cls: Any) -> None:
    if cls.__abstractmethods__:
        return
    with pytest.raises(
        UnknownArgumentError, match=rf"{cls.__name__}: unknown argument 'warmup_step'.*'warmup_steps'"
    ):
        cls(warmup_step=3)


@pytest.mark.parametrize("name", INITIALIZERS)
def test_an_initializer_refuses_an_unknown_argument(name: str) -> None:
    with pytest.raises(UnknownArgumentError, match="unknown argument 'colour'; it has"):
        od.init.create(name, colour=1)


def test_an_initializer_says_which_argument_may_be_meant() -> None:
    with pytest.raises(UnknownArgumentError, match="Normal: unknown argument 'sigm'; did you mean 'sigma'"):
        od.init.Normal(sigm=1)


def test_an_optimizer_may_take_arguments_of_its_own_and_hand_the_rest_up() -> None:
    @register
    class Own(Optimizer):
        def __init__(self, **arguments: Any) -> None:
            self.mood = arguments.pop("mood")
            super().__init__(**arguments)

        def create_state(self, index: Any, weight: NDArray) -> None: ...

        def step(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None: ...

    assert Own(mood="good", learning_rate=0.5).learning_rate == 0.5
    with pytest.raises(
        UnknownArgumentError, match="Own: unknown argument 'lr'; did you mean 'learning_rate'"
    ):
        Own(mood="good", lr=0.5)


def test_other_type_errors_are_python_s_own() -> None:
    with pytest.raises(TypeError, match="missing 1 required"):
        lr_scheduler.FactorScheduler()
