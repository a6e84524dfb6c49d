from __future__ import annotations

import gc
import weakref

import pytest

from operad.context import cpu
from operad.engine import ThreadedEngine

pytestmark = pytest.mark.serial


class Held:
    """Something an operation's error refers to."""


def test_what_a_raised_error_held_is_free_without_the_collector() -> None:
    engine = ThreadedEngine(num_threads=2)
    var = engine.new_variable()
    held = Held()
    watch = weakref.ref(held)

    def fail(_: object, held: Held = held) -> None:
        raise ValueError(held)

    gc.collect()
    gc.disable()
    try:
        engine.push_sync(fail, cpu(), mutable_vars=[var])
        with pytest.raises(ValueError, match="Held"):
            engine.wait_for_var(var)
        engine.push_sync(lambda _: None, cpu(), mutable_vars=[var])
        engine.wait_for_all()
        del held, fail
        assert watch() is None
    finally:
        gc.enable()
        engine.stop()
