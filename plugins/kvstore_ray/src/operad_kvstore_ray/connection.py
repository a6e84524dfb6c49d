"""Connections of workers to a server, for all but long messages.

A call of a Ray actor and its answer pass through event loops and threads of both processes, which takes
1.3 ms at least where two workers meet; a TCP connection takes a tenth. So Ray says where a server listens,
and gives the secret, in a call that its password guards. Long arrays stay with its object store, and rare
calls with Ray.

    connection := server's nonce | worker's nonce, worker's proof | server's proof | frames
    frame := tag (u8), length of the content (u64, little-endian), content

A nonce is 32 random bytes, a proof the HMAC-SHA256 of role and both nonces under the secret. Of a process
that has not proved itself 64 bytes are read at most, and none of them parsed. Requests are answered in their
order. Nothing is repeated here: a connection that breaks has lost what was under way (see
`operad.kvstore.Outbox`).
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.interrupts import block_signals

_FRAME: Final = struct.Struct("<BQ")
_NONCE_BYTES: Final = 32
_PROOF_BYTES: Final = 32
_MOST_STRANGERS: Final = 64
"""So many connections may be without a proof at once. More have to wait, and workers do not: Ray has them."""
_PROOF_S: Final = 5.0
_JOINED_BYTES: Final = 1 << 16
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))
"""A machine that is gone breaks its connections within 30 s."""

Answer = Callable[[int, memoryview], tuple[int, Sequence[Any]]]


@final
class Address(NamedTuple):
    """Address of a server's listener.

    Attributes:
        host: Of its machine.
        port: Of the listener.
        secret: Key that a process must know to connect.
    """

    host: str
    port: int
    secret: bytes


@final
class Listener:
    """Answers requests of processes that know its secret; each connection has a thread.

    Args:
        host: The address of this machine that it listens at, and at no other.
        answer: Makes of a request's tag and content those of its answer.
        proof_s: How long another process may be silent before its proof, in seconds.
    """

    def __init__(self, host: str, answer: Answer, proof_s: float = _PROOF_S) -> None:
        self._answer, self._proof_s = answer, proof_s
        self._socket = socket.create_server((host, 0))
        self.address = Address(host, self._socket.getsockname()[1], secrets.token_bytes(32))
        self._strangers = threading.BoundedSemaphore(_MOST_STRANGERS)
        threading.Thread(target=self._accept, name="kvstore-listener", daemon=True).start()

    def _accept(self) -> None:
        block_signals()
        while True:
            self._strangers.acquire()
            try:
                connected, _ = self._socket.accept()
            except OSError:  # the other side has gone, or this process has too many files open
                self._strangers.release()
                continue
            threading.Thread(target=self._serve, args=(connected,), name="kvstore-peer", daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        block_signals()
        with connected, suppress(OSError):
            try:
                is_known = self._is_known(connected)
            finally:
                self._strangers.release()
            while is_known:
                _send(connected, *self._answer(*_received(connected)))

    def _is_known(self, connected: socket.socket) -> bool:
        """Return whether the other side proves that it knows the secret, and prove the same to it."""
        connected.settimeout(self._proof_s)
        ours = secrets.token_bytes(_NONCE_BYTES)
        connected.sendall(ours)
        hello = bytes(_read(connected, _NONCE_BYTES + _PROOF_BYTES))
        theirs, proof = hello[:_NONCE_BYTES], hello[_NONCE_BYTES:]
        if not hmac.compare_digest(proof, _proof(self.address.secret, b"worker", ours, theirs)):
            return False
        connected.sendall(_proof(self.address.secret, b"server", ours, theirs))
        connected.settimeout(None)
        _tune(connected)
        return True


@final
class Connection:
    """A worker's connection to a server. One thread uses it.

    Args:
        address: Of the server.
        timeout_s: How long an answer may take, in seconds.
    Raises:
        OSError: There is no way there, or the other side does not know the secret.
    """

    def __init__(self, address: Address, timeout_s: float) -> None:
        self._socket = socket.create_connection(address[:2], timeout=_PROOF_S)
        self.is_open = True
        self._sent = self._arrived = 0
        self._early: dict[int, tuple[int, memoryview]] = {}
        try:
            self._introduce(address.secret)
        except BaseException:
            self.close()
            raise
        self._socket.settimeout(timeout_s)
        _tune(self._socket)

    def send(self, tag: int, parts: Sequence[Any]) -> Request:
        """Send a request; a connection that breaks is closed, and `receive` raises.

        Args:
            tag: From 0 to 255.
            parts: The content: bytes and arrays of bytes, one after another.
        """
        try:
            _send(self._socket, tag, parts)
        except OSError:
            self.close()
        self._sent += 1
        return Request(self, self._sent)

    def receive(self, number: int) -> tuple[int, memoryview]:
        """Tag and content of the answer to a request; answers to others are kept for them.

        Args:
            number: Of the request, which has not been received yet.

        Raises:
            TimeoutError: It has not come in time. The connection is closed.
            OSError: The connection is closed.
        """
        try:
            while number not in self._early:
                self._arrived += 1
                self._early[self._arrived] = _received(self._socket)
            return self._early.pop(number)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; answers under way are lost."""
        self.is_open = False
        self._socket.close()

    def _introduce(self, secret: bytes) -> None:
        theirs, ours = bytes(_read(self._socket, _NONCE_BYTES)), secrets.token_bytes(_NONCE_BYTES)
        self._socket.sendall(ours + _proof(secret, b"worker", theirs, ours))
        proof = bytes(_read(self._socket, _PROOF_BYTES))
        if not hmac.compare_digest(proof, _proof(secret, b"server", theirs, ours)):
            raise ConnectionError("the other side does not know the secret of this server")


@final
class Request(NamedTuple):
    """A request that was sent.

    Attributes:
        connection: Which answers it.
        number: From 1 on.
    """

    connection: Connection
    number: int


def _proof(secret: bytes, role: bytes, of_server: bytes, of_worker: bytes) -> bytes:
    return hmac.digest(secret, role + of_server + of_worker, "sha256")


def _tune(connected: socket.socket) -> None:
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):  # not on every system
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _send(connected: socket.socket, tag: int, parts: Sequence[Any]) -> None:
    views = [memoryview(part) for part in parts]
    head: list[Any] = [_FRAME.pack(tag, sum(view.nbytes for view in views))]
    for view in views:
        if view.nbytes < _JOINED_BYTES:
            head.append(view)
            continue
        connected.sendall(b"".join(head))
        connected.sendall(view)
        head.clear()
    connected.sendall(b"".join(head))


def _received(connected: socket.socket) -> tuple[int, memoryview]:
    tag, length = _FRAME.unpack(_read(connected, _FRAME.size))
    return tag, _read(connected, length)


def _read(connected: socket.socket, num_bytes: int) -> memoryview:
    # An array of NumPy's is not cleared before it is written.
    content = np.empty(num_bytes, np.uint8).data
    left = content
    while left:
        count = connected.recv_into(left)
        if not count:
            raise ConnectionError("the other side has closed the connection")
        left = left[count:]
    return content
