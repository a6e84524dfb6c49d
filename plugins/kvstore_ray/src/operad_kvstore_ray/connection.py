"""Connections of workers to a server, for all but long messages.

A call of a Ray actor and its answer pass through event loops and threads of both processes, which takes
1.3 ms at least where two workers meet; a TCP connection takes a tenth. So Ray says where a server listens,
and gives the secret, in a call that its password guards. Long arrays stay with its object store, and rare
calls with Ray.

    connection := server's nonce | worker's nonce, worker's proof | server's proof | frames
    frame := tag (u8), length of the content (u64, little-endian), content

A nonce is 32 random bytes, a proof the HMAC-SHA256 of role and both nonces under the secret. Requests are
answered in their order. Nothing is repeated here: a connection that breaks has lost what was under way (see
`operad.kvstore.Outbox`). The other side is `listener`.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad_kvstore_ray.envelope import CONNECTION_BYTES

_FRAME: Final = struct.Struct("<BQ")
NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
PROOF_S: Final = 5.0
"""Seconds for the whole exchange of proofs."""
_JOINED_BYTES: Final = 1 << 16
_AT_ONCE_BYTES: Final = CONNECTION_BYTES + (1 << 20)
"""Memory for a frame before it comes; a longer one gets more as its bytes arrive."""
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))
"""A machine that is gone breaks its connections within 30 s."""


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
class Connection:
    """A worker's connection to a server. One thread uses it.

    Args:
        address: Of the server.
        timeout_s: How long an answer may take, in seconds.
    Raises:
        OSError: There is no way there, or the other side does not know the secret.
    """

    def __init__(self, address: Address, timeout_s: float) -> None:
        self._socket = socket.create_connection(address[:2], timeout=PROOF_S)
        self.is_open = True
        self._sent = self._arrived = 0
        self._early: dict[int, tuple[int, memoryview]] = {}
        try:
            self._introduce(address.secret)
        except BaseException:
            self.close()
            raise
        self._socket.settimeout(timeout_s)
        tune(self._socket)

    def send(self, tag: int, parts: Sequence[Any]) -> Request:
        """Send a request; a connection that breaks is closed, and `receive` raises.

        Args:
            tag: From 0 to 255.
            parts: The content: bytes and arrays of bytes, one after another.
        """
        try:
            send(self._socket, tag, parts)
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
                self._early[self._arrived] = received(self._socket)
            return self._early.pop(number)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; answers under way are lost."""
        self.is_open = False
        self._socket.close()

    def _introduce(self, secret: bytes) -> None:
        end = time.monotonic() + PROOF_S
        theirs, ours = bytes(_read(self._socket, NONCE_BYTES, end)), secrets.token_bytes(NONCE_BYTES)
        self._socket.sendall(ours + proof(secret, b"worker", theirs, ours))
        of_server = bytes(_read(self._socket, PROOF_BYTES, end))
        if not hmac.compare_digest(of_server, proof(secret, b"server", theirs, ours)):
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


def proof(secret: bytes, role: bytes, of_server: bytes, of_worker: bytes) -> bytes:
    """Proof that a process in a role, "worker" or "server", knows the secret, for two nonces."""
    return hmac.digest(secret, role + of_server + of_worker, "sha256")


def tune(connected: socket.socket) -> None:
    """Set options of a connection whose both sides have proved themselves."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):  # not on every system
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def send(connected: socket.socket, tag: int, parts: Sequence[Any]) -> None:
    """Send a frame, whose content is bytes and arrays of bytes, one after another."""
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


def received(connected: socket.socket) -> tuple[int, memoryview]:
    """Tag and content of the next frame."""
    tag, length = _FRAME.unpack(_read(connected, _FRAME.size))
    return tag, _read(connected, length)


def _read(connected: socket.socket, num_bytes: int, end: float | None = None) -> memoryview:
    """Read so many bytes, until `end` on the monotonic clock, if there is one."""
    # An array of NumPy's is not cleared before it is written.
    content = np.empty(min(num_bytes, _AT_ONCE_BYTES), np.uint8)
    filled = 0
    while filled < num_bytes:
        if filled == content.size:
            longer = np.empty(min(num_bytes, 2 * filled), np.uint8)
            longer[:filled] = content
            content = longer
        if end is not None:
            connected.settimeout(max(end - time.monotonic(), 1e-3))
        count = connected.recv_into(content.data[filled:])
        if not count:
            raise ConnectionError("the other side has closed the connection")
        filled += count
    return content.data
