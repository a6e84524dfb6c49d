from __future__ import annotations

import socket
import struct
import threading
from contextlib import closing, suppress
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from operad_kvstore_ray import connection
from operad_kvstore_ray.connection import Address, Connection
from operad_kvstore_ray.listener import Listener
from plugins.kvstore_ray.tests.echo import LIMIT_S, echoed


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


def test_a_listener_that_dribbles_keeps_a_worker_for_no_longer_than_a_proof_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(connection, "time", Mock(monotonic=lambda: now[0]))
    with socket.create_server(("127.0.0.1", 0)) as impostor:

        def dribble() -> None:
            connected, _ = impostor.accept()
            with connected, suppress(ConnectionError):  # the worker hangs up
                for _ in range(31):
                    connected.sendall(b"0")
                    now[0] += 1.0

        thread = threading.Thread(target=dribble)
        thread.start()
        with pytest.raises((TimeoutError, ConnectionError)):
            Connection(Address("127.0.0.1", impostor.getsockname()[1], bytes(32)), LIMIT_S)
        thread.join()


def test_memory_grows_with_what_comes_and_not_with_what_is_announced() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack("<BQ", 1, 1 << 62) + b"content")
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionError, match="closed"):
            connection.received(ours)


def test_a_frame_longer_than_what_is_allocated_at_once_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_AT_ONCE_BYTES", 10)
    content = np.arange(1000, dtype=np.uint16).tobytes()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection.send(theirs, 3, [content])
        tag, found = connection.received(ours)
    assert (tag, bytes(found)) == (3, content)
