"""`mx.registry`, `mx.misc`, `mx.base`: classes by name, and what is left of older modules."""

from __future__ import annotations

import json

import numpy as np
import pytest

import operad as mx
from operad.errors import ParamError


class Loss:
    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale


register = mx.registry.get_register_func(Loss, "loss")
alias = mx.registry.get_alias_func(Loss, "loss")
create = mx.registry.get_create_func(Loss, "loss")


@register
@alias("l2", "square")
class SquaredLoss(Loss):
    pass


@pytest.mark.parametrize(
    "made",
    [
        lambda: create("squaredloss", 2.0), lambda: create("L2", scale=2.0),
        lambda: create(loss="square", scale=2.0),
        lambda: create(json.dumps(["l2", {"scale": 2.0}])), lambda: create({"loss": "l2", "scale": 2.0}),
        lambda: create(json.dumps({"loss": "l2", "scale": 2.0})), lambda: create(SquaredLoss(2.0)),
    ],
)  # fmt: skip
def test_classes_are_made_by_name_alias_or_json(made) -> None:
    assert (type(made()), made().scale) == (SquaredLoss, 2.0)


def test_a_registry_is_given_as_a_copy() -> None:
    found = mx.registry.get_registry(Loss)
    assert found == {"squaredloss": SquaredLoss, "l2": SquaredLoss, "square": SquaredLoss}
    found.clear()
    assert mx.registry.get_registry(Loss)


def test_another_class_of_the_name_warns() -> None:
    made = type("Other", (Loss,), {})
    register(made, "once")
    with pytest.warns(UserWarning, match="loss 'once' was"):
        register(type("Other", (Loss,), {}), "once")
    mx.registry.get_register_func(Loss, "loss")(made, "mine")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: create("l3"), "no loss 'l3'; expected one of l2, "), (lambda: create(3), "got 3"),
        (lambda: create(), "name a loss"), (lambda: register(int), "does not derive from Loss"),
        (lambda: create("[l2"), "is not JSON"), (lambda: create(Loss(), 1), "takes no arguments"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(call, message: str) -> None:
    with pytest.raises(ParamError, match=message):
        call()


def test_the_older_scheduler_has_its_defaults() -> None:
    scheduler = mx.misc.FactorScheduler(10)
    scheduler.base_lr = 1.0
    assert [round(scheduler(count), 6) for count in (10, 11, 21)] == [1.0, 0.1, 0.01]
    assert isinstance(scheduler, mx.misc.LearningRateScheduler)


def test_plain_values_of_base(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (mx.base.mx_real_t, mx.base.py_str(b"\xc3\xa9")) == (np.float32, "é")
    assert mx.MXNetError is mx.base.MXNetError is mx.OperadError
    monkeypatch.setenv("MXNET_HOME", "/data")
    assert mx.base.data_dir() == "/data"
    assert mx.libinfo.find_lib_path()[0].endswith("operad")
    assert mx.opt is mx.optimizer
