"""Renewal of a dependency queue in a forked child: all is kept that no other thread had begun.

A fork copies one thread. Where that stands outside the engine, nothing runs when it comes (see `quiescence`).
Where it stands inside, in a step or in an operation, other threads may be running operations, which never end
in the child. Nothing is forgotten there, for counts and holders of variables must stay what they are:

* a step of the forking thread goes on where it is, and one of another thread is started over;
* a block that another thread has taken, and not called, is offered again;
* a block or claim that another thread has called, and an asynchronous block that is not completed, has
  failed: a wait for its result says that it is the parent's, and later writes clear it as they clear
  other failures;
* an operation of the forking thread itself goes on, if the child returns from it. No wait counts it.
"""

from __future__ import annotations

import os

from operad.engine.dispatch import Dispatcher
from operad.engine.failure import Failure, note_on
from operad.engine.operation import CALLED, CLAIM, RAN, TAKEN, OprBlock, claims
from operad.engine.thread import STEP, local
from operad.errors import EngineError


def in_hand(dispatcher: Dispatcher, is_own: bool) -> list[OprBlock]:
    """Blocks and claims that the calling thread is about to run or is running, or that all others are."""
    known = [claim() for claim in tuple(claims)]
    thread, retire = local.state, dispatcher.retire
    return [
        *dispatcher.runner.in_hand(is_own),
        *(
            claim
            for claim in known
            if claim is not None
            and claim.state in (TAKEN, CALLED)
            and claim.step is retire
            and (claim.thread is thread) is is_own
        ),
    ]


def renew(dispatcher: Dispatcher) -> None:
    """Go on in a forked child; called again, it does what is not done."""
    lock, pid = dispatcher.lock, os.getpid()
    if dispatcher.pid != pid:
        own = in_hand(dispatcher, is_own=True)
        dispatcher.queue.below = [(block, block.seq) for block in own if block.state == CALLED]
        for run in tuple(dispatcher.started):
            if run.block not in own:
                run.leave(lambda block: _left(dispatcher, block))
        for block in in_hand(dispatcher, is_own=False):
            if (block.state == CALLED or block.opr.kind == CLAIM) and not block.opr.is_async:
                left, retire = _left(dispatcher, block), dispatcher.retire
                # commit: begin
                block.error = left
                block.state = RAN
                block.step = retire
                lock.tail.next = lock.tail = block
                # commit: end
        dispatcher.runner.renew()
        if lock.owner is not local.state:
            lock.give_back()
        dispatcher.pid = pid
    if local.state.inside != STEP:
        lock.catch_up()


def _left(dispatcher: Dispatcher, block: OprBlock) -> Failure:
    """Failure of a block that another thread was running at a fork."""
    title, site = "a call" if block.opr.kind == CLAIM else block.opr.title, block.site
    error = EngineError(
        f"{title} was running in another thread when this process was forked, and stays the parent's; "
        "wait for its result before the fork"
    )
    note = note_on(title, site, dispatcher.runner.is_threaded)
    return Failure(error, block.seq, note, is_told=True)
