from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, ParamError, ShapeError


def passes(iterator: Any, count: int) -> list[list[tuple[list[float], int]]]:
    """Values of the first input, and the pad, of every batch of each pass."""
    found = []
    for _ in range(count):
        found.append([(batch.data[0].asnumpy().tolist(), batch.pad) for batch in iterator])
        iterator.reset()
    return found


# What MXNet 1.9.1 gives for five rows in batches of three.
FIVE = {
    "pad": [[([0, 1, 2], 0), ([3, 4, 0], 1)]] * 3,
    "discard": [[([0, 1, 2], 0)]] * 3,
    "roll_over": [
        [([0, 1, 2], 0)],
        [([3, 4, 0], 2), ([1, 2, 3], 0)],
        [([4, 0, 1], 1), ([2, 3, 4], 0)],
    ],
}
# And for two rows in batches of three.
TWO = {
    "pad": [[([0, 1, 0], 1)]] * 3,
    "discard": [[], [], []],
    "roll_over": [[], [([0, 1, 0], 2)], [([1, 0, 1], 1)]],
}


@pytest.mark.parametrize("handle", FIVE)
@pytest.mark.parametrize(("count", "expected"), [(5, FIVE), (2, TWO)])
def test_rows_that_fill_no_batch_are_handled_as_in_mxnet(count: int, expected: Any, handle: str) -> None:
    iterator = od.io.NDArrayIter(np.arange(count), batch_size=3, last_batch_handle=handle)
    assert passes(iterator, 3) == expected[handle]


@pytest.mark.parametrize("handle", FIVE)
def test_every_pass_is_whole_where_batches_divide_the_rows(handle: str) -> None:
    iterator = od.io.NDArrayIter(np.arange(4), batch_size=2, last_batch_handle=handle)
    assert passes(iterator, 2) == [[([0, 1], 0), ([2, 3], 0)]] * 2


def test_padding_repeats_the_rows_where_a_batch_is_longer_than_all() -> None:
    iterator = od.io.NDArrayIter(np.arange(2), batch_size=5)
    assert passes(iterator, 1) == [[([0, 1, 0, 1, 0], 3)]]


def test_a_reset_in_the_middle_rolls_nothing_over() -> None:
    iterator = od.io.NDArrayIter(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    iterator.next()
    iterator.reset()
    assert passes(iterator, 1) == [[([0, 1], 0), ([2, 3], 0)]]


def test_a_hard_reset_forgets_what_has_rolled_over() -> None:
    iterator = od.io.NDArrayIter(np.arange(5), batch_size=3, last_batch_handle="roll_over")
    list(iterator)
    iterator.hard_reset()
    assert iterator.next().data[0].asnumpy().tolist() == [0, 1, 2]


def test_labels_go_with_their_rows_when_shuffled() -> None:
    iterator = od.io.NDArrayIter(np.arange(7), np.arange(7) + 10, batch_size=3, shuffle=True, seed=1)
    for batch in iterator:
        np.testing.assert_array_equal(batch.data[0].asnumpy() + 10, batch.label[0].asnumpy())


def test_shuffled_passes_have_every_row_once_in_orders_that_the_seed_repeats() -> None:
    one, other = (od.io.NDArrayIter(np.arange(8), batch_size=8, shuffle=True, seed=5) for _ in range(2))
    found = passes(one, 3)
    assert passes(other, 3) == found
    orders = [order for ((order, _),) in found]
    assert [sorted(order) for order in orders] == [list(range(8))] * 3
    assert orders[0] != orders[1] != orders[2]


def test_numpys_seed_gives_the_orders_of_mxnet() -> None:
    np.random.seed(3)
    iterator = od.io.NDArrayIter(np.arange(6), batch_size=6, shuffle=True)
    # MXNet 1.9.1 after the same seed.
    assert passes(iterator, 3) == [
        [([3, 5, 4, 1, 0, 2], 0)], [([4, 3, 2, 0, 5, 1], 0)], [([0, 4, 5, 3, 2, 1], 0)]
    ]  # fmt: skip


def test_shuffled_rows_that_rolled_over_come_first_in_the_next_pass() -> None:
    iterator = od.io.NDArrayIter(
        np.arange(5), batch_size=3, shuffle=True, last_batch_handle="roll_over", seed=2
    )
    (first,) = (batch.data[0].asnumpy().tolist() for batch in iterator)
    iterator.reset()
    second = iterator.next().data[0].asnumpy().tolist()
    assert sorted(first + second[:2]) == [0, 1, 2, 3, 4]


def test_a_list_is_named_by_number_and_a_dict_sorted_by_name() -> None:
    rows = np.zeros((4, 2))
    listed = od.io.NDArrayIter([rows, rows], [rows, rows], 2)
    assert [name for name, _ in listed.provide_data] == ["_0_data", "_1_data"]
    assert [name for name, _ in listed.provide_label] == ["_0_softmax_label", "_1_softmax_label"]
    named = od.io.NDArrayIter({"b": rows, "a": np.zeros((4, 3))}, batch_size=2)
    assert named.provide_data == [("a", (2, 3)), ("b", (2, 2))]


def test_the_only_array_has_the_given_name_and_layout() -> None:
    iterator = od.io.NDArrayIter(
        [np.zeros((4, 2))], np.zeros(4), 2, data_name="x", label_name="y", layout="NT"
    )
    assert repr(iterator.provide_data) == "[DataDesc[x,(2, 2),<class 'numpy.float32'>,NT]]"
    assert iterator.provide_label == [("y", (2,))]


def test_without_labels_batches_have_an_empty_list_of_them() -> None:
    iterator = od.io.NDArrayIter(np.zeros((4, 2)), batch_size=2)
    assert (iterator.provide_label, iterator.next().label) == ([], [])


def test_numpy_arrays_become_float32_and_ndarrays_keep_their_type() -> None:
    data = od.nd.array([[1], [2]], dtype="int32")
    iterator = od.io.NDArrayIter(data, np.zeros(2, "int64"), 2)
    batch = iterator.next()
    assert (batch.data[0].dtype, batch.label[0].dtype) == (np.int32, np.float32)
    assert iterator.provide_data[0].dtype is np.int32


def test_batches_share_no_memory_with_the_data_or_each_other() -> None:
    data = np.zeros((2, 2), np.float32)
    iterator = od.io.NDArrayIter(data, batch_size=2)
    iterator.next().data[0][:] = 7
    data[:] = 9
    iterator.reset()
    np.testing.assert_array_equal(iterator.next().data[0].asnumpy(), np.zeros((2, 2)))


def test_the_parts_of_the_current_batch_can_be_asked_for() -> None:
    iterator = od.io.NDArrayIter(np.arange(5), np.arange(5), batch_size=4)
    assert iterator.iter_next()
    assert iterator.iter_next()
    assert (
        iterator.getdata()[0].asnumpy().tolist() == iterator.getlabel()[0].asnumpy().tolist() == [4, 0, 1, 2]
    )
    assert (iterator.getpad(), iterator.getindex()) == (3, None)
    assert not iterator.iter_next()
    with pytest.raises(ArgumentError, match="no current batch; call iter_next"):
        iterator.getdata()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"data": "x"}, ArgumentError, "data 'data' is str, expected an NDArray"),
        ({"data": None}, ArgumentError, "expected at least one array"),
        ({"data": []}, ArgumentError, "expected at least one array"),
        ({"data": {1: np.ones(2)}}, ArgumentError, "name 1 of an array is not a string"),
        ({"data": np.float32(3)}, ShapeError, "no axes"),
        ({"data": np.zeros((0, 2))}, ShapeError, "no rows"),
        ({"data": np.ones(4), "label": np.ones(3)}, ShapeError, "'softmax_label' has 3 rows, expected 4"),
        ({"data": np.ones(4), "batch_size": 0}, ParamError, "batch_size is 0, expected a positive integer"),
        (
            {"data": np.ones(4), "last_batch_handle": "keep"},
            ParamError,
            "expected one of pad, discard, roll_over",
        ),
    ],
)
def test_what_makes_no_batches_is_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        od.io.NDArrayIter(**arguments)


def test_a_cursor_before_the_first_row_is_refused() -> None:
    iterator = od.io.NDArrayIter(np.arange(5), batch_size=3, last_batch_handle="roll_over")
    with pytest.raises(ParamError, match="cannot begin at row -1, expected at least 0"):
        iterator.cursor = -4
    list(iterator)
    iterator.reset()
    iterator.cursor = -5  # two rows have rolled over
    assert iterator.next().data[0].asnumpy().tolist() == [3, 4, 0]


def test_rows_that_are_set_stand_in_the_order_of_batches() -> None:
    iterator = od.io.NDArrayIter(np.arange(6), np.arange(6), batch_size=6, shuffle=True, seed=1)
    iterator.label = np.arange(6)
    assert iterator.next().label[0].asnumpy().tolist() == [0, 1, 2, 3, 4, 5]
    ((_, data),) = iterator.data
    assert data.asnumpy().tolist() != [0, 1, 2, 3, 4, 5]


def test_a_tail_that_is_set_is_checked() -> None:
    iterator = od.io.NDArrayIter(np.arange(5), batch_size=3)
    with pytest.raises(ParamError, match="last_batch_handle is 'keep'"):
        iterator.last_batch_handle = "keep"


def test_inputs_and_labels_are_there_by_name() -> None:
    iterator = od.io.NDArrayIter({"a": np.arange(4)}, np.ones(4), batch_size=2)
    ((name, array),) = iterator.data
    assert (name, array.asnumpy().tolist()) == ("a", [0, 1, 2, 3])
    assert [name for name, _ in iterator.label] == ["softmax_label"]


@pytest.mark.parametrize(
    "given",
    [{"score": np.full(4, 7)}, [("score", np.full(4, 7))], od.io._init_data(np.full(4, 7), True, "score")],
)
def test_labels_that_are_set_come_in_batches(given: Any) -> None:
    iterator = od.io.NDArrayIter(np.arange(4), np.zeros(4), batch_size=2)
    iterator.label = given
    assert iterator.provide_label == [("score", (2,))]
    assert iterator.next().label[0].asnumpy().tolist() == [7, 7]


def test_an_array_that_is_set_keeps_the_name() -> None:
    iterator = od.io.NDArrayIter(np.arange(4), np.zeros(4), batch_size=2, label_name="score")
    iterator.label = np.ones(4)
    assert iterator.provide_label == [("score", (2,))]


def test_labels_of_other_rows_are_refused() -> None:
    iterator = od.io.NDArrayIter(np.arange(4), np.zeros(4), batch_size=2)
    with pytest.raises(ShapeError, match="'data' has 4 rows, expected 5 as 'softmax_label' has"):
        iterator.label = np.zeros(5)
    with pytest.raises(ShapeError, match="data has 5 rows, expected 4 as before"):
        od.io.NDArrayIter(np.arange(4), batch_size=2).data = np.zeros(5)
    with pytest.raises(ArgumentError, match="expected at least one array"):
        iterator.data = None


def test_names_of_no_array_are_an_error_unless_allowed() -> None:
    assert od.io._init_data(None, True, "data") == []
    with pytest.raises(ArgumentError, match="expected at least one array"):
        od.io._init_data(None, allow_empty=False, default_name="data")
