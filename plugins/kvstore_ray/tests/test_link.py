"""A worker's link to a server in this process: by connections, and by calls that take the place of Ray's."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import operad as od

pytest.importorskip("ray", reason="Ray is not installed")

from operad_kvstore_ray import actor, link
from operad_kvstore_ray.connection import Address, Request
from operad_kvstore_ray.envelope import CONNECTION_BYTES, sealed

ONE = od.kvstore.StoreSettings()
TWO = od.kvstore.StoreSettings(num_workers=2, timeout_s=0.2)
SHAPE = (3,)


class Remote:
    """An actor's methods; a call is run when its answer is asked for, as late as can be.

    Attributes:
        called: How often each was.
    """

    def __init__(self, server: Any) -> None:
        self._server, self.called = server, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        def remote(*given: Any) -> Callable[[], Any]:
            self.called[name] += 1
            return lambda: getattr(self._server, name)(*given)

        return Mock(remote=remote)


@pytest.fixture
def make_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Remote]:
    """A server in this process."""
    monkeypatch.setattr(actor.ray, "get_runtime_context", lambda: Mock(get_actor_id=lambda: "own"))
    monkeypatch.setattr(actor.ray.util, "get_node_ip_address", lambda: "127.0.0.1")
    monkeypatch.setattr(actor.ray, "put", lambda values: lambda: values)
    monkeypatch.setattr(link.ray, "get", lambda reference, timeout: reference())

    def make(settings: Any = ONE) -> Remote:
        return Remote(actor.ServerActor("server", tuple(settings), False, str(tmp_path), b"key"))

    return make


@pytest.fixture
def linked() -> Iterator[Callable[..., link.Link]]:
    """Links to a server."""
    with ExitStack() as stack:

        def make(server: Remote, rank: int = 0) -> link.Link:
            made = link.Link(server, 0, rank, f"life {rank}", 60.0)
            stack.callback(made.close)
            return made

        yield make


def push(number: int, key: str = "w", shape: Any = SHAPE, value: float = 1.0) -> Any:
    values = np.full(shape, value, np.float32)
    sized = [od.kvstore.Sized(key, values.size, values.dtype)]
    (bucket,) = od.kvstore.plan_buckets(sized)
    return "push", [od.kvstore.Packet(bucket, values.reshape(-1), None, 0, {key: number})]


def init(way: link.Link, shape: Any = SHAPE) -> None:
    way.send("init", {"w": np.zeros(shape, np.float32)}, {"w": od.kvstore.Extent.of_all(shape)})
    way.settle()


def begun(server: Remote, linked: Any) -> link.Link:
    """A link to a server that has pushed once."""
    way: link.Link = linked(server)
    init(way)
    way.wait({"w": 1}, message=push(1))
    return way


def test_short_messages_and_their_answers_are_no_calls_of_the_actor(make_server: Any, linked: Any) -> None:
    server = make_server()
    way = linked(server)
    init(way)
    before = +server.called
    for number in (1, 2, 3):
        values = way.wait({"w": number}, message=push(number, value=number))
        assert values["w"].tolist() == [number] * 3
    way.wait({}, 1, ("barrier", 1))
    assert server.called == before


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """`clock(seconds)` lets time pass for links, and for nothing else."""
    now = [1000.0]
    monkeypatch.setattr(link, "time", Mock(monotonic=lambda: now[0], sleep=time.sleep))
    return lambda seconds: now.append(now.pop() + seconds)


@pytest.fixture
def deaf() -> Iterator[Address]:
    """Address at which nothing listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield Address("127.0.0.1", bound.getsockname()[1], bytes(32))


@pytest.fixture
def out_of_reach(make_server: Any, linked: Any, clock: Any, deaf: Address) -> tuple[Any, Any]:
    """A server whose listener nobody reaches, and a worker's way to it."""
    server = make_server()
    server._server.address = lambda: deaf
    way = linked(server)
    init(way)
    return server, way


def test_where_no_connection_can_be_made_all_are_calls_of_the_actor(
    out_of_reach: tuple[Any, Any], clock: Any
) -> None:
    server, way = out_of_reach
    for number in range(1, 6):
        assert way.wait({"w": number}, message=push(number, value=number))["w"].tolist() == [number] * 3
    assert server.called["ask"] == 5
    assert server.called["address"] == 1


def test_attempts_to_connect_become_rare_and_never_end(out_of_reach: tuple[Any, Any], clock: Any) -> None:
    server, way = out_of_reach
    for second in range(1, 601):
        clock(1.0)
        way.wait({"w": 0})
        if second == 60:
            assert server.called["address"] <= 7
    assert 8 <= server.called["address"] <= 12


def test_a_link_that_was_refused_uses_connections_again_once_it_can(
    make_server: Any, linked: Any, clock: Any, deaf: Address
) -> None:
    server = make_server()
    right = server._server.address
    server._server.address = lambda: deaf
    way = linked(server)
    init(way)
    for _ in range(8):
        clock(link._LONGEST_WAIT_S)
        way.wait({"w": 0})
    server._server.address = right
    clock(link._LONGEST_WAIT_S)
    way.wait({"w": 0})
    before = +server.called
    way.wait({"w": 1}, message=push(1))
    assert server.called == before


@pytest.mark.parametrize("reads", [False, True], ids=["the message", "its answer"])
def test_what_a_connection_lost_is_sent_again_on_another(make_server: Any, linked: Any, reads: bool) -> None:
    server = make_server()
    way = begun(server, linked)
    broken = way._connection
    assert broken is not None
    receive = broken.receive

    def lose(number: int) -> Any:
        if reads:
            receive(number)
        broken.close()
        raise ConnectionError("lost")

    broken.receive = lose  # type: ignore[method-assign]
    if not reads:
        broken.send = lambda *_: Request(broken, 0)  # type: ignore[method-assign]
    assert way.wait({"w": 2}, message=push(2, value=2.0))["w"].tolist() == [2.0] * 3
    assert way._connection is not broken
    assert server._server._server.versions(["w"]) == (2,)


def test_a_question_is_not_answered_by_what_is_sent_again_behind_it(make_server: Any, linked: Any) -> None:
    way = begun(make_server(), linked)
    connection = way._connection
    assert connection is not None
    send, lost = connection.send, []

    def send_but_one(tag: int, parts: Any) -> Any:
        if not lost:
            lost.append(way._outbox.last)
            return send(actor.HANDLE, sealed(0, 99, "life 0", message=("note", 1)))  # which is not taken in
        return send(tag, parts)

    connection.send = send_but_one  # type: ignore[method-assign]
    way.send(*push(2, value=2.0))
    way.send(*push(3, value=3.0))
    assert way.wait({"w": 4}, message=push(4, value=4.0))["w"].tolist() == [4.0] * 3


def test_what_a_server_raises_comes_with_its_class_and_ranks(make_server: Any, linked: Any) -> None:
    server = make_server(TWO)
    way = linked(server)
    linked(server, 1)
    init(way)
    with pytest.raises(od.kvstore.StoreTimeoutError, match=r"rank 0 waited 0.2 s for rank 1") as raised:
        way.wait({"w": 1}, message=push(1))
    assert list(raised.value.ranks) == [1]
    assert server._server._raised == {}
    with pytest.raises(od.kvstore.StoreTimeoutError):  # the connection goes on
        way.wait({"w": 1})


def test_workers_that_wait_for_each_other_get_the_same_sum(make_server: Any, linked: Any) -> None:
    server = make_server(TWO)
    ways = [linked(server, rank) for rank in (0, 1)]
    init(ways[0])
    ways[1].send(*push(1, value=2.0))
    ways[1].settle()
    assert ways[0].wait({"w": 1}, message=push(1))["w"].tolist() == [3.0] * 3
    assert ways[1].wait({"w": 1})["w"].tolist() == [3.0] * 3


def test_answers_are_not_what_a_later_push_changes(make_server: Any, linked: Any) -> None:
    server = make_server()
    way = linked(server)
    init(way)
    first = way.wait({"w": 1}, message=push(1))["w"]
    again = way.wait({"w": 1})["w"]
    way.wait({"w": 2}, message=push(2, value=5.0))
    assert first.tolist() == again.tolist() == [1.0] * 3


def test_long_messages_and_long_answers_go_through_ray(make_server: Any, linked: Any) -> None:
    server = make_server()
    way = linked(server)
    shape = (CONNECTION_BYTES // 4 + 1,)
    init(way, shape)
    asked = server.called["ask"]
    assert (way.wait({"w": 0})["w"] == 0).all()  # a short question, whose answer is long
    assert server.called["ask"] == asked + 1
    way.send(*push(1, shape=shape))
    assert (way.wait({"w": 1})["w"] == 1).all()
    assert (way.wait({"w": 2}, message=push(2, shape=shape, value=2))["w"] == 2).all()


def test_the_address_of_a_server_has_its_host_port_and_secret(make_server: Any) -> None:
    host, port, secret = Address(*make_server().address.remote()())
    assert (host, port > 0, len(secret)) == ("127.0.0.1", True, 32)
