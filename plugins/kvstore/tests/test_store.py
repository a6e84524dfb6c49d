from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, FormatError, ShapeError

TYPES = ["local", "device"]


@pytest.fixture(params=TYPES)
def store(request: pytest.FixtureRequest) -> Any:
    return od.kv.create(request.param)


def full(value: float, dtype: str = "float32", ctx: Any = None) -> Any:
    return od.nd.array([value, value], dtype=dtype, ctx=ctx)


def pulled(store: Any, key: Any = 3) -> list[float]:
    out = od.nd.zeros(2)
    store.pull(key, out=out)
    values: list[float] = out.asnumpy().tolist()
    return values


def add_to_weight(key: Any, gradient: Any, weight: Any) -> None:
    weight += gradient


def test_a_new_key_has_the_value_it_was_initialised_with(store: Any) -> None:
    store.init(3, full(2))
    assert pulled(store) == [2, 2]


def test_a_second_init_of_a_key_raises(store: Any) -> None:
    store.init(3, full(2))
    with pytest.raises(ArgumentError, match="key 3 is initialised already"):
        store.init(3, full(5))
    assert pulled(store) == [2, 2]


def test_a_push_assigns_the_sum_where_there_is_no_updater(store: Any) -> None:
    store.init(3, full(9))
    store.push(3, [full(1), full(4)])
    store.push(3, [full(1), full(2)])
    assert pulled(store) == [3, 3]


def test_an_updater_gets_the_sum_and_the_stored_value(store: Any) -> None:
    store.set_updater(add_to_weight)
    store.init(3, full(9))
    store.push(3, [full(1), full(4)])
    store.push(3, full(2))
    assert pulled(store) == [16, 16]


def test_values_of_several_devices_are_summed(store: Any) -> None:
    store.init(3, full(0))
    store.push(3, [full(1, ctx=od.cpu(1)), full(2, ctx=od.cpu(2)), full(4)])
    outs = [od.nd.zeros(2, ctx=od.cpu(device)) for device in (0, 1)]
    store.pull(3, out=outs)
    assert [out.asnumpy().tolist() for out in outs] == [[7, 7], [7, 7]]


def test_a_key_repeated_in_a_call_is_summed(store: Any) -> None:
    store.init(3, full(0))
    store.push([3, 3], [full(1), full(2)])
    assert pulled(store) == [3, 3]


def test_a_list_of_keys_takes_an_array_or_a_list_of_them_for_each(store: Any) -> None:
    store.init([5, 6], [full(0), full(0)])
    store.push([5, 6], [[full(1), full(1)], full(3)])
    first, second, third = od.nd.zeros(2), od.nd.zeros(2), od.nd.zeros(2)
    store.pull((5, 6), out=([first], [second, third]))
    assert [out.asnumpy().tolist() for out in (first, second, third)] == [[2, 2], [3, 3], [3, 3]]


def test_a_pull_casts_to_the_type_of_the_array(store: Any) -> None:
    store.init(3, full(7))
    out = od.nd.zeros(2, dtype="float16")
    store.pull(3, out=out)
    assert out.dtype == np.float16
    assert out.asnumpy().tolist() == [7, 7]


def test_a_push_of_another_type_leaves_the_type_of_what_is_stored(store: Any) -> None:
    store.init(3, full(1))
    store.push(3, [full(2, "float64"), full(3, "float16")])
    assert pulled(store) == [5, 5]


def test_pushpull_gives_what_is_stored_then_and_without_out_to_the_values(store: Any) -> None:
    store.init([5, 6], [full(0), full(0)])
    one, other, out = full(7), full(1), od.nd.zeros(2)
    store.pushpull(5, [one, other], out=out)
    assert out.asnumpy().tolist() == [8, 8]
    assert (one.asnumpy().tolist(), other.asnumpy().tolist()) == ([7, 7], [1, 1])
    store.pushpull([5, 6], [[one, other], one])
    # The values of a repeated array are pushed before any is overwritten.
    assert (other.asnumpy().tolist(), one.asnumpy().tolist()) == ([8, 8], [7, 7])


def test_broadcast_is_init_and_pull(store: Any) -> None:
    outs = [od.nd.zeros(2), od.nd.zeros(2)]
    store.broadcast("w", full(3), out=outs)
    assert [out.asnumpy().tolist() for out in outs] == [[3, 3], [3, 3]]
    with pytest.raises(ArgumentError, match="key 'w' is initialised already"):
        store.broadcast("w", full(3), out=outs)


def test_nothing_is_stored_by_a_broadcast_that_raises(store: Any) -> None:
    with pytest.raises(ShapeError, match="broadcast: key 3"):
        store.broadcast(3, full(1), out=od.nd.zeros(3))
    store.init(3, full(2))


def test_nothing_is_stored_by_a_push_of_several_keys_that_raises(store: Any) -> None:
    store.init([3, 4], [full(1), full(1)])
    with pytest.raises(ShapeError, match="push: key 4"):
        store.push([3, 4], [full(5), od.nd.zeros(3)])
    assert pulled(store) == [1, 1]


def test_keys_of_two_kinds_are_not_mixed(store: Any) -> None:
    store.init(3, full(1))
    for call in (store.init, store.push, store.pull):
        with pytest.raises(ArgumentError, match="key 'w' is a string, expected an integer"):
            call("w", full(1))
    with pytest.raises(ArgumentError, match="key 4 is an integer, expected a string"):
        od.kv.create().init(["w", 4], [full(1), full(1)])


def test_a_key_that_was_never_initialised_is_an_error_that_names_those_that_were(store: Any) -> None:
    store.init(3, full(1))
    for call in (store.push, store.pull, store.pushpull):
        with pytest.raises(
            ArgumentError, match=r"key 9 was never initialised \(there are: 3\); call init first"
        ):
            call(9, full(1))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (None, full(1), "the key None is NoneType, expected an integer or a string"),
        (1.5, full(1), r"the key 1\.5 is float"),
        (True, full(1), "the key True is bool"),
        (3, np.ones(2), "value of key 3 is ndarray, expected an NDArray"),
        (3, [], "value of key 3 is an empty list"),
        ([3, 4], [full(1)], "there are 2 keys; value needs a list of as many, got 1"),
        ([3, 4], full(1), "there are 2 keys; value needs a list of as many, got NDArray"),
        ([3, 3], [full(1), full(1)], "key 3 has 2 values, expected one"),
    ],
)
def test_arguments_of_other_kinds_are_refused(store: Any, key: Any, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"init: {message}"):
        store.init(key, value)


def test_a_pull_needs_arrays_to_copy_to(store: Any) -> None:
    store.init(3, full(1))
    with pytest.raises(ArgumentError, match="out of key 3 is NoneType"):
        store.pull(3)


def test_a_priority_is_a_number(store: Any) -> None:
    store.init(3, full(1))
    store.push(3, full(2), priority=-1)
    with pytest.raises(ArgumentError, match="push: priority is 'high', expected a number"):
        store.push(3, full(2), priority="high")


def test_row_sparse_arrays_are_refused(store: Any) -> None:
    store.init(3, full(1))
    with pytest.raises(ArgumentError, match="row_sparse_pull: row-sparse arrays are not supported; use pull"):
        store.row_sparse_pull(3, out=full(1), row_ids=full(0))


def test_a_store_of_one_process_is_its_only_worker(store: Any) -> None:
    store.barrier()
    assert (store.rank, store.num_workers, store.num_dead_node()) == (0, 1, 0)
    assert store.is_capable(od.kv.KVStoreBase.OPTIMIZER)
    with pytest.raises(ValueError, match="unknown capability 'flight'"):
        store.is_capable("flight")


def test_pushes_and_pulls_wait_for_nothing_and_take_effect_in_order(store: Any) -> None:
    store.init(3, full(0))
    gradient, out, gate = full(1), od.nd.zeros(2), threading.Event()
    od.engine.get().push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[gradient._chunk.var])
    store.push(3, [gradient, gradient])
    store.pull(3, out=out)
    gradient[:] = 100  # after the push has read it
    gate.set()
    assert out.asnumpy().tolist() == [2, 2]


def test_recording_does_not_see_the_store(store: Any) -> None:
    weight = full(1)
    weight.attach_grad()
    store.init(3, weight)
    with od.autograd.record():
        store.push(3, weight * 2)
        store.pull(3, out=weight)
        loss = weight * 3
    loss.backward()
    assert weight.asnumpy().tolist() == [2, 2]
    assert weight.grad.asnumpy().tolist() == [3, 3]


def test_an_optimizer_moves_the_stored_values(store: Any) -> None:
    store.set_optimizer(od.optimizer.SGD(learning_rate=0.5))
    store.init("w", full(2))
    store.push("w", [full(1), full(1)])
    assert pulled(store, "w") == [1, 1]


def test_states_of_the_optimizer_are_saved_and_loaded(store: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "states")
    store.set_optimizer(od.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    store.init("w", full(2))
    store.push("w", full(1))
    store.save_optimizer_states(file)
    other = od.kv.create("local")
    other.set_optimizer(od.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    other.init("w", full(1.5))
    other.load_optimizer_states(file)
    for one in (store, other):
        one.push("w", full(1))
    # v = 0.5 * -0.5 - 0.5 = -0.75, from 1.5
    assert pulled(store, "w") == pulled(other, "w") == [0.75, 0.75]


def test_states_need_an_optimizer_and_a_file_of_states(store: Any, tmp_path: Path) -> None:
    file = tmp_path / "states"
    file.write_bytes(b"no states")
    for call in (store.save_optimizer_states, store.load_optimizer_states):
        with pytest.raises(ArgumentError, match="no optimizer; call set_optimizer first"):
            call(str(file))
    store.set_optimizer(od.optimizer.SGD())
    with pytest.raises(FormatError):
        store.load_optimizer_states(str(file))
    assert file.read_bytes() == b"no states"


def test_what_is_no_optimizer_or_updater_is_refused(store: Any) -> None:
    with pytest.raises(ArgumentError, match=r"set_optimizer: got 'sgd', expected an optimizer; .*create"):
        store.set_optimizer("sgd")
    with pytest.raises(ArgumentError, match="set_updater: got 3, expected a function"):
        store.set_updater(3)


def test_a_set_updater_takes_the_place_of_an_optimizer(store: Any) -> None:
    store.set_optimizer(od.optimizer.SGD())
    store.set_updater(add_to_weight)
    store.init(3, full(1))
    store.push(3, full(2))
    assert pulled(store) == [3, 3]
    store.set_updater(None)
    store.push(3, full(2))
    assert pulled(store) == [2, 2]
