"""`DistStore` over a transport of one worker, which keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, FormatError, ShapeError
from operad_kvstore import distributed
from operad_kvstore.distributed import DistStore
from operad_kvstore.placement import Placement
from operad_kvstore.rounds import KeyRounds
from operad_kvstore.server import Server
from operad_kvstore.settings import StoreSettings

LARGE = 1_500_001


class Alone:
    """A worker and its servers in one process."""

    rank, num_workers = 0, 1

    def __init__(self, is_async: bool = False, num_servers: int = 1) -> None:
        self.servers = [Server(StoreSettings(timeout_s=1), is_async) for _ in range(num_servers)]
        self._numbers = [0] * num_servers
        self._placement = Placement(num_servers)
        self.pushed: list[int] = []
        self.counts: dict[Any, int] = {}
        self.is_closed = False

    def send(self, home: int, *message: Any) -> None:
        self._numbers[home] += 1
        self.servers[home].handle(0, self._numbers[home], message)

    def place(self, key: Any, value: Any, *, may_cut: bool) -> None:
        self._placement.add(key, value, may_cut=may_cut)

    def parts(self, key: Any) -> Sequence[Any]:
        return self._placement.parts(key)

    def init(self, values: Mapping[Any, Any]) -> None:
        for home, keys in self._placement.by_home(values).items():
            extents = self._placement.extents(home, keys)
            flat = {key: values[key].reshape(-1)[one.start : one.stop] for key, one in extents.items()}
            stored = {key: flat[key].reshape(one.stored_shape) for key, one in extents.items()}
            self.send(home, "init", stored, extents)

    def push(self, packets: Sequence[Any]) -> None:
        self.pushed.append(len(packets))
        for packet in packets:
            self.send(packet.home, "push", [packet])

    def pull(self, clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        of_home = {}
        for home, keys in self._placement.by_home(clocks).items():
            self.servers[home].wait(0, self._numbers[home], {key: clocks[key] for key in keys})
            of_home[home] = self.servers[home].values(keys)[1]
        return {key: self._placement.joined(key, of_home) for key in clocks}

    def pushpull(self, packets: Sequence[Any], clocks: Mapping[Any, int]) -> Mapping[Any, Any]:
        self.push(packets)
        return self.pull(clocks)

    is_back = False

    def gather(self, number: int) -> Sequence[int]:
        return [number]

    def configure(self, what: str, value: Any, *, gathers: bool = False) -> None:
        for key, parts in (self._placement.gather() if gathers else {}).items():
            arrays, rounds = zip(
                *(self.servers[part.home].entries([key])[key] for part in parts), strict=True
            )
            (whole,) = self._placement.parts(key)
            for part in parts:
                self.send(part.home, "drop", [key])
            self.send(whole.home, "move", {key: np.concatenate(arrays)}, {key: KeyRounds.joined(rounds)})
        for home in range(len(self.servers)):
            self.send(home, what, deepcopy(value))  # as a way between processes would

    def enter(self) -> Mapping[Any, int]:
        return self.counts

    def states(self, dump_optimizer: bool, clocks: Mapping[Any, int]) -> Sequence[bytes]:
        return [server.states(dump_optimizer) for server in self.servers]

    def barrier(self) -> None:
        pass

    def lost(self) -> Sequence[int]:
        return []

    def close(self, *, is_idle: bool) -> None:
        self.is_closed, self.was_idle = True, is_idle


def made(kind: str = "dist_sync", num_servers: int = 1) -> tuple[DistStore, Alone]:
    transport = Alone("async" in kind, num_servers)
    return DistStore(kind, transport), transport


def pulled(store: DistStore, key: Any, size: int = 2) -> list[float]:
    out = od.nd.zeros(size)
    store.pull(key, out=out)
    values: list[float] = out.asnumpy().tolist()
    return values


def trained(optimizer: Any, num_servers: int, states: Path) -> Any:
    """A large weight after three pushes, with its states in a file."""
    store, transport = made(num_servers=num_servers)
    draw = np.random.default_rng(7)
    shape = (LARGE, 1)
    store.set_optimizer(optimizer())
    store.init("w", od.nd.array(draw.standard_normal(shape, np.float32)))
    for _ in range(3):
        store.push("w", od.nd.array(draw.standard_normal(shape, np.float32)))
    out = od.nd.zeros(shape)
    store.pull("w", out=out)
    store.save_optimizer_states(states)
    return out.asnumpy(), len(transport.parts("w"))


@pytest.mark.parametrize(
    "name",
    [
        "sgd",
        "adam",
        *(pytest.param(n, marks=pytest.mark.more) for n in ("nag", "rmsprop", "ftrl", "adagrad")),
    ],
)
def test_a_large_weight_on_three_servers_has_the_bits_of_one_and_so_do_its_saved_states(
    name: str, tmp_path: Path
) -> None:
    def optimizer() -> Any:
        momentum = {"momentum": 0.9} if name in {"sgd", "nag"} else {}
        return od.optimizer.create(name, learning_rate=0.1, wd=0.01, **momentum)

    one, parts_of_one = trained(optimizer, 1, tmp_path / "one")
    three, parts_of_three = trained(optimizer, 3, tmp_path / "three")
    assert (parts_of_one, parts_of_three) == (1, 3)
    assert np.array_equal(one, three)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()


def test_saved_states_of_a_whole_weight_are_taken_over_in_parts(tmp_path: Path) -> None:
    def moved_on(num_servers: int) -> Any:
        store, _ = made(num_servers=num_servers)
        store.set_optimizer(od.optimizer.SGD(learning_rate=0.1, momentum=0.5))
        store.init("w", od.nd.zeros(LARGE))
        store.load_optimizer_states(tmp_path / "states")
        store.push("w", od.nd.array(np.arange(LARGE)))
        return np.array(pulled(store, "w", LARGE))

    trained(lambda: od.optimizer.SGD(learning_rate=0.1, momentum=0.5), 1, tmp_path / "states")
    content = (tmp_path / "states").read_bytes()
    updater = od.optimizer.get_updater(od.optimizer.SGD(momentum=0.5))
    updater.set_states(content)
    updater.states = {"w": updater.states["w"].reshape((LARGE,))}
    (tmp_path / "states").write_bytes(updater.get_states())
    assert np.array_equal(moved_on(1), moved_on(3))


@pytest.mark.parametrize("name", ["lars", "lamb"])
def test_an_optimizer_of_whole_weights_keeps_a_large_key_on_one_server(name: str, tmp_path: Path) -> None:
    def optimizer() -> Any:
        return od.optimizer.create(name, learning_rate=0.1)

    one, _ = trained(optimizer, 1, tmp_path / "one")
    three, parts = trained(optimizer, 3, tmp_path / "three")
    assert parts == 1
    assert np.array_equal(one, three)


def test_a_spread_key_comes_together_with_its_pushes_when_a_function_is_set_that_sees_it_whole() -> None:
    store, transport = made(num_servers=2)
    store.init("w", od.nd.zeros(LARGE))
    store.push("w", od.nd.ones(LARGE))
    assert len(transport.parts("w")) == 2
    sizes: list[int] = []

    def update(key: Any, gradient: Any, weight: Any) -> None:
        sizes.append(weight.size)
        weight += gradient

    store.set_updater(update)
    store.push("w", od.nd.ones(LARGE))
    assert np.array_equal(pulled(store, "w", LARGE), np.full(LARGE, 2))
    assert sizes == [LARGE]


def test_compression_of_a_spread_key_keeps_what_each_server_did_not_get() -> None:
    stores = [made(num_servers=count)[0] for count in (1, 3)]
    gradient = np.random.default_rng(3).uniform(-1, 1, LARGE)
    for store in stores:
        store.init("w", od.nd.zeros(LARGE))
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    for _ in range(3):
        for store in stores:
            store.push("w", od.nd.array(gradient))
        assert pulled(stores[0], "w", LARGE) == pulled(stores[1], "w", LARGE)


def test_a_process_that_takes_over_a_rank_goes_on_with_the_first_step_that_lacks_one_of_its_pushes() -> None:
    store, transport = made()
    store.init(["a", "b"], [od.nd.zeros(2), od.nd.zeros(2)])
    store.set_updater(lambda key, gradient, weight: weight.__iadd__(gradient))
    for key in ("a", "a", "b"):
        store.push(key, od.nd.ones(2))
    store.barrier()

    successor = DistStore("dist_sync", transport)
    transport.counts = {"a": 2, "b": 1}
    successor._table = store._table
    assert successor.resume() == 1
    successor.push(["a", "b"], [od.nd.ones(2) * 10, od.nd.ones(2) * 10])
    assert (pulled(successor, "a"), pulled(successor, "b")) == ([2, 2], [11, 11])
    assert successor.resume("a") == 2


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
    assert transport.was_idle
    transport.is_closed = False
    store.close()
    assert not transport.is_closed


def test_a_store_that_is_closed_while_it_sends_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "_REST_S", 0.001)
    store, transport = made()
    may_end = threading.Event()
    store._courier.send(may_end.wait)
    store.close()
    assert not transport.was_idle
    may_end.set()


def test_what_compression_holds_back_is_part_of_a_checkpoint() -> None:
    stores = [made()[0], made()[0]]
    for store in stores:
        store.init("w", od.nd.zeros(2))
        store.set_gradient_compression({"type": "2bit", "threshold": 1.0})
    stores[0].push("w", od.nd.array([0.75, 0]))
    stores[1].load_state_dict(stores[0].state_dict())
    for store in stores:
        store.push("w", od.nd.array([0.5, 0]))
        assert pulled(store, "w") == [1, 0]


def test_the_state_of_another_rank_is_refused() -> None:
    store, _ = made()
    state = {"rank": 1, "num_workers": 2, "residuals": []}
    with pytest.raises(FormatError, match="of rank 1 of 2 workers, and this is rank 0 of 1; give each"):
        store.load_state_dict(state)


@pytest.mark.parametrize(
    ("kind", "compression"),
    [("dist_sync", None), ("device", {"type": "2bit"}), ("device", None)],
)
def test_what_compression_holds_back_is_refused_where_it_would_be_dropped(
    kind: str, compression: dict[str, str] | None
) -> None:
    saved, _ = made()
    saved.init("w", od.nd.zeros(2))
    saved.set_gradient_compression({"type": "2bit", "threshold": 1.0})
    saved.push("w", od.nd.array([0.75, 0]))
    store = made()[0] if kind == "dist_sync" else od.kv.create(kind)
    if compression is not None:
        store.set_gradient_compression(compression)
    with pytest.raises(FormatError, match="gradients of 1 keys that compression has held back"):
        store.load_state_dict(saved.state_dict())


def test_the_state_of_a_store_of_one_process_is_taken_over_by_one_worker() -> None:
    store, _ = made()
    store.load_state_dict(od.kv.create("device").state_dict())
    assert store.state_dict()["residuals"] == []


def test_the_error_of_a_value_is_raised_by_pushpull_and_nothing_is_pushed() -> None:
    store, transport = made()
    store.init("w", od.nd.zeros(3))
    value = od.nd.zeros(3)

    def fail(_: Any) -> None:
        raise ValueError("boom")

    od.engine.get().push_sync(fail, od.cpu(), mutable_vars=[value._chunk.var])
    with pytest.raises(ValueError, match="boom"):
        store.pushpull("w", value, out=od.nd.zeros(3))
    assert transport.pushed == []
