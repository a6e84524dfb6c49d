"""NumPy's error state inside operations: IEEE results and silence, wherever they run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from operad.device import cpu
from operad.engine import Engine, bulk

CTX = cpu()


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with np.errstate(all="raise"):
        yield


def divide(out: np.ndarray) -> None:
    np.divide(1.0, np.zeros(3), out=out)


def test_the_users_error_state_changes_no_result(engine: Engine) -> None:
    inline, pushed, helped, grouped = (np.ones(3) for _ in range(4))
    assert engine.run_inline(divide, (inline,), CTX, (), (engine.new_variable(),), None)
    engine.push_sync(lambda _: divide(pushed), CTX, (), (engine.new_variable(),))
    var = engine.new_variable()
    engine.push_sync(lambda _: divide(helped), CTX, (), (var,))
    engine.wait_for_var(var)
    with bulk(2):
        for _ in range(2):
            engine.push_sync(lambda _: divide(grouped), CTX, (), (var,))
    engine.wait_for_all()
    assert all(np.isposinf(each).all() for each in (inline, pushed, helped, grouped))


def test_parts_of_an_operation_have_its_error_state(engine: Engine) -> None:
    out = np.ones((6, 3))
    engine.push_sync(lambda _: engine.budget.parallel(lambda part, slot: divide(out[part]), 6, 3), CTX)
    engine.wait_for_all()
    assert np.isposinf(out).all()


def test_an_operation_leaves_the_users_error_state(engine: Engine) -> None:
    engine.run_inline(np.seterr, (), CTX, (), (), None)
    assert np.geterr()["divide"] == "raise"
    with pytest.raises(FloatingPointError):
        divide(np.ones(3))
