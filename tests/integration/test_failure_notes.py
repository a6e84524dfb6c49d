"""What an operator's failure says: which operator, of which plugin, and the user's line that asked for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import operad as od


def _inline() -> od.NDArray:
    return od.nd.linalg_potrf(od.nd.array(-np.eye(3)))  # line


def _by_a_worker() -> od.NDArray:
    return od.nd.linalg_potrf(od.nd.array(-np.eye(200)))  # line


def _recorded() -> od.NDArray:
    x = od.nd.array(-np.eye(3))
    x.attach_grad()
    with od.autograd.record():
        return od.nd.linalg_potrf(x)  # line


def _bound() -> od.NDArray:
    bound = od.sym.linalg_potrf(od.sym.var("x"), name="factor").bind(od.cpu(), [od.nd.array(-np.eye(3))])
    return bound.forward()[0]  # line


@pytest.mark.parametrize("fail", [_inline, _by_a_worker, _recorded, _bound])
def test_a_failure_names_the_operator_its_plugin_and_the_line(fail: Callable[[], od.NDArray]) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite") as caught:
        fail().asnumpy()
    assert isinstance(caught.value, od.OperadError)
    notes = "\n".join(caught.value.__notes__)
    assert "linalg_potrf" in notes
    assert "(operad-matrix " in notes
    with open(__file__) as source:
        lines = [number for number, text in enumerate(source, 1) if text.endswith("  # line\n")]
    first = fail.__code__.co_firstlineno
    assert f"{__file__}:{min(line for line in lines if line > first)})" in notes


def test_a_failure_shows_nothing_of_how_the_call_was_looked_up() -> None:
    with pytest.raises(od.OperadError) as caught:
        od.nd.linalg_potrf(od.nd.array(-np.eye(3)), lower=False).asnumpy()
    assert caught.value.__cause__ is not None
    assert caught.value.__cause__.__context__ is None
