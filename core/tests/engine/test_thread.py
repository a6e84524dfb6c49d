"""Events that threads wait for."""

from __future__ import annotations

import pytest

from operad.engine.thread import new_event, wait_for


def test_an_event_without_memory_is_a_memory_error() -> None:
    """Python itself calls it a RuntimeError, which nothing that frees memory and tries again looks for."""
    hooks = pytest.importorskip("_testcapi", reason="this Python cannot make allocations fail")
    failed = 0
    for number in range(9):
        hooks.set_nomemory(number, number + 1)
        try:
            new_event()
        except MemoryError:
            failed += 1
        finally:
            hooks.remove_mem_hooks()
    assert failed


def test_a_limited_wait_says_whether_its_event_came() -> None:
    event = new_event()
    assert not wait_for(event, 0.001)
    event.release()
    assert wait_for(event, 0.001)
