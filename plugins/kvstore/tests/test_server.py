from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError
from operad_kvstore.buckets import Sized, plan_buckets
from operad_kvstore.errors import (
    RoundMismatchError,
    StoreTimeoutError,
    UpdateFailedError,
    WorkerLostError,
)
from operad_kvstore.packets import Packet
from operad_kvstore.server import Server
from operad_kvstore.settings import StoreSettings

TWO = StoreSettings(num_workers=2, timeout_s=0.05, snapshot_every=1)


def push(*values: float, key: str = "w") -> tuple[str, list[Packet]]:
    (bucket,) = plan_buckets([Sized(key, len(values), np.dtype("float32"))])
    return "push", [Packet(bucket, np.array(values, np.float32))]


def serving(settings: StoreSettings = TWO, is_async: bool = False, **more: Any) -> Server:
    server = Server(settings, is_async, **more)
    server.handle(0, 1, ("init", {"w": np.zeros(2, np.float32)}))
    server.handle(1, 1, ("barrier",))
    return server


def stored(server: Server) -> Sequence[float]:
    values: list[float] = server.values(["w"])[1]["w"].tolist()
    return values


def test_a_round_takes_one_push_of_each_worker_whoever_pushes_twice() -> None:
    server = serving()
    server.handle(0, 2, push(1, 1))
    server.handle(0, 3, push(10, 10))
    assert stored(server) == [0, 0]
    server.handle(1, 2, push(100, 100))
    assert stored(server) == [101, 101]
    server.handle(1, 3, push(1000, 1000))
    assert stored(server) == [1010, 1010]


def test_a_message_that_comes_again_counts_once() -> None:
    server = serving(is_async=True)
    server.handle(0, 2, ("optimizer", od.optimizer.SGD(learning_rate=1.0)))
    for _ in range(3):
        assert server.handle(1, 2, push(1, 2)).seen == 2
    assert stored(server) == [-1, -2]


def test_a_message_that_comes_too_early_is_not_taken_in_and_the_receipt_says_what_is_here() -> None:
    server = serving()
    assert server.handle(1, 5, push(1, 1)).seen == 1
    assert server.wait(1, 5, {"w": 1}).seen == 1


def test_a_restored_server_gets_the_rest_again_and_comes_to_the_same_values() -> None:
    pictures: list[bytes] = []
    server = serving(write=lambda state: pictures.append(pickle.dumps(state)))
    log: list[tuple[int, int, Any]] = [(0, 2, ("optimizer", od.optimizer.SGD(learning_rate=1, momentum=0.5)))]
    log += [(0, n + 3, push(n, 1)) for n in range(6)]
    log += [(1, n + 2, push(1, n)) for n in range(6)]
    log.sort(key=lambda entry: entry[1])
    durable = {0: 1, 1: 1}
    for rank, number, message in log:
        durable[rank] = server.handle(rank, number, message).durable
    expected = stored(server)
    for picture in pictures:
        back = Server(TWO, False)
        back.restore(pickle.loads(picture))
        for rank, number, message in log:
            back.handle(rank, number, message)
        assert stored(back) == expected
    assert durable[0] > 1


def test_what_is_durable_is_what_the_last_picture_has() -> None:
    pictures: list[Any] = []
    server = serving(TWO._replace(snapshot_every=2), write=pictures.append)
    assert server.handle(0, 2, push(1, 1)).durable == 0
    assert server.handle(1, 2, push(1, 1)) == (2, 2)
    assert len(pictures) == 1


def test_a_timeout_names_those_who_are_waited_for_the_key_and_the_round() -> None:
    server = serving()
    server.handle(0, 2, push(1, 1))
    with pytest.raises(
        StoreTimeoutError, match=r"rank 0 waited .* for rank 1 in round 1 of key 'w'"
    ) as caught:
        server.wait(0, 2, {"w": 1})
    assert caught.value.ranks == (1,)
    with pytest.raises(StoreTimeoutError, match="for rank 0 in barrier 1"):
        server.wait(1, 1, {}, barrier=1)


def test_the_loss_of_a_worker_that_is_waited_for_is_raised_with_its_rank_and_why() -> None:
    server = serving(TWO._replace(timeout_s=300))
    server.handle(0, 2, push(1, 1))
    server.lose(1, "was killed by signal 9")
    with pytest.raises(WorkerLostError, match="rank 1 was killed by signal 9; lost in round 1") as caught:
        server.wait(0, 2, {"w": 1})
    assert caught.value.ranks == (1,)
    assert pickle.loads(pickle.dumps(caught.value)).ranks == (1,)


def test_a_worker_that_was_given_up_is_told_so() -> None:
    server = serving()
    server.lose(1, "was not heard of for 10 s")
    with pytest.raises(WorkerLostError, match="rank 1 was given up: it was not heard of for 10 s"):
        server.handle(1, 2, push(1, 1))


def test_with_shrink_the_others_go_on_and_what_the_lost_one_pushed_is_dropped() -> None:
    server = serving(TWO._replace(on_loss="shrink"))
    server.handle(1, 2, push(100, 100))
    server.handle(1, 3, push(100, 100))
    server.handle(0, 2, push(1, 1))
    assert stored(server) == [101, 101]
    server.handle(0, 3, push(2, 2))
    server.handle(0, 4, push(3, 3))
    server.lose(1, "ended")
    assert server.wait(0, 4, {"w": 3}).seen == 4
    assert stored(server) == [3, 3]


def test_an_error_of_the_updater_is_raised_to_everybody_and_gone_with_the_next_round() -> None:
    def update(key: str, gradient: Any, weight: Any) -> None:
        if gradient.asnumpy()[0] < 0:
            raise ValueError("on purpose")
        weight += gradient

    server = serving()
    server.handle(0, 2, ("updater", update))
    server.handle(0, 3, push(-1, -1))
    server.handle(1, 2, push(-1, -1))
    for rank, number in ((0, 3), (1, 2)):
        with pytest.raises(UpdateFailedError, match="key 'w': ValueError: on purpose"):
            server.wait(rank, number, {"w": 1})
    server.handle(0, 4, push(1, 2))
    server.handle(1, 3, push(1, 2))
    server.wait(0, 4, {"w": 2})
    assert stored(server) == [2, 4]


def test_an_asynchronous_push_needs_an_optimizer() -> None:
    with pytest.raises(ArgumentError, match="needs set_optimizer first"):
        serving(is_async=True).handle(0, 2, push(1, 1))


def test_other_shapes_than_those_of_rank_0_are_refused() -> None:
    server = serving()
    server.check_shapes(1, {"w": ((2,), "float32")})
    with pytest.raises(RoundMismatchError, match=r"is \(2,\) of float32 in rank 0, and \(3,\) of float32"):
        server.check_shapes(1, {"w": ((3,), "float32")})
    with pytest.raises(RoundMismatchError, match="rank 1 has key 'v', rank 0 has not"):
        server.check_shapes(1, {"v": ((2,), "float32")})
