"""Threads of a test that run one function at once."""

from __future__ import annotations

import threading


def run_together(work, arguments):
    """Call `work` with each of the arguments, in a thread each, and wait for all."""
    threads = [threading.Thread(target=work, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
