from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.descriptors import opened
from operad_gluon.data.channel import channel


@pytest.mark.parametrize(
    "array",
    [np.zeros((0, 3)), np.float32(3) + np.zeros(()), np.arange(7, dtype=np.uint8),
     np.ones((300, 400), np.float16), np.arange(12.0).reshape(3, 4).T, np.array(["a", None], object)],
)  # fmt: skip
def test_arrays_come_as_they_were(array: Any) -> None:
    one, two = channel()
    one.send({"a": array, "b": [1, (array,)]})
    found = two.receive(1)
    for each in (found["a"], found["b"][1][0]):
        assert (each.dtype, each.shape) == (array.dtype, array.shape)
        assert (each == array).all()
    one.close()
    two.close()


def test_arrays_of_operad_come_as_such_and_can_be_written() -> None:
    one, two = channel()
    one.send([od.nd.arange(6).reshape((2, 3)), od.nd.array([1, 2], dtype="int32")])
    found, integers = two.receive(1)
    found += 1
    assert found.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert integers.dtype == np.int32
    one.close()
    two.close()


def test_what_cannot_be_pickled_sends_nothing_and_leaves_no_descriptor() -> None:
    one, two = channel()
    with pytest.raises(TypeError):
        one.send([np.ones(10), threading.Lock()])
    with pytest.raises(TimeoutError):
        two.receive(0.01)
    assert not [path for path in opened() if "operad-batch" in path]
    one.close()
    two.close()


def test_the_other_end_is_missed() -> None:
    one, two = channel()
    one.send(1)
    one.close()
    assert two.receive(1) == 1
    with pytest.raises(EOFError, match="the other end is closed"):
        two.receive(1)
    with pytest.raises(OSError, match="pipe"):
        two.send(2)
    two.close()


def test_a_file_without_a_name_serves_where_there_are_no_nameless_pieces_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    one, two = channel()
    one.send(np.arange(1000))
    assert two.receive(1).sum() == 499500
    one.close()
    two.close()
