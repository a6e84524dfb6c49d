"""Every worker runs this: the rules of synchronous stores, one function each. Prints `passed` at the end.

Usage: rules.py TYPE
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad.errors import ShapeError

kv = od.kv.create(sys.argv[1])
rank, workers = kv.rank, kv.num_workers
everybody = sum(range(1, workers + 1))  # of rank + 1


def pulled(store: Any, key: Any, shape: tuple[int, ...] = (3,)) -> list[float]:
    out = od.nd.zeros(shape)
    store.pull(key, out=out)
    values: list[float] = out.asnumpy().tolist()
    return values


def raised(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - looked at by the caller
        return error
    raise AssertionError("nothing was raised")


def the_value_of_rank_0_counts_and_may_be_pulled_before_any_push() -> None:
    kv.init("first", od.nd.array([1, 2, 3]) * (rank + 1))
    assert pulled(kv, "first") == [1, 2, 3]


def without_updater_the_stored_value_becomes_the_sum_over_devices_and_workers() -> None:
    mine = od.nd.ones(3) * (rank + 1)
    kv.push("first", [mine, mine])
    assert pulled(kv, "first") == [2 * everybody] * 3


def a_round_counts_workers_and_not_pushes() -> None:
    kv.init("rounds", od.nd.zeros(3))
    if rank == 0:
        kv.push("rounds", od.nd.ones(3))
        kv.push("rounds", od.nd.ones(3) * 10)
    else:
        kv.push("rounds", od.nd.ones(3) * 100)
        assert pulled(kv, "rounds") == [1 + 100 * (workers - 1)] * 3
        kv.push("rounds", od.nd.ones(3) * 1000)
    assert pulled(kv, "rounds") == [10 + 1000 * (workers - 1)] * 3


def neither_pull_nor_a_later_write_changes_what_was_pushed() -> None:
    pushed = od.nd.ones(3)
    kv.init("apart", pushed)
    kv.push("apart", pushed)
    pushed[:] = 9
    assert pulled(kv, "apart") == [workers] * 3
    assert pushed.asnumpy().tolist() == [9, 9, 9]


def pushpull_without_out_writes_into_the_values() -> None:
    value = od.nd.ones(3)
    kv.pushpull("apart", value)
    assert value.asnumpy().tolist() == [workers] * 3


def many_keys_of_a_call_share_buckets_and_keep_their_values_and_types() -> None:
    keys = list(range(40))
    other = od.kv.create(sys.argv[1])
    dtypes = [("float32", "float64", "float16", "int32")[i % 4] for i in keys]
    values = [od.nd.ones((i % 5 + 1, 3), dtype=dtypes[i]) * i for i in keys]
    outs = [od.nd.zeros(value.shape) for value in values]
    other.init(keys, values)
    other.pushpull(keys, values, out=outs)
    for i in keys:
        assert (outs[i].asnumpy() == i * workers).all(), i
    other.close()


def an_array_larger_than_a_bucket_arrives_whole() -> None:
    size = 5_000_000
    large = np.arange(size, dtype=np.float32)
    kv.init("large", od.nd.zeros(size))
    out = od.nd.zeros(size)
    kv.pushpull("large", od.nd.array(large), out=out)
    assert (out.asnumpy() == large * workers).all()


def sums_of_many_elements_are_those_of_few_whatever_the_type() -> None:
    for dtype in ("float16", "float32", "int32"):
        for size in (
            16_383,
            16_385,
            400_000,
        ):  # of which some travel with a question or an agreement, and some apart
            key = f"{dtype} {size}"
            mine = (np.arange(size) % 100 * (rank + 1)).astype(dtype)
            kv.init(key, od.nd.zeros(size, dtype=dtype))
            out = od.nd.zeros(size, dtype=dtype)
            kv.pushpull(key, od.nd.array(mine, dtype=dtype), out=out)
            assert (out.asnumpy() == np.arange(size) % 100 * everybody).all(), key


def what_was_pulled_stays_while_the_stored_value_moves_on() -> None:
    kv.init("moving", od.nd.zeros(100_000))
    outs = [od.nd.zeros(100_000) for _ in range(5)]
    for step, out in enumerate(outs):
        kv.pushpull("moving", od.nd.ones(100_000) * step, out=out)
    for step, out in enumerate(outs):
        assert (out.asnumpy() == step * workers).all(), step


def another_shape_is_refused_before_anything_is_sent() -> None:
    assert isinstance(raised(lambda: kv.push("first", od.nd.zeros(4))), ShapeError)
    assert isinstance(raised(lambda: kv.init("first", od.nd.zeros(3))), TypeError)
    assert "'7' was never" in str(raised(lambda: kv.pull("7", od.nd.zeros(3))))


def compression_sends_two_bits_and_keeps_the_rest() -> None:
    store = od.kv.create(sys.argv[1])
    store.init("w", od.nd.zeros(20))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    out = od.nd.zeros(20)
    store.pushpull("w", od.nd.ones(20) * 0.3, out=out)
    assert (out.asnumpy() == 0).all()
    store.pushpull("w", od.nd.ones(20) * 0.3, out=out)
    assert (out.asnumpy() == 0.5 * workers).all()
    store.init("many", od.nd.zeros(400_000))
    out = od.nd.zeros(400_000)
    store.pushpull("many", od.nd.ones(400_000) * 0.6, out=out)
    assert (out.asnumpy() == 0.5 * workers).all()
    store.close()


def the_optimizer_runs_where_the_values_are() -> None:
    kv.init("weight", od.nd.zeros(3))
    kv.set_optimizer(od.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    for expected in (-0.5, -1.25):  # m = 0.5 m - 0.5 g, with g = 1
        kv.push("weight", od.nd.ones(3) / workers)
        got = np.array(pulled(kv, "weight"))
        assert np.allclose(got, expected), (got, expected)


def states_that_are_saved_and_loaded_go_on_where_they_were() -> None:
    file = Path(tempfile.gettempdir()) / f"operad-states-{rank}"
    kv.save_optimizer_states(file)
    kv.barrier()
    before = pulled(kv, "weight")
    kv.push("weight", od.nd.ones(3) / workers)
    first = np.array(pulled(kv, "weight")) - before
    kv.load_optimizer_states(file)
    before = pulled(kv, "weight")
    kv.push("weight", od.nd.ones(3) / workers)
    assert np.allclose(np.array(pulled(kv, "weight")) - before, first)
    file.unlink()


def a_pull_raises_what_the_updater_raised_and_the_next_round_is_well() -> None:
    def update(key: object, gradient: Any, weight: Any) -> None:
        assert isinstance(key, str)
        if gradient.asnumpy()[0] < 0:
            raise ValueError("on purpose")
        weight += gradient

    kv.set_updater(update)
    kv.init("moved", od.nd.zeros(3))
    kv.push("moved", od.nd.ones(3) * -1)
    error = raised(lambda: pulled(kv, "moved"))
    assert isinstance(error, od.kv.UpdateFailedError), error
    assert "'moved': ValueError: on purpose" in str(error)
    kv.push("moved", od.nd.ones(3))
    assert pulled(kv, "moved") == [workers] * 3


for rule in [value for name, value in list(vars().items()) if getattr(value, "__module__", "") == "__main__"]:
    if rule not in (pulled, raised):
        rule()
kv.barrier()
print("passed", flush=True)
