"""An iterator that loads the state of another one goes on where that one was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from plugins.iterators.tests import passes

ROWS = 11
Make = Callable[[Path], Any]


def in_memory(**given: Any) -> Any:
    rows = np.arange(ROWS, dtype=np.float32)
    return od.io.NDArrayIter(rows, label=rows, batch_size=3, **given)


def of_csv(folder: Path) -> Any:
    np.savetxt(folder / "rows.csv", np.arange(ROWS), delimiter=",")
    return od.io.CSVIter(folder / "rows.csv", (1,), batch_size=3)


def of_libsvm(folder: Path) -> Any:
    (folder / "rows.libsvm").write_text("".join(f"{row} 0:{row}\n" for row in range(ROWS)))
    return od.io.LibSVMIter(folder / "rows.libsvm", (1,), batch_size=3)


def of_mnist(folder: Path) -> Any:
    count = ROWS.to_bytes(4, "big")
    (folder / "images").write_bytes(
        bytes([0, 0, 8, 3]) + count + 2 * bytes([0, 0, 0, 1]) + bytes(range(ROWS))
    )
    (folder / "labels").write_bytes(bytes([0, 0, 8, 1]) + count + bytes(range(ROWS)))
    return od.io.MNISTIter(folder / "images", folder / "labels", batch_size=3, seed=5)


ITERATORS: dict[str, Make] = {
    "pad": lambda _: in_memory(),
    "discard": lambda _: in_memory(last_batch_handle="discard"),
    "roll_over": lambda _: in_memory(last_batch_handle="roll_over"),
    "shuffle with a seed": lambda _: in_memory(shuffle=True, seed=3, last_batch_handle="roll_over"),
    "shuffle": lambda _: in_memory(shuffle=True),
    "CSVIter": of_csv,
    "LibSVMIter": of_libsvm,
    "MNISTIter": of_mnist,
    "ResizeIter": lambda _: od.io.ResizeIter(in_memory(shuffle=True, seed=3), 7),
    "ResizeIter that goes on": lambda _: od.io.ResizeIter(in_memory(), 7, reset_internal=False),
    "PrefetchingIter": lambda _: od.io.PrefetchingIter(in_memory(shuffle=True, seed=3)),
    "PrefetchingIter of a ResizeIter": lambda _: od.io.PrefetchingIter(
        od.io.ResizeIter(in_memory(shuffle=True, seed=3), 7)
    ),
    "ResizeIter of a PrefetchingIter": lambda _: od.io.ResizeIter(
        od.io.PrefetchingIter(in_memory(last_batch_handle="roll_over")), 7
    ),
}


def held(batch: Any) -> Any:
    return batch.data[0].asnumpy().ravel().tolist(), batch.pad


def taken(iterator: Any, count: int) -> list[Any]:
    return passes.taken(iterator, count, held)


@pytest.mark.parametrize("done", [0, 1, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_a_state_leads_to_the_same_batches(make: Make, done: int, tmp_path: Path) -> None:
    iterator, other = make(tmp_path), make(tmp_path)
    taken(iterator, done)
    state, drawn = iterator.state_dict(), np.random.get_state()
    expected = taken(iterator, 14)
    other.load_state_dict(state)
    np.random.set_state(drawn)
    assert taken(other, 14) == expected


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_a_state_is_not_changed_by_what_the_iterator_does_then(make: Make, tmp_path: Path) -> None:
    iterator = make(tmp_path)
    taken(iterator, 2)
    state, drawn = iterator.state_dict(), np.random.get_state()
    expected = taken(iterator, 14)
    iterator.load_state_dict(state)
    np.random.set_state(drawn)
    assert taken(iterator, 14) == expected


def test_a_state_between_the_end_of_a_pass_and_reset_remembers_the_end() -> None:
    ahead, other = (od.io.PrefetchingIter(in_memory(last_batch_handle="roll_over")) for _ in range(2))
    assert len(list(ahead)) == 3
    other.load_state_dict(ahead.state_dict())
    assert next(other, None) is None
    ahead.reset()
    other.reset()
    assert taken(other, 3) == taken(ahead, 3)


def test_the_state_of_other_data_is_refused() -> None:
    state = od.io.NDArrayIter(np.arange(ROWS + 1), batch_size=3).state_dict()
    with pytest.raises(od.errors.FormatError, match=r"with count 12, and this one has 11"):
        in_memory().load_state_dict(state)


def test_the_state_of_a_shuffled_iterator_is_refused_by_one_in_order() -> None:
    with pytest.raises(od.errors.FormatError, match="saved with shuffle; create the iterator with shuffle"):
        in_memory().load_state_dict(in_memory(shuffle=True).state_dict())


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(od.errors.FormatError, match="ResizeIter: expected a state with cur, data_iter"):
        od.io.ResizeIter(in_memory(), 2).load_state_dict({"order": {}})


def test_an_iterator_without_a_state_is_named_wherever_it_stands() -> None:
    class Plain(od.io.DataIter):
        provide_data = provide_label = ()

        def __init__(self) -> None:
            super().__init__(1)

        def next(self) -> Any:
            return od.io.DataBatch([od.nd.zeros(1)])

    ahead = od.io.PrefetchingIter(Plain())
    next(ahead)
    with pytest.raises(od.errors.UnsupportedError, match="Plain has no state_dict"):
        ahead.state_dict()
    ahead.close()
