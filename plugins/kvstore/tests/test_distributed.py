"""`DistStore` over a transport of one worker, which keeps what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, ShapeError
from operad_kvstore.distributed import DistStore
from operad_kvstore.server import Server
from operad_kvstore.settings import StoreSettings


class Alone:
    """A worker and its server in one process."""

    rank, num_workers = 0, 1

    def __init__(self, is_async: bool = False) -> None:
        self.server, self._number = Server(StoreSettings(timeout_s=1), is_async), 0
        self.pushed: list[int] = []
        self.is_closed = False

    def send(self, *message: Any) -> None:
        self._number += 1
        self.server.handle(0, self._number, message)

    def home(self, key: Any, num_bytes: int) -> int:
        return 0

    def init(self, values: Mapping[Any, Any]) -> None:
        self.send("init", values)

    def push(self, packets: Sequence[Any]) -> None:
        self.pushed.append(len(packets))
        self.send("push", packets)

    def pull(self, clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        self.server.wait(0, self._number, clocks)
        return self.server.values(list(clocks))[1]

    def configure(self, what: str, value: Any) -> None:
        self.send(what, value)

    def states(self, dump_optimizer: bool) -> Sequence[bytes]:
        return [self.server.states(dump_optimizer)]

    def barrier(self) -> None:
        self.send("barrier")

    def lost(self) -> Sequence[int]:
        return []

    def close(self) -> None:
        self.is_closed = True


def made(kind: str = "dist_sync") -> tuple[DistStore, Alone]:
    transport = Alone("async" in kind)
    return DistStore(kind, transport), transport


def pulled(store: DistStore, key: Any, size: int = 2) -> list[float]:
    out = od.nd.zeros(size)
    store.pull(key, out=out)
    values: list[float] = out.asnumpy().tolist()
    return values


def test_small_arrays_of_one_call_go_in_one_packet() -> None:
    store, transport = made()
    keys = [f"w{i}" for i in range(50)]
    store.init(keys, [od.nd.zeros(2) for _ in keys])
    store.push(keys, [od.nd.ones(2) * i for i in range(50)])
    assert pulled(store, "w49") == [49, 49]
    assert transport.pushed == [1]


def test_an_array_may_be_written_again_as_soon_as_it_has_been_pushed() -> None:
    store, _ = made()
    value = od.nd.ones(2)
    store.init("w", value)
    store.push("w", [value, value])
    value[:] = 9
    assert pulled(store, "w") == [2, 2]


def test_what_is_pulled_is_the_callers_own() -> None:
    store, _ = made()
    store.init("w", od.nd.ones(2))
    out = od.nd.zeros(2)
    store.pull("w", out=out)
    out[:] = 9
    assert pulled(store, "w") == [1, 1]


def test_an_asynchronous_store_needs_an_optimizer_before_a_push() -> None:
    store, transport = made("dist_async")
    store.init("w", od.nd.ones(2))
    with pytest.raises(ArgumentError, match="'dist_async' needs set_optimizer first"):
        store.push("w", od.nd.ones(2))
    store.set_optimizer(od.optimizer.SGD(learning_rate=1.0))
    store.push("w", od.nd.ones(2))
    assert pulled(store, "w") == [0, 0]
    assert transport.pushed == [1]


def test_compression_keeps_what_was_not_sent_for_the_next_push() -> None:
    store, _ = made()
    store.init("w", od.nd.zeros(2))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    for expected in ([0, -0.5], [0.5, -0.5]):
        store.push("w", od.nd.array([0.3, -0.6]))
        assert pulled(store, "w") == expected


def test_compression_takes_single_precision_only() -> None:
    store, _ = made()
    store.init("w", od.nd.zeros(2, dtype="float64"))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    with pytest.raises(DTypeError, match="key 'w' is float64; 2-bit compression takes float32 only"):
        store.push("w", od.nd.ones(2))


def test_another_shape_is_refused_before_anything_is_sent() -> None:
    store, transport = made()
    store.init("w", od.nd.zeros(2))
    with pytest.raises(ShapeError, match=r"push: key 'w' has shape \(2,\), got an array of shape \(3,\)"):
        store.push("w", od.nd.zeros(3))
    assert transport.pushed == []


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8"])
def test_values_keep_their_types(dtype: str) -> None:
    store, _ = made()
    store.init(3, od.nd.zeros(2, dtype=dtype))
    store.push(3, od.nd.array([1, 2], dtype=dtype))
    out = od.nd.zeros(2, dtype=dtype)
    store.pull(3, out=out)
    assert np.array_equal(out.asnumpy(), np.array([1, 2], dtype))


def test_a_closed_store_takes_leave_once() -> None:
    store, transport = made()
    store.close()
    assert transport.is_closed
    transport.is_closed = False
    store.close()
    assert not transport.is_closed
