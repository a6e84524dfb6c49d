"""Arrays that the parts of a composed operator hand to each other are seen, and can be others."""

from __future__ import annotations

import numpy as np

import operad as od
from operad import registry
from operad_sdk import OperatorProperty, composed, operator, unary
from operad_sdk.check.cases.retype import perturbed
from operad_sdk.check.trials.case import Case
from operad_sdk.check.trials.parts import replace_between, values_between
from operad_sdk.check.trials.subject import subject_of
from operad_sdk.check.trials.trial import Trial


@composed("parts_cube", accepts="floating")
def cube(data: od.Symbol) -> od.Symbol:
    return od.sym.square(data) * data


@unary("parts_less", accepts="floating")
def without_parts(x):
    return x + 1


def trial(op, *values: float, **options) -> Trial:
    return Trial(subject_of(op), Case(inputs={"data": np.array(values)}, **options))


def test_each_array_between_is_seen() -> None:
    assert [array.item() for array in values_between(trial(cube, 3.0))] == [9.0, 27.0]
    assert values_between(trial(without_parts, 3.0)) == []


def test_arrays_of_gradients_are_seen_where_they_are_asked_for() -> None:
    head = (np.ones(1),)
    found = [array.item() for array in values_between(trial(cube, 3.0, out_grads=head), with_gradients=True)]
    assert found[:2] == [9.0, 27.0]
    assert found[-1] == 27.0  # 3 x^2


def test_what_prediction_does_not_write_is_not_seen() -> None:
    @operator("parts_noted")
    class Noted(OperatorProperty):
        spec = "data:(N) -> output:(N), hidden train note:(N)"
        accepts = "floating"

        def forward(data, is_train):
            return data, data if is_train else None

    registry.register(Noted)
    try:
        op = composed("parts_of_noted", accepts="floating")(od.sym.parts_noted(od.sym.var("data")))
        seen = {mode: len(values_between(trial(op, 3.0), is_train=mode)) for mode in (True, False)}
    finally:
        registry.unregister("parts_noted")
    assert seen == {True: 2, False: 1}


def test_a_part_reads_what_is_put_in_the_place_of_an_array() -> None:
    made = trial(cube, 3.0)
    assert replace_between(made, lambda array: array + 1)
    assert made.result.outputs[0].item() == (9 + 1) * 3 + 1
    assert not replace_between(trial(without_parts, 3.0), np.negative)


def test_rounding_the_arguments_rounds_what_is_between() -> None:
    here = trial(cube, 1.0, 1.0, 1.0)
    moved = perturbed(here, 2.0**-10, relative=True)
    data, found = moved.inputs[0], moved.result.outputs[0]
    apart = np.abs(found / data**3 - 1)
    assert (apart > 0).all()
    assert (apart < 3 * 2.0**-10).all()


def test_the_largest_of_rounded_numbers_is_one_of_them() -> None:
    @composed("parts_largest", accepts="floating")
    def largest(data: od.Symbol) -> od.Symbol:
        return od.sym.max(od.sym.square(data))

    for salt in range(4):
        made = perturbed(
            trial(largest, 1.0, 1.001, 0.999, out_grads=(np.ones(()),)), 2.0**-10, relative=True, salt=salt
        )
        gradient = made.backward()[0]
        assert 1 <= np.count_nonzero(gradient) <= 3
