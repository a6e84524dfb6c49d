"""Checks several operators at once, each in a process that checks nothing else meanwhile.

Threads would share one engine, whose failures and settings the checks change. Processes are started
afresh rather than forked: a fork would copy an engine without its threads.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from operad import config

Found = dict[str, Any] | str
"""A report as plain data, or why there is none."""
Check = Callable[[str, str | None], Found]


def checked(
    names: Sequence[str], profile: str | None, jobs: int, check: Check
) -> Iterator[tuple[str, Found]]:
    """What `check` finds of each operator, in the order in which that is known.

    Args:
        names: Of the operators.
        profile: How much to try.
        jobs: How many processes at once; with 1 everything runs in this one.
        check: A function at the top of a module, called with a name and the profile.
    """
    if jobs == 1 or len(names) < 2:
        for name in names:
            yield name, check(name, profile)
        return
    threads = max(1, config.settings().num_threads // jobs)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(names)), context, _begin, (threads,)) as pool:
        waiting = {pool.submit(check, name, profile): name for name in names}
        for done in as_completed(waiting):
            yield waiting[done], _result(done)


def _result(done: Future[Found]) -> Found:
    try:
        return done.result()
    except BrokenProcessPool:
        return "the process that checked it, or one beside it, died; check it alone with --jobs 1"


def _begin(threads: int) -> None:
    # The processes share the cores that one would have.
    os.environ["OPERAD_NUM_THREADS"] = str(threads)
    config.reload()
