"""Results that nobody keeps, computed ahead of an engine that is held up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

import operad as od
from operad import engine, nd, storage
from operad.engine import ThreadedEngine, back_pressure
from operad.ndarray import NDArray

pytest.importorskip("operad_elemwise", reason="these are calls of its operators")

MEGABYTE = 1 << 20
LIMIT = 32 * MEGABYTE

MAKERS: dict[str, Callable[[NDArray], NDArray]] = {
    "an operator": nd.tanh,
    "a copy": NDArray.copy,
    "an index": lambda x: x[[1, 0]],
}


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedEngine]:
    made = engine.set(ThreadedEngine(2))
    monkeypatch.setattr(made, "_max_bytes", LIMIT)
    monkeypatch.setattr(back_pressure, "_PATIENCE_S", 60)
    yield made
    engine.set("threaded")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_dropped_results_ahead_of_a_held_engine_keep_at_most_the_limit(
    limited: ThreadedEngine, make: Callable[[NDArray], NDArray]
) -> None:
    x, is_open, held_bytes = nd.ones((2, MEGABYTE // 8)), threading.Event(), []
    x.wait_to_read()
    limited.push_sync(lambda _: is_open.wait(), od.cpu(), (), (x._chunk.var,))
    before = storage.get().stats(od.cpu()).in_use_bytes

    def compute() -> None:
        for _ in range(1000):
            make(x)
            held_bytes.append(storage.get().stats(od.cpu()).in_use_bytes - before)

    thread = threading.Thread(target=compute)
    thread.start()
    while thread.is_alive() and not limited._dispatcher.watchers:
        thread.join(0.001)
    waited_after = len(held_bytes)
    is_open.set()
    thread.join()
    nd.waitall()
    assert waited_after <= LIMIT // MEGABYTE + 1
    assert max(held_bytes) <= LIMIT + 4 * MEGABYTE
