from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from operad import nd
from operad.device import cpu
from operad.engine import ThreadedEngine

pytestmark = pytest.mark.serial


class Held:
    """Something an operation's error refers to."""


@pytest.fixture
def uncollected() -> Iterator[None]:
    """The garbage collector does not run."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected", "operators")
def test_an_array_that_was_read_in_vain_is_free_without_the_collector(each_engine: str) -> None:
    variables = []

    def read_in_vain() -> None:
        large = nd.array(np.ones((300, 300)))
        for source in (nd.array([1.0]), large):
            y = nd.explode(source)
            z = y + 1
            for _ in range(3):
                with pytest.raises(ZeroDivisionError):
                    z.asnumpy()
            variables.extend(weakref.ref(x._chunk.var) for x in (y, z))

    read_in_vain()
    nd.empty(1)  # buries what has died
    nd.waitall()
    assert [variable() for variable in variables] == [None] * 4


@pytest.mark.usefixtures("uncollected")
def test_what_the_frames_of_a_failed_function_held_is_free_once_it_was_raised() -> None:
    engine = ThreadedEngine(num_threads=2)
    var = engine.new_variable()
    watch: list[weakref.ref[Held]] = []

    def fail(_: object) -> None:
        held = Held()
        watch.append(weakref.ref(held))
        raise ValueError("boom")

    engine.push_sync(fail, cpu(), mutable_vars=[var])
    for _ in range(3):
        with pytest.raises(ValueError, match="boom"):
            engine.wait_for_var(var)
    engine.push_sync(lambda _: None, cpu())  # the worker's own frames go on to another operation
    engine.wait_for_all()
    assert watch[0]() is None
    engine.stop()


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
