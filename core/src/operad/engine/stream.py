"""Operations on a device that computes by itself: done when the device is, not when they are launched.

The worker of a device calls a function, which launches on the worker's stream, records an event behind
it, and goes on to the next operation that is ready; a thread of the stream waits for its events in order
and finishes the operations. So operations that are independent follow each other on the stream without a
gap, and no thread synchronises in between. An operation that depends on another is launched when that one
is done, not earlier: the dependency queue then means one thing for every reader of a variable (another
stream, a CPU operation, a wait, the memory pool), and an error of a kernel belongs to the operation
that launched it. Launching it at once, since the stream keeps the order, would save the round trip
through the two threads; operations that belong together are one block already (a partition of a graph).

The protocol is the part of CuPy that is used here: `stream.record()` gives an event, `event.synchronize()`
waits for it without the interpreter's lock and raises what went wrong on the device, and a stream and
`xp.cuda.Device(number)` are context managers.
"""

from __future__ import annotations

import time
from collections import deque
from queue import SimpleQueue
from typing import Any, final

from operad.device import Context
from operad.engine.dispatch import Dispatcher
from operad.engine.operation import CALLED, DELETE, OprBlock, RunContext
from operad.engine.thread import OPERATION, local
from operad.interrupts import start_thread


@final
class Stream:
    """The stream of one worker: launches blocks on it, and finishes them when their events say so.

    Attributes:
        launched: Blocks whose events have not come; changed by single atomic steps.

    Args:
        dispatcher: Calls the functions of blocks, and is told when they are done.
    """

    __slots__ = ("_dispatcher", "_events", "_stream", "launched")

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self.launched: deque[OprBlock] = deque()
        self._events: SimpleQueue[tuple[OprBlock, Any, BaseException | None]] = SimpleQueue()
        self._stream: Any = None  # until a device gave one

    def launch(self, block: OprBlock) -> None:
        """Call the function of `block` with the stream current; called by its one worker."""
        dispatcher = self._dispatcher
        try:
            with block.ctx.xp.cuda.Device(block.ctx.device_id), self._current(block.ctx):
                run_ctx = RunContext(block.ctx, self._stream)
                if block.opr.is_async:
                    dispatcher.start(block, run_ctx, False)
                    return
                block.state = CALLED
                error = self._call(block, run_ctx)
                event = self._stream.record()
        except Exception as refusal:  # noqa: BLE001 - a device that refuses fails the operation, not its worker
            if self._stream is None and block.opr.kind == DELETE:  # it needs none, and no wait could raise it
                dispatcher.run(block, RunContext(block.ctx), False)
            else:
                dispatcher.finish(block, refusal)
            return
        self.launched.append(block)
        self._events.put((block, event, error))

    def _call(self, block: OprBlock, run_ctx: RunContext) -> BaseException | None:
        """Call a block's function, which launches on the stream; what it raised."""
        start_s = time.perf_counter() if block.profiling else 0.0
        raised = None
        try:
            local.state.run(block.opr.fn, run_ctx)
        except BaseException as error:  # noqa: BLE001 - every error belongs to the operation; waits raise it
            raised = error
        if block.profiling:
            self._dispatcher.report(block.opr.title, block.ctx, start_s)
        return raised

    def _current(self, ctx: Context) -> Any:
        if self._stream is None:
            stream = ctx.xp.cuda.Stream(non_blocking=True)
            start_thread("operad-events", self._serve)
            self._stream = stream
        return self._stream

    def _serve(self) -> None:
        local.state.inside = OPERATION
        while True:
            block, event, raised = self._events.get()
            try:
                event.synchronize()
            except Exception as error:  # noqa: BLE001 - what a kernel did wrong is the operation's error
                raised = raised or error
            self.launched.popleft()
            self._dispatcher.finish(block, raised)
            del block, event, raised
