"""The actor that is a server: `operad.kvstore.Server` with a picture of itself in a file.

Ray starts a killed actor again. The new one reads the picture, and workers send what came after it (see
`operad.kvstore.Outbox`). So a push counts once, however often it was sent. Ray itself repeats no call: it
would know nothing of what came after the picture, nor of the order of messages.

Pushes have a thread of their own, and waits another group of threads, so that waiting never keeps out what is
waited for; each connection of a worker has a thread as well. A large answer is put into Ray's object store
once, for all workers that ask for the same rounds.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final, final

import ray

import operad as od
from operad.files import read_bytes, translated, write_atomically
from operad_kvstore_ray.envelope import CONNECTION_BYTES, RAY_BYTES, opened, sealed_answer, whole
from operad_kvstore_ray.listener import Listener
from operad_kvstore_ray.travelling import Unpacking

CALLS: Final = "calls"
WAITS: Final = "waits"
BEATS: Final = "beats"
HANDLE: Final = 0
ASK: Final = 1
"""Tags of requests on a connection: the methods of the actor."""
ANSWERED: Final = 0
RAISED: Final = 1
"""Tags of answers there. What was raised has a number, by which `ServerActor.raised` raises it."""
LONG: Final = "long"
"""In place of values that do not fit into a connection."""
_LOOK_AGAIN_S: Final = 0.1
_ANSWERS: Final = frozenset({"check_shapes", "counts", "entries", "notes", "states"})


@final
class ServerActor:
    """One server.

    Args:
        name: Of the actor.
        settings: A `StoreSettings`, as a tuple.
        is_async: Whether every push changes the value at once.
        folder: Where pictures are kept; the actor must see the same folder after a restart.
        key: Seals the code in a picture; no other process knows it.
    """

    def __init__(self, name: str, settings: tuple[Any, ...], is_async: bool, folder: str, key: bytes) -> None:
        own = ray.get_runtime_context().get_actor_id()  # no other actor's, and the same after a restart
        self._file = Path(folder) / f"{name}-{own}.picture"
        known = od.kvstore.StoreSettings(*settings)
        self._server = od.kvstore.Server(known, is_async, self._write)
        self._unpacking = Unpacking(key, may_pickle=bool(known.allow_pickle))
        self._replying = threading.Lock()
        self._replies: dict[tuple[Any, ...], tuple[tuple[int, ...], Any]] = {}
        self._last: tuple[Any, ...] = ((), (), {})
        self._raised: dict[int, Exception] = {}
        self._numbers = count()
        if self._file.exists():
            what = f"the picture {str(self._file)!r}"
            state = od.kvstore.pictures.from_bytes(read_bytes(self._file, what), what)
            with translated(what, od.kvstore.pictures.EXPECTED):
                self._server.restore(state["server"], self._unpacking.unsealed(state["code"], what))
        host: Any = ray.util.get_node_ip_address  # without annotations
        self._listener = Listener(host(), self._answer)

    @ray.method(concurrency_group=CALLS)
    def join(self, rank: int, life: str) -> Any:
        """See `Server.join`."""
        return self._server.join(rank, life)

    @ray.method(concurrency_group=CALLS)
    def handle(self, call: Any) -> Any:
        """See `Server.handle`; optimizers and updaters come packed.

        Args:
            call: Rank, number, life and message, `sealed`.
        Returns:
            The receipt, `sealed_answer`.
        """
        return whole(self._handle(call))

    @ray.method(concurrency_group=WAITS)
    def ask(self, call: Any) -> Any:
        """Answer a question; the worker's last message may come with it.

        Args:
            call: `sealed`: the rank that asks, its life, and the number of its last message; rounds, a
                barrier, and how long messages may be on their way, as `Server.wait` takes them; "values",
                "leave", or the name of a method of the server in `_ANSWERS`, and its arguments; the last
                message, or nothing.
        Returns:
            Up to which numbers the worker's messages are here, and outlast a crash; and if all are here, the
            answer. Many bytes come as a list of one reference; what is short is `sealed_answer`.
        """
        return whole(self._ask(call, self._reply))

    @ray.method(concurrency_group=BEATS)
    def address(self) -> Any:
        """Address at which this server takes the calls "handle" and "ask" from connections."""
        return self._listener.address

    @ray.method(concurrency_group=BEATS)
    def raised(self, number: int) -> None:
        """Raise the exception of a call from a connection."""
        raise self._raised.pop(number)

    @ray.method(concurrency_group=BEATS)
    def beat(self, rank: int) -> list[int]:
        """See `Server.beat`."""
        lost: list[int] = self._server.beat(rank)
        return lost

    @ray.method(concurrency_group=BEATS)
    def lose(self, rank: int, why: str) -> None:
        """See `Server.lose`."""
        self._server.lose(rank, why)

    @ray.method(concurrency_group=BEATS)
    def leave(self, rank: int) -> bool:
        """Take note as `Server.leave` does, for a worker that cannot `ask` while a call is under way."""
        return self._leave(rank)

    @ray.method(concurrency_group=BEATS)
    def process_id(self) -> int:
        """Of the actor's process."""
        return os.getpid()

    def _answer(self, tag: int, content: memoryview) -> tuple[int, list[Any]]:
        """Tag and content of the answer to a connection; see `Listener`."""
        try:
            return ANSWERED, self._ask(content, self._short_reply) if tag == ASK else self._handle(content)
        except Exception as error:  # noqa: BLE001 - raised in the worker
            number = next(self._numbers)
            self._raised[number] = error
            return RAISED, [number.to_bytes(8, "little")]

    def _handle(self, call: Any) -> Any:
        rank, number, life, (what, *values) = opened(call)
        if what in {"optimizer", "updater"}:
            values = [self._unpacking.unpacked(what, values[0])]
        return sealed_answer(*self._server.handle(rank, number, (what, *values), life))

    def _ask(self, call: Any, reply: Callable[[tuple[Any, ...]], Any]) -> Any:
        rank, life, number, (clocks, barrier, arrival_s), what, arguments, message = opened(call)
        if message and self._server.wait(rank, number - 1, {}, arrival_s=arrival_s).seen == number - 1:
            self._server.handle(rank, number, message, life)
        seen, durable = self._server.wait(
            rank, number, clocks, barrier, arrival_s=0 if message else arrival_s
        )
        if seen < number:
            return sealed_answer(seen, durable, None)
        if what == "values":
            found = reply(arguments)
            return (seen, durable, found) if isinstance(found, list) else sealed_answer(seen, durable, found)
        if what == "leave":
            return seen, durable, self._leave(rank)
        assert what in _ANSWERS, what
        return seen, durable, getattr(self._server, what)(*arguments)

    def _leave(self, rank: int) -> bool:
        is_last: bool = self._server.leave(rank)
        if is_last:
            self._file.unlink(missing_ok=True)
        return is_last

    def _reply(self, keys: tuple[Any, ...]) -> Any:
        """Values of keys: themselves, or a list of one reference.

        All workers ask when a round is complete; those that come second get what was made for the first.
        """
        with self._replying:
            known = self._replies.get(keys)
            if known is not None and known[0] == self._server.versions(keys):
                return known[1]
            versions, reply = self._server.values(keys, _replied)
            if isinstance(reply, list):
                self._replies[keys] = versions, reply
            return reply

    def _short_reply(self, keys: tuple[Any, ...]) -> Any:
        """Values of keys, or `LONG`; later callers get the same copies, as above."""
        with self._replying:
            versions = self._server.versions(keys)
            if self._last[:2] != (keys, versions):
                versions, values = self._server.values(keys, _short)
                self._last = keys, versions, values
            return self._last[2]

    def _write(self, state: dict[str, Any]) -> None:
        kept = {"server": state, "code": self._unpacking.sealed()}
        write_atomically(self._file, od.kvstore.pictures.to_bytes(kept))


def start_servers(settings: Any, store: str, is_async: bool, folder: str) -> list[Any]:
    """The servers of a store. They outlast this process; see `RayTransport.close`.

    Args:
        settings: A `StoreSettings`.
        store: A name that no other store of the job has.
        is_async: Whether every push changes the value at once.
        folder: For their pictures.
    """
    waits = 2 * settings.num_workers + 2
    # Ray's annotations know neither groups of threads nor classes that are marked by a call.
    mark: Any = ray.remote
    made = mark(concurrency_groups={CALLS: 1, WAITS: waits, BEATS: 1})(ServerActor)
    # No processor is set aside: a server works while its workers wait.
    options: dict[str, Any] = {
        "num_cpus": 0, "max_restarts": -1, "max_task_retries": 0, "lifetime": "detached",
        "namespace": settings.job, "get_if_exists": True,
    }  # fmt: skip
    key = secrets.token_bytes(32)
    return [
        made.options(name=name, **options).remote(name, tuple(settings), is_async, folder, key)
        for name in _names(settings, store)
    ]


def found_servers(settings: Any, store: str, timeout_s: float) -> list[Any]:
    """The servers of a store, once rank 0 has started them.

    Raises:
        StoreTimeoutError: One does not run within `timeout_s` seconds.
    """
    end = time.monotonic() + timeout_s
    found: list[Any] = []
    for name in _names(settings, store):
        while True:
            try:
                found.append(ray.get_actor(name, namespace=settings.job))
                break
            except ValueError:
                if time.monotonic() > end:
                    raise od.kvstore.StoreTimeoutError(
                        f"rank {settings.rank} waited {timeout_s:g} s for rank 0 to start {name!r}", [0]
                    ) from None
                time.sleep(_LOOK_AGAIN_S)
    return found


def _replied(values: dict[Any, Any]) -> Any:
    """Answer of `ServerActor.ask` with values: copies, or one reference to Ray's object store."""
    if _num_bytes(values) < RAY_BYTES:
        return {key: value.copy() for key, value in values.items()}
    return [ray.put(values)]  # which copies them


def _short(values: dict[Any, Any]) -> Any:
    """Answer to a connection with values: copies, or `LONG` for values that are too long."""
    if _num_bytes(values) > CONNECTION_BYTES:
        return LONG
    return {key: value.copy() for key, value in values.items()}


def _num_bytes(values: dict[Any, Any]) -> int:
    return sum(value.nbytes for value in values.values())


def _names(settings: Any, store: str) -> list[str]:
    return [f"operad-kv-{store}-{i}" for i in range(settings.num_servers)]
