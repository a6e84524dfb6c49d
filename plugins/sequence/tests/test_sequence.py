from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_sequence.sequence_last import SequenceLast
from operad_sequence.sequence_mask import SequenceMask
from operad_sequence.sequence_reverse import SequenceReverse

RNG = np.random.default_rng(31)
LENGTHS = np.array([2.0, 0, 5])
DATA = RNG.normal(size=(5, 3, 2))
WITH_LENGTHS: dict[str, Any] = {"use_sequence_length": True}


def test_the_mask_replaces_what_lies_beyond_the_ends() -> None:
    expected = DATA.copy()
    expected[2:, 0] = expected[:, 1] = -1
    check_forward(SequenceMask, [DATA, LENGTHS], expected, value=-1.0, **WITH_LENGTHS)


def test_the_last_step_of_an_empty_sequence_is_zero() -> None:
    expected = np.stack([DATA[1, 0], np.zeros(2), DATA[4, 2]])
    check_forward(SequenceLast, [DATA, LENGTHS], expected, **WITH_LENGTHS)


def test_reversal_leaves_the_padding_in_place() -> None:
    expected = DATA.copy()
    expected[:2, 0], expected[:, 2] = DATA[1::-1, 0], DATA[::-1, 2]
    check_forward(SequenceReverse, [DATA, LENGTHS], expected, **WITH_LENGTHS)


def test_without_lengths_all_steps_count() -> None:
    check_forward(SequenceMask, [DATA], DATA, value=7.0)
    check_forward(SequenceLast, [DATA], DATA[-1])
    check_forward(SequenceReverse, [DATA], DATA[::-1])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("operator", [SequenceMask, SequenceLast])
def test_both_layouts_give_the_same(operator: Any, axis: int) -> None:
    data = DATA if axis == 0 else DATA.swapaxes(0, 1)
    (first,) = check_forward(operator, [DATA, LENGTHS], **WITH_LENGTHS)
    (other,) = check_forward(operator, [data, LENGTHS], axis=axis, **WITH_LENGTHS)
    is_moved = axis == 1 and operator is SequenceMask
    np.testing.assert_array_equal(other.swapaxes(0, 1) if is_moved else other, first)
    gradient_check(operator, [data, LENGTHS], axis=axis, **WITH_LENGTHS)


def test_the_gradient_of_a_reversal_is_reversed() -> None:
    gradient_check(SequenceReverse, [DATA, LENGTHS], **WITH_LENGTHS)


@pytest.mark.parametrize("operator", [SequenceMask, SequenceLast, SequenceReverse])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int32", "int64"])
def test_lengths_may_be_of_any_type(operator: Any, dtype: str) -> None:
    lengths = np.array([2, 0, 5])
    (expected,) = check_forward(operator, [DATA, lengths.astype("float32")], **WITH_LENGTHS)
    check_forward(operator, [DATA, lengths.astype(dtype)], expected, **WITH_LENGTHS)


@pytest.mark.parametrize("operator", [SequenceMask, SequenceLast, SequenceReverse])
def test_lengths_outside_the_steps_are_cut_to_them_and_fractions_off(operator: Any) -> None:
    (expected,) = check_forward(operator, [DATA, np.array([2.0, 0, 5])], **WITH_LENGTHS)
    check_forward(operator, [DATA, np.array([2.9, -4, 99])], expected, **WITH_LENGTHS)


@pytest.mark.parametrize("shape", [(0, 3, 2), (5, 0, 2), (5, 3, 0), (0, 0)])
@pytest.mark.parametrize("operator", [SequenceMask, SequenceLast, SequenceReverse])
def test_axes_of_length_0_are_no_special_case(operator: Any, shape: tuple[int, ...]) -> None:
    data, lengths = np.zeros(shape), np.full(shape[1], 2.0)
    expected = np.zeros(shape[1:] if operator is SequenceLast else shape)
    check_forward(operator, [data, lengths], expected, **WITH_LENGTHS)
    gradient_check(operator, [data, lengths], **WITH_LENGTHS)


def test_what_is_masked_gets_no_gradient_even_where_that_is_not_a_number() -> None:
    data, lengths = od.nd.array([[1], [2]]), od.nd.array([1])
    data.attach_grad()
    with od.autograd.record():
        output = od.nd.SequenceMask(data, lengths, use_sequence_length=True)
    output.backward(od.nd.array([[3], [np.nan]]))
    assert data.grad is not None
    np.testing.assert_array_equal(data.grad.asnumpy(), [[3], [0]])


def test_integers_take_the_value_as_c_does_and_only_finite_ones() -> None:
    data, lengths = od.nd.zeros((2, 1), dtype="uint8"), od.nd.array([1])
    masked = od.nd.SequenceMask(data, lengths, value=258.7, **WITH_LENGTHS)
    assert masked.asnumpy().tolist() == [[0], [2]]
    with pytest.raises(DTypeError, match="give a finite value"):
        od.nd.SequenceMask(data, lengths, value=float("nan"), **WITH_LENGTHS)


def test_bad_input_is_refused_before_anything_runs() -> None:
    data = od.nd.zeros((4, 3, 2))
    with pytest.raises(ShapeError, match="sequence_length"):
        od.nd.SequenceMask(data, od.nd.zeros((4,)), **WITH_LENGTHS)
    with pytest.raises(ShapeError, match="expected at least 2"):
        od.nd.SequenceLast(od.nd.zeros((4,)))
    for operator, axis in ((od.nd.SequenceMask, 2), (od.nd.SequenceReverse, 1)):
        with pytest.raises(ParamError, match="axis"):
            operator(data, axis=axis)
