"""A server's side of connections: strangers wait in one thread, workers have one each.

Whoever reaches the port may connect, and nobody is believed before a proof (see `connection`). Of a stranger
64 bytes are read, none of them parsed, and a stranger costs a descriptor and no thread. Each has `proof_s`
seconds for all 64. Where too many wait, of one address or of all, a new one takes the place of the oldest of
the address that has most: a worker proves itself within milliseconds, so it is not the oldest for long, and
strangers of another address take no place of its own.
"""

from __future__ import annotations

import errno
import hmac
import secrets
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, final

from operad.interrupts import start_thread
from operad_kvstore_ray.connection import (
    NONCE_BYTES,
    PROOF_BYTES,
    PROOF_S,
    Address,
    proof,
    received,
    send,
    tune,
)

MOST_STRANGERS: Final = 256
"""So many connections may be without a proof at once."""
MOST_OF_ADDRESS: Final = 64
"""So many of those may come from one address."""
_PAUSE_S: Final = 0.1
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Answer = Callable[[int, memoryview], tuple[int, Sequence[Any]]]


@final
class Listener:
    """Answers requests of processes that know its secret; each connection of theirs has a thread.

    Args:
        host: The address of this machine that it listens at, and at no other.
        answer: Makes of a request's tag and content those of its answer.
        proof_s: How long another process may take for its proof, in seconds.
    """

    def __init__(self, host: str, answer: Answer, proof_s: float = PROOF_S) -> None:
        self._answer, self._proof_s = answer, proof_s
        self._socket = socket.create_server((host, 0))
        self._socket.setblocking(False)
        self.address = Address(host, self._socket.getsockname()[1], secrets.token_bytes(32))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._strangers: list[_Stranger] = []  # the oldest first
        start_thread("kvstore-listener", self._listen)

    def _listen(self) -> None:
        while True:
            wait_s = self._strangers[0].end - time.monotonic() if self._strangers else None
            for key, _ in self._selector.select(wait_s):
                if key.fileobj is self._socket:
                    self._accept()
                elif key.data in self._strangers:  # else it had to go meanwhile
                    self._hear(key.data)
            while self._strangers and self._strangers[0].end <= time.monotonic():
                self._refuse(self._strangers[0])

    def _accept(self) -> None:
        try:
            connected, (host, *_) = self._socket.accept()
        except OSError as error:  # the other side has gone, or there is no descriptor left
            if error.errno in _NO_ROOM:  # and the connection that waits is seen again at once
                self._refuse(self._strangers[0]) if self._strangers else time.sleep(_PAUSE_S)
            return
        connected.setblocking(False)
        waiting = Counter(one.host for one in self._strangers)
        if waiting[host] >= MOST_OF_ADDRESS:
            self._refuse(self._oldest_of(host))
        elif len(self._strangers) >= MOST_STRANGERS:
            self._refuse(self._oldest_of(waiting.most_common(1)[0][0]))
        stranger = _Stranger(connected, host, time.monotonic() + self._proof_s)
        self._strangers.append(stranger)
        self._selector.register(connected, selectors.EVENT_READ, stranger)
        try:
            connected.send(stranger.nonce)
        except OSError:
            self._refuse(stranger)

    def _oldest_of(self, host: str) -> _Stranger:
        return next(one for one in self._strangers if one.host == host)

    def _refuse(self, stranger: _Stranger) -> None:
        self._forget(stranger)
        stranger.socket.close()

    def _forget(self, stranger: _Stranger) -> None:
        self._strangers.remove(stranger)
        self._selector.unregister(stranger.socket)

    def _hear(self, stranger: _Stranger) -> None:
        try:
            said = stranger.socket.recv(NONCE_BYTES + PROOF_BYTES - len(stranger.said))
        except BlockingIOError:
            return
        except OSError:
            said = b""
        stranger.said += said
        if not said:
            self._refuse(stranger)
        elif len(stranger.said) == NONCE_BYTES + PROOF_BYTES:
            self._judge(stranger)

    def _judge(self, stranger: _Stranger) -> None:
        """Refuse a stranger, or prove the same to it and serve it from now on."""
        secret, ours = self.address.secret, stranger.nonce
        theirs, of_worker = bytes(stranger.said[:NONCE_BYTES]), stranger.said[NONCE_BYTES:]
        if not hmac.compare_digest(of_worker, proof(secret, b"worker", ours, theirs)):
            self._refuse(stranger)
            return
        self._forget(stranger)
        try:
            stranger.socket.send(proof(secret, b"server", ours, theirs))
            stranger.socket.setblocking(True)
            tune(stranger.socket)
            start_thread("kvstore-peer", self._serve, stranger.socket)
        except (OSError, RuntimeError):  # it has gone, or no thread can be started
            stranger.socket.close()

    def _serve(self, connected: socket.socket) -> None:
        with connected, suppress(OSError, MemoryError):
            while True:
                send(connected, *self._answer(*received(connected)))


@final
@dataclass(slots=True, eq=False)
class _Stranger:
    """A connection without a proof.

    Attributes:
        socket: It.
        host: The address at its other end.
        end: Until when its proof must be there, in seconds of the monotonic clock.
        nonce: The one of this side.
        said: What has come of the other side's nonce and proof.
    """

    socket: socket.socket
    host: str
    end: float
    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(NONCE_BYTES))
    said: bytearray = field(default_factory=bytearray)
