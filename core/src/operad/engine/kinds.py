"""The two kinds of engine."""

from __future__ import annotations

from typing import final

from operad.engine.engine import Engine
from operad.engine.naive import NaiveRunner
from operad.engine.threaded import ThreadedRunner


@final
class ThreadedEngine(Engine):
    """Runs operations on worker threads, in parallel where their variables allow it.

    Args:
        num_threads: Size of the thread budget, and of the pool of CPU workers; default: the setting.
    """

    runner_class = ThreadedRunner


@final
class NaiveEngine(Engine):
    """Runs operations at push, in the pushing thread.

    Args:
        num_threads: Size of the thread budget; default: the setting.
    """

    runner_class = NaiveRunner
