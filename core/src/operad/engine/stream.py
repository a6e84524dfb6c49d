"""Operations on a device that computes by itself: done when the device is, not when they are launched.

The worker of a device calls a function, which launches on the worker's stream, records an event behind
it, and goes on to the next operation that is ready; a thread of the stream waits for its events in order
and finishes the operations. So operations that are independent follow each other on the stream without a
gap, and nobody synchronises in between. An operation that depends on another is launched when that one
is done, not earlier: the dependency queue then means one thing for every reader of a variable (another
stream, a CPU operation, a wait, the memory pool), and an error of a kernel belongs to the operation
that launched it. Launching it at once, since the stream keeps the order, would save the round trip
through the two threads; operations that belong together are one block already (a partition of a graph).

The protocol is the part of CuPy that is used here: `stream.record()` gives an event, `event.synchronize()`
waits for it without the interpreter's lock and raises what went wrong on the device, and a stream and
`xp.cuda.Device(number)` are context managers.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any, final

from operad.engine.dispatch import Dispatcher
from operad.engine.failure import Failure
from operad.engine.operation import OprBlock, RunContext
from operad.engine.thread import OPERATION, local


@final
class StreamCompletions:
    """Launches blocks on streams, and finishes them when their events say so.

    Args:
        dispatcher: Calls their functions, and is told when they are done.
    """

    __slots__ = ("_dispatcher", "_launched")

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._launched: dict[int, SimpleQueue[tuple[OprBlock, Any, Failure | None]]] = {}

    def launch(self, block: OprBlock, stream: Any) -> None:
        """Call the function of `block` with `stream` current; called by the one worker of that stream."""
        run_ctx = RunContext(block.ctx, stream)
        try:
            with block.ctx.xp.cuda.Device(block.ctx.device_id), stream:
                if block.opr.is_async:
                    self._dispatcher.start(block, run_ctx)
                    return
                failure = self._dispatcher.call(block, run_ctx)
                event = stream.record()
        except Exception as error:  # noqa: BLE001 - a device that refuses fails the operation, not its worker
            self._dispatcher.finish(block, self._dispatcher.failed(block, error))
            return
        self._queue_of(stream).put((block, event, failure))

    def _queue_of(self, stream: Any) -> SimpleQueue[tuple[OprBlock, Any, Failure | None]]:
        queue = self._launched.get(id(stream))  # its worker keeps the stream alive
        if queue is None:
            queue = self._launched[id(stream)] = SimpleQueue()
            threading.Thread(target=self._serve, args=(queue,), name="operad-events", daemon=True).start()
        return queue

    def _serve(self, launched: SimpleQueue[tuple[OprBlock, Any, Failure | None]]) -> None:
        local.state.inside = OPERATION
        while True:
            block, event, failure = launched.get()
            try:
                event.synchronize()
            except Exception as error:  # noqa: BLE001 - what a kernel did wrong is the operation's error
                failure = failure or self._dispatcher.failed(block, error)
            self._dispatcher.finish(block, failure)
            del block, event, failure
