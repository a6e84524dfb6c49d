from __future__ import annotations

import math
from typing import Any

import pytest

import operad as od
from operad.errors import ParamError


def rates(schedule: Any, numbers: list[int]) -> list[float]:
    return [round(schedule(number), 6) for number in numbers]


def test_factor_goes_down_every_step_until_it_stops() -> None:
    schedule = od.lr_scheduler.FactorScheduler(step=2, factor=0.1, stop_factor_lr=0.005, base_lr=1.0)
    assert rates(schedule, [1, 2, 3, 4, 5, 6, 7, 9]) == [1, 1, 0.1, 0.1, 0.01, 0.01, 0.005, 0.005]


def test_multi_factor_goes_down_after_given_updates() -> None:
    schedule = od.lr_scheduler.MultiFactorScheduler(step=[2, 5], factor=0.5, base_lr=1.0)
    assert rates(schedule, [1, 2, 3, 5, 6]) == [1, 1, 0.5, 0.5, 0.25]


def test_poly_goes_down_as_a_power_to_the_final_rate() -> None:
    schedule = od.lr_scheduler.PolyScheduler(max_update=4, base_lr=1.0, pwr=1, final_lr=0.2)
    assert rates(schedule, [0, 1, 2, 4, 100]) == [1, 0.8, 0.6, 0.2, 0.2]


def test_cosine_goes_down_along_half_a_wave() -> None:
    schedule = od.lr_scheduler.CosineScheduler(max_update=4, base_lr=1.0, final_lr=0.0)
    assert rates(schedule, [0, 1, 2, 4, 9]) == [1, round((1 + math.sqrt(0.5)) / 2, 6), 0.5, 0, 0]


@pytest.mark.parametrize(("mode", "expected"), [("linear", [0.1, 0.4, 0.7]), ("constant", [0.1, 0.1, 0.1])])
def test_a_warm_up_comes_first(mode: Any, expected: list[float]) -> None:
    schedule = od.lr_scheduler.PolyScheduler(
        max_update=13, base_lr=1.0, pwr=1, warmup_steps=3, warmup_begin_lr=0.1, warmup_mode=mode
    )
    assert rates(schedule, [0, 1, 2, 3, 8]) == [*expected, 1, 0.5]


def test_asking_twice_gives_the_same_rate() -> None:
    schedule = od.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    assert rates(schedule, [5, 1, 5]) == [0.0625, 1.0, 0.0625]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("FactorScheduler", {"step": 0}),
        ("FactorScheduler", {"step": 1, "factor": 2}),
        ("MultiFactorScheduler", {"step": [3, 2]}),
        ("PolyScheduler", {"max_update": 0}),
        ("CosineScheduler", {"max_update": 3, "warmup_steps": 3}),
        ("CosineScheduler", {"max_update": 3, "warmup_begin_lr": 1.0}),
        ("CosineScheduler", {"max_update": 3, "warmup_mode": "quick"}),
    ],
)
def test_arguments_out_of_range_are_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ParamError, match=name):
        getattr(od.lr_scheduler, name)(**arguments)


def test_a_schedule_of_a_program_may_be_a_call() -> None:
    class Halving(od.lr_scheduler.LRScheduler):
        def __call__(self, num_update: int) -> float:
            return float(self.base_lr / 2**num_update)

    assert rates(Halving(base_lr=1.0), [0, 1, 3]) == [1, 0.5, 0.125]
    with pytest.raises(NotImplementedError, match="LRScheduler does not say"):
        od.lr_scheduler.LRScheduler()(1)
