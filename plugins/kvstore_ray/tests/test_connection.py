from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from operad_kvstore_ray import connection
from operad_kvstore_ray.connection import Address, Connection, Listener

LIMIT_S = 60.0


def echoed(tag: int, content: memoryview) -> tuple[int, list[Any]]:
    return tag + 1, [bytes(content), content]


@pytest.fixture
def listener() -> Listener:
    return Listener("127.0.0.1", echoed)


@pytest.fixture
def stranger(listener: Listener) -> Iterator[socket.socket]:
    with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as connected:
        yield connected


def test_requests_are_answered_in_their_order_whatever_their_length(listener: Listener) -> None:
    with closing(Connection(listener.address, LIMIT_S)) as asked:
        contents = [b"", b"short", np.arange(200_000, dtype=np.uint8).data, b"and short again"]
        for tag, content in enumerate(contents):
            asked.send(tag, [content])
        for tag, content in enumerate(contents):
            assert asked.receive(tag + 1) == (tag + 1, bytes(content) * 2)


def test_an_answer_is_that_of_its_request_though_others_are_asked_for_first(listener: Listener) -> None:
    with closing(Connection(listener.address, LIMIT_S)) as asked:
        requests = [asked.send(0, [content]) for content in (b"a", b"b", b"c")]
        found = {number: bytes(asked.receive(number)[1]) for _, number in reversed(requests)}
        assert found == {3: b"cc", 2: b"bb", 1: b"aa"}


def test_what_is_received_may_be_written(listener: Listener) -> None:
    with closing(Connection(listener.address, LIMIT_S)) as asked:
        asked.send(0, [b"content"])
        assert not asked.receive(1)[1].readonly


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


def test_a_listener_that_does_not_know_the_secret_is_refused_by_the_worker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as impostor:

        def pretend() -> None:
            connected, _ = impostor.accept()
            with connected:
                connected.sendall(bytes(32))
                # The worker's own proof, which is of another role.
                connected.sendall(connected.recv(64, socket.MSG_WAITALL)[32:])

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(ConnectionError, match="does not know the secret"):
            Connection(Address("127.0.0.1", impostor.getsockname()[1], bytes(32)), LIMIT_S)
        thread.join()


def test_a_stranger_that_says_nothing_is_hung_up_on_and_keeps_no_worker_out_until_then() -> None:
    listener = Listener("127.0.0.1", echoed, proof_s=0.1)
    with socket.create_connection(listener.address[:2], timeout=LIMIT_S) as silent:
        assert_answers(listener)
        assert len(silent.recv(32, socket.MSG_WAITALL)) == 32
        assert silent.recv(1) == b""


def test_strangers_that_have_gone_leave_room_for_others(listener: Listener) -> None:
    for _ in range(connection._MOST_STRANGERS + 1):
        socket.create_connection(listener.address[:2], timeout=LIMIT_S).close()
    assert_answers(listener)


def assert_answers(listener: Listener) -> None:
    with closing(Connection(listener.address, LIMIT_S)) as asked:
        asked.send(0, [b"content"])
        assert asked.receive(1) == (1, b"content" * 2)


def test_a_connection_that_broke_says_so_and_is_closed(listener: Listener) -> None:
    asked = Connection(listener.address, LIMIT_S)
    asked._socket.shutdown(socket.SHUT_RDWR)
    asked.send(0, [b"content"])
    with pytest.raises(OSError, match=r"Bad file|closed"):
        asked.receive(1)
    assert not asked.is_open


def test_an_answer_that_does_not_come_is_a_timeout_after_which_no_late_one_is_taken() -> None:
    may_answer = threading.Event()

    def answer(tag: int, content: memoryview) -> tuple[int, list[Any]]:
        may_answer.wait()
        return echoed(tag, content)

    listener = Listener("127.0.0.1", answer)
    asked = Connection(listener.address, LIMIT_S)
    asked._socket.settimeout(0.01)
    asked.send(0, [b"content"])
    with pytest.raises(TimeoutError):
        asked.receive(1)
    may_answer.set()
    with pytest.raises(OSError, match=r"Bad file|closed"):
        asked.receive(1)
    assert not asked.is_open
