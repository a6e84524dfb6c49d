"""Small calls that are watched, and arrays that are held."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np

import operad as od
from operad import engine

X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


def calls_of(function):
    """Names of the Python functions that a call runs, its own excluded."""
    names = []
    gc.disable()  # a collection calls its callbacks, and what dies
    sys.setprofile(lambda frame, event, _: event == "call" and names.append(frame.f_code.co_name))
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return names[1:]


class Gate:
    """An operation that holds arrays, as a reader or as a writer, until it is opened."""

    def __init__(self, array, writes):
        self._event = threading.Event()
        var = (array._chunk.var,)
        const, mutable = ((), var) if writes else (var, ())
        engine.get().push_async(self._run, od.cpu(), const, mutable, name="gate", reads_mutable=True)

    def _run(self, _, on_complete):
        self._complete = on_complete
        self._event.set()

    def open(self):
        assert self._event.wait(60)
        self._complete()
