"""Errors about arguments: names that are suggested, numbers that are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad_sdk import ParamError
from operad_sdk.arguments import Suggesting, UnknownArgumentError, closest, described, suggesting


class Base(metaclass=Suggesting):
    def __init__(self, rate: float | None = None, name: str = "base") -> None:
        self.rate, self.name = rate, name


class Derived(Base):
    def __init__(self, momentum: float = 0.0, nesterov: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.momentum = momentum

    @suggesting
    def train(self, num_epoch: int = 1) -> int:
        return num_epoch

    @suggesting
    def fail(self, num_epoch: int = 1) -> int:
        return self.train(epochs=num_epoch)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "given", [{"momentum": "0.9"}, {"momentum": None}, {"rate": [1]}, {"nesterov": "no"}]
)
def test_what_is_no_number_is_refused_by_its_name(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ParamError, match=f"Derived: {name} is .*, expected a number"):
        Derived(**given)
    if name == "momentum":
        with pytest.raises(ParamError, match="expected a number"):
            Derived(given[name])


@pytest.mark.parametrize("given", [1, 0.5, np.float32(0.5), np.int64(2), True])
def test_numbers_of_every_kind_are_taken(given: Any) -> None:
    assert Derived(given, rate=given).momentum == given
    assert Derived(rate=None, name=3).name == 3  # type: ignore[call-arg]  # only numbers are looked at


def test_a_name_is_suggested_of_the_constructors_above_too() -> None:
    with pytest.raises(UnknownArgumentError, match="Derived: unknown argument 'rat'; did you mean 'rate'"):
        Derived(rat=1)
    with pytest.raises(TypeError, match="it has momentum, nesterov, rate, name"):
        Derived(colour=1)


def test_a_method_suggests_a_name() -> None:
    with pytest.raises(
        UnknownArgumentError, match="train: unknown argument 'epochs'; did you mean 'num_epoch'"
    ):
        Derived().train(epochs=3)  # type: ignore[call-arg]


def test_errors_from_inside_a_method_are_its_own() -> None:
    with pytest.raises(UnknownArgumentError, match=r"^train: "):
        Derived().fail(3)
    with pytest.raises(TypeError, match="takes from 1 to 2"):
        Derived().train(1, 2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("lr", "learning_rate"), ("weight_decay", "wd"), ("learn", "learning_rate"), ("colour", None)],
)
def test_the_closest_name(given: str, meant: str | None) -> None:
    assert closest(given, ["learning_rate", "wd", "momentum"]) == meant


def test_a_description_has_what_is_no_default_as_it_is_now() -> None:
    made = Derived(0.9, rate=1e-3)
    assert described(made) == "Derived(momentum=0.9, rate=0.001)"
    made.rate = 0.5
    assert described(made) == "Derived(momentum=0.9, rate=0.5)"
    assert described(Derived()) == "Derived()"
