"""Which of both ways is estimated to be faster, by forms and shapes alone."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import operad as od
from operad.context import cpu
from operad.operator import KernelCall
from operad_sdk import OperatorProperty, operator
from operad_sdk.vector import NoVectorCodeError, compiled
from operad_sdk.vector.cost_rule import Estimates, estimates
from operad_sdk.vector.form_kernels import cost_of_arrays
from operad_sdk.vector.signature import form_of

SINGLE = np.dtype(np.float32)


def estimated(name, *shapes, part="forward", returned=False, outputs=None, **params):
    prop = od.registry.get(name)(**params)
    form, numbers = form_of(KernelCall(prop, cpu(), list(shapes), [SINGLE] * len(shapes)), part)
    made = outputs or prop.infer_shape(list(shapes))[1][: len(form.results)]
    every = (*shapes, *((),) * len(numbers), *made)
    return estimates(compiled(form, SINGLE), [(shape, SINGLE) for shape in every], returned)


@pytest.mark.parametrize(
    ("name", "shapes", "params"),
    [
        ("softmax", [(100, 100)], {}),
        ("log_softmax", [(1000, 20)], {}),
        ("sigmoid", [(200, 300)], {}),
        ("relu", [(200, 300)], {}),
        ("LayerNorm", [(64, 64), (64,), (64,)], {}),
        ("sum", [(500, 500)], {"axis": (1,)}),
    ],
)
def test_several_calls_of_numpy_are_slower_than_one_kernel(name, shapes, params):
    assert estimated(name, *shapes, **params).favour_vectors


@pytest.mark.parametrize(
    ("name", "shapes", "params"),
    [
        ("elemwise_add", [(200, 300)] * 2, {}),
        ("negative", [(200, 300)], {}),
        ("_maximum", [(200, 300)] * 2, {}),
        ("cbrt", [(200, 300)], {}),
        ("arcsinh", [(200, 300)], {}),
        ("_power", [(200, 300)] * 2, {}),
        ("transpose", [(200, 300)], {}),
    ],
)
def test_one_fast_call_of_numpy_is_left(name, shapes, params):
    assert not estimated(name, *shapes, **params).favour_vectors


def test_a_power_of_single_precision_is_computed_in_vectors_of_doubles():
    one, other = (estimated(name, (200, 300), scalar=2.7) for name in ("_power_scalar", "_rpower_scalar"))
    assert not one.favour_vectors
    assert other.vector_us < one.vector_us  # of one base the logarithm is that of all rows
    assert other.numpy_us > 1.5 * one.numpy_us


@pytest.mark.parametrize(
    ("name", "shapes", "outputs", "is_taken"),
    [
        ("identity", [(200, 300)], None, False),
        ("zeros_like", [(200, 300)], None, True),
        ("broadcast_to", [(200, 1)], [(200, 300)], True),
        ("broadcast_to", [(1, 300)], [(200, 300)], False),
    ],
)
def test_what_fills_rows_with_a_number_is_worth_a_kernel_and_a_copy_is_not(name, shapes, outputs, is_taken):
    params = {"shape": outputs[0]} if outputs else {}
    assert estimated(name, *shapes, outputs=outputs, **params).favour_vectors is is_taken


def test_numpys_slow_functions_are_told_by_the_form_that_they_have():
    radians, halves = (estimated(name, (200, 300)) for name in ("radians", "negative"))
    assert radians.numpy_us > 5 * halves.numpy_us
    whole, reciprocal = estimated("_div_scalar", (200, 300), scalar=3.0), estimated("reciprocal", (200, 300))
    assert reciprocal.numpy_us > 1.5 * whole.numpy_us


def test_a_truth_that_becomes_a_number_is_a_cast_and_no_choice():
    compared, chosen = estimated("_greater", *[(200, 300)] * 2), estimated("where", *[(200, 300)] * 3)
    assert chosen.numpy_us > 5 * compared.numpy_us


def test_rows_that_lie_apart_cost_what_gathering_them_takes():
    near, far = (estimated("softmax", shape, axis=1) for shape in ((600, 400), (200, 400, 3)))
    assert far.vector_us > 2 * near.vector_us


def test_short_runs_that_operands_do_not_share_cost_a_loop_of_numpys_each():
    long, short = (estimated("softmax", shape, axis=1) for shape in ((600, 400), (200, 400, 3)))
    assert short.numpy_us > 3 * long.numpy_us


def test_vectors_of_neighbouring_rows_gather_nothing():
    near, across = (estimated("softmax", (400, 400), axis=axis) for axis in (1, 0))
    assert across.vector_us < 1.2 * near.vector_us


def test_short_rows_cost_whole_vectors():
    """A sum over few channels at each place, as a correlation has it."""
    long, short = (estimated("softmax", shape) for shape in ((100, 1600), (80_000, 2)))
    assert short.vector_us > 5 * long.vector_us


def test_an_instruction_costs_the_elements_of_its_operands_and_not_of_the_space():
    whole = estimated("broadcast_mul", (1000, 100), (1000, 100))
    column = estimated("broadcast_mul", (1000, 1), (1000, 1), outputs=[(1000, 1)])
    assert whole.numpy_us > 8 * column.numpy_us


def test_a_returned_result_is_copied_by_numpy_alone():
    plain, copied = (estimated("sigmoid", (300, 300), returned=one) for one in (False, True))
    assert copied.numpy_us > plain.numpy_us
    assert copied.vector_us == plain.vector_us


def test_estimates_add_up_and_ties_are_left():
    both = Estimates(2.0, 1.0).plus(Estimates(1.0, 2.0))
    assert both == Estimates(3.0, 3.0)
    assert not both.favour_vectors


def test_what_has_no_kernel_has_no_estimate():
    form = od.registry.get("sum")(axis=(0, 2)).scalar_form("forward", [(3, 4, 5)], [SINGLE])
    with pytest.raises(NoVectorCodeError, match="an element for each"):
        estimates(compiled(form, SINGLE), [((3, 4, 5), SINGLE), ((1,), SINGLE)], False)


def test_costs_count_what_is_computed_for_each_element():
    """Values of whole rows cost next to nothing, however many there are."""

    few, many = (row_cost(count) for count in (1, 60))
    assert many.us < 1.1 * few.us


def row_cost(count):
    class Rows(OperatorProperty):
        """A row less a number of it."""

        spec = "data:(N, D) -> output:(N, D)"
        accepts = "floating"

        def forward(data):
            number = data.sum(axis=1, keepdims=True)
            for _ in range(count):
                number = number * 0.5 + 1
            return data - number

    prop = operator(f"cost_of_rows_{count}")(Rows)()
    shape = (200, 300)
    form, _ = form_of(KernelCall(prop, cpu(), [shape], [SINGLE]), "forward")
    return cost_of_arrays(compiled(form, SINGLE), [(shape, SINGLE)] * 2)
