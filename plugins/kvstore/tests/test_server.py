from __future__ import annotations

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
from operad_kvstore.pictures import from_bytes, to_bytes
from operad_kvstore.placement import Extent
from operad_kvstore.server import Server
from operad_kvstore.settings import StoreSettings

TWO = StoreSettings(num_workers=2, timeout_s=0.05, snapshot_every=1)


def push(*values: float, key: str = "w", clock: int | None = None) -> tuple[str, list[Packet]]:
    (bucket,) = plan_buckets([Sized(key, len(values), np.dtype("float32"))])
    clocks = None if clock is None else {key: clock}
    return "push", [Packet(bucket, np.array(values, np.float32), clocks=clocks)]


def serving(settings: StoreSettings = TWO, is_async: bool = False, **more: Any) -> Server:
    server = Server(settings, is_async, **more)
    server.handle(0, 1, ("init", {"w": np.zeros(2, np.float32)}))
    server.handle(1, 1, ("barrier", 1))
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
    server = serving(write=lambda state: pictures.append(to_bytes(state)))
    log: list[tuple[int, int, Any]] = [(0, 2, ("optimizer", od.optimizer.SGD(learning_rate=1, momentum=0.5)))]
    log += [(0, n + 3, push(n, 1)) for n in range(6)]
    log += [(1, 1, ("barrier", 1)), *((1, n + 2, push(1, n)) for n in range(6))]
    log.sort(key=lambda entry: entry[1])
    durable = {0: 1, 1: 1}
    for rank, number, message in log:
        durable[rank] = server.handle(rank, number, message).durable
    expected = stored(server)
    for picture in pictures:
        back = Server(TWO, False)
        back.restore(from_bytes(picture, "it"))
        for rank, number, message in log:
            back.handle(rank, number, message)
        assert stored(back) == expected
    assert durable[0] > 1


def test_what_is_durable_is_what_the_last_picture_has() -> None:
    pictures: list[Any] = []
    server = serving(TWO, write=pictures.append)
    assert server.handle(0, 2, push(1, 1)).durable == 1
    assert len(pictures) == 1  # of what rank 0 initialised, before the first push
    assert server.handle(1, 2, push(1, 1)) == (2, 2)
    assert len(pictures) == 2


def test_the_notes_of_all_workers_are_in_a_picture() -> None:
    server = serving()
    server.handle(0, 2, ("note", 7))
    server.handle(1, 2, ("note", 3))
    back = Server(TWO, False)
    back.restore(from_bytes(to_bytes(server.state()), "it"))
    assert back.notes() == {0: 7, 1: 3}


def test_what_rank_0_has_set_outlasts_a_crash_before_a_barrier_tells_the_others_of_it() -> None:
    pictures: list[bytes] = []
    server = Server(TWO, False, lambda state: pictures.append(to_bytes(state)))
    server.handle(0, 1, ("init", {"w": np.zeros(2, np.float32)}))
    server.handle(1, 1, ("barrier", 1))
    server.handle(0, 2, ("barrier", 1))
    assert server.wait(1, 1, {}, barrier=1).seen == 1
    back = Server(TWO, False)
    back.restore(from_bytes(pictures[-1], "it"))
    back.handle(1, 1, ("barrier", 1))
    assert back.handle(1, 2, push(1, 1)).seen == 2


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
    server.check_shapes(1, {"w": (Extent.of_all((2,)), "float32")})
    with pytest.raises(RoundMismatchError, match=r"is \(2,\) of float32 in rank 0, and \(3,\) of float32"):
        server.check_shapes(1, {"w": (Extent.of_all((3,)), "float32")})
    with pytest.raises(RoundMismatchError, match="rank 1 has key 'v', rank 0 has not"):
        server.check_shapes(1, {"v": (Extent.of_all((2,)), "float32")})
    with pytest.raises(
        RoundMismatchError, match="ranks 0 and 1 spread key 'w' over the servers in different"
    ):
        server.check_shapes(1, {"w": (Extent((2,), 0, 1), "float32")})


def adding(on_loss: str) -> Server:
    """A server of two workers that have joined, whose updater adds."""
    server = Server(TWO._replace(on_loss=on_loss), False)
    server.join(0, "first of 0")
    server.join(1, "first of 1")
    server.handle(0, 1, ("init", {"w": np.zeros(2, np.float32)}), "first of 0")
    server.handle(0, 2, ("updater", lambda key, gradient, weight: weight.__iadd__(gradient)), "first of 0")
    return server


def test_a_lost_worker_is_never_left_out_of_a_round_in_silence() -> None:
    for on_loss in ("raise", "wait"):
        server = serving(TWO._replace(on_loss=on_loss))
        server.lose(1, "was killed by signal 9")
        server.handle(0, 2, push(1, 1))
        assert stored(server) == [0, 0]


def test_with_wait_a_round_is_complete_once_another_process_has_pushed_in_the_lost_ones_place() -> None:
    server = adding("wait")
    server.handle(1, 1, push(10, 10, clock=1), "first of 1")
    server.handle(0, 3, push(1, 1, clock=1), "first of 0")
    server.lose(1, "was killed by signal 9")
    server.handle(0, 4, push(2, 2, clock=2), "first of 0")
    with pytest.raises(
        StoreTimeoutError, match="rank 1 was killed by signal 9 and has not come back"
    ) as caught:
        server.wait(0, 4, {"w": 2})
    assert caught.value.ranks == (1,)
    assert server.join(1, "second of 1").is_back
    server.handle(1, 1, ("enter",), "second of 1")
    assert server.counts(1) == {"w": 1}
    server.handle(1, 2, push(20, 20, clock=2), "second of 1")
    server.wait(0, 4, {"w": 2})
    assert stored(server) == [33, 33]


def test_what_the_former_process_had_pushed_counts_once() -> None:
    server = adding("wait")
    server.handle(1, 1, push(10, 10, clock=1), "first of 1")
    server.join(1, "second of 1")
    assert server.counts(1) == {"w": 1}
    server.handle(1, 1, push(10, 10, clock=1), "second of 1")
    server.handle(0, 3, push(1, 1, clock=1), "first of 0")
    server.handle(0, 4, push(1, 1, clock=2), "first of 0")
    assert stored(server) == [11, 11]


def test_a_message_of_the_former_process_that_comes_late_is_refused() -> None:
    server = adding("wait")
    server.join(1, "second of 1")
    with pytest.raises(WorkerLostError, match="rank 1 was given up: another process has its place"):
        server.handle(1, 1, push(1, 1), "first of 1")


def test_a_process_that_takes_over_repeats_what_the_former_one_began_with_and_passes_at_once() -> None:
    server = adding("wait")
    for rank, number in ((0, 3), (1, 1)):
        server.handle(rank, number, ("barrier", 1), f"first of {rank}")
    standing = server.join(0, "second of 0")
    assert standing == (True, 1, 1, {"w": (Extent.of_all((2,)), "float32")})
    server.handle(0, 1, ("barrier", 1), "second of 0")
    assert server.wait(0, 1, {}, barrier=1).seen == 1
    assert server.join(0, "second of 0") == standing  # sent again


def test_with_wait_nobody_waits_for_a_worker_that_has_finished() -> None:
    server = adding("wait")
    server.leave(1)
    server.handle(0, 3, push(1, 1), "first of 0")
    with pytest.raises(WorkerLostError, match="rank 1 has finished; lost in round 1"):
        server.wait(0, 3, {"w": 1})


def test_with_shrink_who_comes_back_takes_part_from_the_next_round_on() -> None:
    server = adding("shrink")
    server.lose(1, "was killed by signal 9")
    server.handle(0, 3, push(1, 1, clock=1), "first of 0")
    server.join(1, "second of 1")
    server.handle(0, 4, push(2, 2, clock=2), "first of 0")
    assert stored(server) == [3, 3]  # it has arrived, and takes no part yet
    server.handle(1, 1, ("enter",), "second of 1")
    assert server.counts(1) == {"w": 2}
    server.handle(0, 5, push(4, 4, clock=3), "first of 0")
    assert stored(server) == [3, 3]
    server.handle(1, 2, push(100, 100, clock=3), "second of 1")
    assert stored(server) == [107, 107]


def test_without_a_policy_another_process_cannot_take_over_a_rank() -> None:
    server = adding("raise")
    with pytest.raises(WorkerLostError, match="rank 1 has ended and cannot come back; set OPERAD_KV_ON_LOSS"):
        server.join(1, "second of 1")


def test_who_has_taken_over_a_rank_is_known_after_a_crash_of_the_server() -> None:
    pictures: list[bytes] = []
    server = Server(TWO._replace(on_loss="wait"), False, lambda state: pictures.append(to_bytes(state)))
    server.join(1, "first of 1")
    server.join(1, "second of 1")
    back = Server(TWO._replace(on_loss="wait"), False)
    back.restore(from_bytes(pictures[-1], "it"))
    assert back.join(1, "second of 1").is_back
    with pytest.raises(WorkerLostError, match="another process has its place"):
        back.handle(1, 1, push(1, 1), "first of 1")


def test_an_optimizer_outlasts_a_crash_before_anything_that_it_moves_is_taken_in() -> None:
    pictures: list[bytes] = []
    server = serving(TWO._replace(snapshot_every=100), write=lambda state: pictures.append(to_bytes(state)))
    server.handle(0, 2, ("optimizer", od.optimizer.SGD(learning_rate=1)))
    server.handle(0, 3, push(1, 1))
    back = Server(TWO, False)
    back.restore(from_bytes(pictures[-1], "it"))
    assert back.handle(1, 2, push(1, 1)).seen == 2
    back.handle(0, 3, push(1, 1))
    assert stored(back) == [-2, -2]


def test_a_wait_may_overtake_the_message_that_it_is_for() -> None:
    server = serving(TWO._replace(num_workers=1, timeout_s=60))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.wait, 0, 2, {"w": 1}, arrival_s=60)
        server.handle(0, 2, push(1, 1))
        assert waiting.result().seen == 2


def test_what_a_worker_sent_before_it_left_outlasts_a_crash() -> None:
    pictures: list[bytes] = []
    server = serving(write=lambda state: pictures.append(to_bytes(state)))
    server.handle(0, 2, push(1, 2))
    server.handle(0, 3, ("barrier", 2))
    server.handle(1, 2, push(10, 20))
    server.handle(1, 3, ("barrier", 2))
    assert not server.leave(1)
    back = Server(TWO, is_async=False)
    back.restore(from_bytes(pictures[-1], "a picture"))
    assert back.wait(0, 3, {"w": 1}, barrier=2).seen == 3
    assert stored(back) == [11, 22]
    assert back.leave(0)


def test_the_last_worker_that_leaves_leaves_no_picture() -> None:
    pictures: list[Any] = []
    server = serving(write=pictures.append)
    server.leave(1)
    server.handle(0, 2, ("note", 1))
    count = len(pictures)
    assert server.leave(0)
    assert len(pictures) == count
