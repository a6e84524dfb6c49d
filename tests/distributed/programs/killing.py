"""How programs of several workers kill their own processes, at places and moments that a test chooses.

A word says whom, and when: `1:13` rank 1 after 13 batches, `1@20` at its 20th message to the first server,
`1~0.5` half a second after its store was made. `server` in place of a rank kills the first server, as rank 0
sees batches, messages and time. Each word kills once, as a file remembers, in all lives of a job.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, final
from unittest.mock import Mock

CALLS = ("init", "configure", "push", "pushpull", "gather", "states", "barrier")
"""Of a transport without servers, where each is an exchange of all workers."""


@final
class Kills:
    """What one worker does of the words that all are given.

    Args:
        kv: Its store.
        words: See above.
        folder: For the files that remember; all workers have the same.

    Attributes:
        num_messages: So many were sent.
    """

    num_messages = 0

    def __init__(self, kv: Any, words: Iterable[str], folder: Path) -> None:
        self._kv, self._folder = kv, folder
        self._batches, self._messages = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
        for word in words:
            whom, sign, number = re.split(r"([:@~])", word)
            if kv.rank != (0 if whom == "server" else int(whom)) or self._file(word).exists():
                continue
            if sign == "~":
                timer = threading.Timer(float(number), self._kill, [word])
                timer.daemon = True
                timer.start()
            else:
                (self._batches if sign == ":" else self._messages)[int(number)].append(word)
        watch_messages(kv, self._at_message)

    def at_batch(self, number: int) -> None:
        """So many batches of all epochs are done."""
        for word in self._batches.pop(number, ()):
            self._kill(word)

    def _at_message(self, number: int) -> None:
        self.num_messages = max(self.num_messages, number)
        for word in self._messages.pop(number, ()):
            self._kill(word)

    def _kill(self, word: str) -> None:
        process = server_process(self._kv) if word.startswith("server") else os.getpid()
        self._file(word).touch()
        print(f"killing {word}", flush=True)
        os.kill(process, signal.SIGKILL)

    def _file(self, word: str) -> Path:
        return self._folder / f"killed {word}"


def server_process(kv: Any, number: int = 0) -> int:
    """Of a server under Ray, that may be coming back."""
    (link,) = [link for link in kv._transport._links if link._number == number]
    while not isinstance(process := link._answer(link.server.process_id.remote()), int):
        pass
    return process


def watch_messages(kv: Any, see: Callable[[int], None]) -> None:
    """Call `see` with the number of each message to the first server just before it is sent, or sent again.

    Under MPI, which has no servers, the number is that of a call in which all workers take part.
    """
    transport = kv._transport
    if hasattr(transport, "_links"):
        link = transport._links[0]
        take = link._outbox.take

        def watched() -> Any:
            sent = take()
            if sent is not None:
                see(sent.number)
            return sent

        link._outbox = Mock(wraps=link._outbox, take=watched)
        return
    called = iter(range(1, 1 << 30))
    for name in CALLS:
        setattr(transport, name, _counted(getattr(transport, name), lambda: see(next(called))))


def _counted(call: Callable[..., Any], count: Callable[[], None]) -> Callable[..., Any]:
    def counted(*given: Any, **named: Any) -> Any:
        count()
        return call(*given, **named)

    return counted
