"""A listener beside strangers: silent, slow, many, again and again; without descriptors or threads."""

from __future__ import annotations

import errno
import hmac
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any
from unittest.mock import Mock

import pytest

from operad import interrupts
from operad_kvstore_ray import listener as listeners
from operad_kvstore_ray.connection import Connection
from operad_kvstore_ray.listener import MOST_OF_ADDRESS, Listener
from plugins.kvstore_ray.tests.echo import LIMIT_S, echoed


@pytest.fixture
def stranger(listener: Listener) -> Iterator[socket.socket]:
    with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as connected:
        yield connected


@pytest.fixture
def connected() -> Iterator[Callable[..., socket.socket]]:
    """Strangers: `connected(listener, host)`."""
    with ExitStack() as stack:

        def make(listener: Listener, host: str = "127.0.0.1") -> socket.socket:
            made = socket.create_connection(listener.address[:2], timeout=LIMIT_S, source_address=(host, 0))
            return stack.enter_context(made)

        yield make


def assert_answers(listener: Listener) -> None:
    with closing(Connection(listener.address, LIMIT_S)) as asked:
        asked.send(0, [b"content"])
        assert asked.receive(1) == (1, b"content" * 2)


def test_a_listener_is_at_its_own_address_and_no_other(listener: Listener) -> None:
    assert listener._socket.getsockname()[0] == "127.0.0.1"


def test_each_listener_has_a_secret_of_256_bits_of_its_own(listener: Listener) -> None:
    other = Listener("127.0.0.1", echoed)
    assert len(listener.address.secret) == len(other.address.secret) == 256 // 8
    assert listener.address.secret != other.address.secret


def test_who_does_not_know_the_secret_is_refused_and_nothing_is_answered(listener: Listener) -> None:
    heard = list[bytes]()
    listener._answer = lambda tag, content: (tag, [heard.append(bytes(content))])
    with pytest.raises(ConnectionError):
        Connection(listener.address._replace(secret=bytes(32)), LIMIT_S)
    for _ in range(2):
        with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as stranger:
            stranger.sendall(bytes(1000))
            assert len(stranger.recv(1000)) == 32
    assert heard == []


def test_a_proof_that_was_overheard_is_of_no_use_to_another_connection(
    listener: Listener, stranger: socket.socket
) -> None:
    nonce, ours = stranger.recv(32, socket.MSG_WAITALL), bytes(32)
    hello = ours + hmac.digest(listener.address.secret, b"worker" + nonce + ours, "sha256")
    stranger.sendall(hello)
    assert len(stranger.recv(32, socket.MSG_WAITALL)) == 32
    with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as again:
        assert again.recv(32, socket.MSG_WAITALL) != nonce
        again.sendall(hello)
        assert again.recv(1) == b""


@pytest.mark.parametrize("proof_s", [0.1, 2 * LIMIT_S])
def test_a_stranger_that_says_nothing_is_hung_up_on_and_keeps_no_worker_out_until_then(
    proof_s: float, connected: Callable[..., socket.socket]
) -> None:
    listener = Listener("127.0.0.1", echoed, proof_s)
    silent = connected(listener)
    assert len(silent.recv(32, socket.MSG_WAITALL)) == 32
    if proof_s < LIMIT_S:
        assert silent.recv(1) == b""
    else:
        assert_answers(listener)


def test_strangers_that_have_gone_leave_room_for_others(listener: Listener) -> None:
    for _ in range(MOST_OF_ADDRESS + 1):
        socket.create_connection(listener.address[:2], timeout=LIMIT_S).close()
    assert_answers(listener)


def test_silent_strangers_of_its_own_address_keep_no_worker_out(
    listener: Listener, connected: Callable[..., socket.socket]
) -> None:
    silent = [connected(listener) for _ in range(MOST_OF_ADDRESS + 20)]
    assert_answers(listener)
    assert len(silent[0].recv(32, socket.MSG_WAITALL)) == 32
    assert silent[0].recv(1) == b""  # the oldest had to go


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the loopback device has one address")
def test_strangers_of_one_address_take_no_place_of_another(
    listener: Listener, connected: Callable[..., socket.socket]
) -> None:
    early = connected(listener, "127.0.0.2")
    nonce, ours = early.recv(32, socket.MSG_WAITALL), bytes(32)
    for _ in range(MOST_OF_ADDRESS + 20):
        connected(listener, "127.0.0.3")
    assert_answers(listener)
    early.sendall(ours + hmac.digest(listener.address.secret, b"worker" + nonce + ours, "sha256"))
    assert len(early.recv(32, socket.MSG_WAITALL)) == 32


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the loopback device has one address")
def test_where_all_places_are_taken_the_address_with_most_strangers_makes_room(
    listener: Listener, connected: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "MOST_STRANGERS", 12)
    few = [connected(listener, f"127.0.0.{number}") for number in (2, 3, 4)]
    many = [connected(listener, "127.0.0.9") for _ in range(9)]
    assert_answers(listener)
    assert len(many[0].recv(32, socket.MSG_WAITALL)) == 32
    assert many[0].recv(1) == b""
    for one in few:
        assert len(one.recv(32, socket.MSG_WAITALL)) == 32
        one.sendall(bytes(63))
    assert_answers(listener)
    for one in few:
        one.settimeout(0.0)
        with pytest.raises(BlockingIOError):  # still connected
            one.recv(1)


def test_a_stranger_that_dribbles_has_as_long_as_one_that_is_silent(
    connected: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(listeners, "time", Mock(monotonic=lambda: now[0]))
    listener = Listener("127.0.0.1", echoed, proof_s=5.0)
    slow = connected(listener)
    assert len(slow.recv(32, socket.MSG_WAITALL)) == 32
    with suppress(ConnectionError):
        for _ in range(4):  # each byte comes in time, and all of them do not
            slow.sendall(b"0")
            now[0] += 2.0
        assert slow.recv(1) == b""
    assert_answers(listener)


def test_strangers_that_come_again_and_again_keep_no_worker_out(listener: Listener) -> None:
    stop = threading.Event()

    def again() -> None:
        while not stop.is_set():
            with suppress(OSError), socket.create_connection(listener.address[:2], timeout=LIMIT_S) as one:
                one.recv(1)

    threads = [threading.Thread(target=again) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert_answers(listener)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_garbage_of_any_length_is_refused(listener: Listener) -> None:
    draw = random.Random(1)
    for _ in range(100):
        with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as stranger:
            stranger.sendall(draw.randbytes(draw.randrange(4000)))
    assert_answers(listener)


def test_a_stranger_costs_no_thread(
    listener: Listener, connected: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "start_thread", started := Mock(wraps=interrupts.start_thread))
    for _ in range(20):
        assert len(connected(listener).recv(32, socket.MSG_WAITALL)) == 32
    assert started.call_count == 0
    assert_answers(listener)
    assert started.call_count == 1


class Refusing:
    """A listening socket whose `accept` fails as where no descriptor is left."""

    def __init__(self, real: socket.socket, times: int) -> None:
        self._real, self.times = real, times

    def accept(self) -> Any:
        if self.times:
            self.times -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return self._real.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def with_few_descriptors(times: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Listener, Any]:
    """A listener whose first calls of `accept` fail, and the waits of its thread."""
    clock, real = Mock(wraps=time), socket.create_server
    clock.sleep = Mock()
    monkeypatch.setattr(listeners, "time", clock)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "create_server", lambda *given: Refusing(real(*given), times))
        return Listener("127.0.0.1", echoed), clock.sleep


def test_without_descriptors_a_listener_waits_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    listener, pauses = with_few_descriptors(3, monkeypatch)
    assert_answers(listener)
    assert pauses.call_count == 3


def test_without_descriptors_the_oldest_stranger_makes_room(
    connected: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, pauses = with_few_descriptors(0, monkeypatch)
    oldest, other = connected(listener), connected(listener)
    for one in (oldest, other):
        assert len(one.recv(32, socket.MSG_WAITALL)) == 32
    listener._socket.times = 1  # type: ignore[attr-defined]
    assert_answers(listener)
    assert oldest.recv(1) == b""
    assert pauses.call_count == 0


def test_without_threads_a_worker_is_hung_up_on_and_the_listener_goes_on(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        refused = Mock(side_effect=RuntimeError("can't start new thread"))
        patch.setattr(interrupts, "start_new_thread", refused)
        asked = Connection(listener.address, LIMIT_S)
        asked.send(0, [b"content"])
        with pytest.raises(OSError, match=r"closed|reset|Bad file"):
            asked.receive(1)
    assert_answers(listener)


@pytest.mark.parametrize("error", [MemoryError(), ConnectionResetError()], ids=["memory", "reset"])
def test_a_worker_whose_connection_fails_is_hung_up_on_in_silence(
    error: Exception, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "received", Mock(side_effect=error))
    asked = Connection(listener.address, LIMIT_S)
    with pytest.raises(OSError, match="closed"):
        asked.receive(1)
