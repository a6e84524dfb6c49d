"""Operators one by one, beside PyTorch's: a table to which each family adds its entries.

An entry is a name and a function that makes, of PyTorch's module (None where it is not installed), our
call and the peer's. Ours waits for its result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

import operad as od
from tests.benchmarks.case import Case, optional_module

Call = Callable[[], Any]
Make = Callable[[Any], tuple[Call, Call | None]]
"""Called with PyTorch or None; gives our call and the peer's."""

ROWS: Final = 1_000_000
WIDTH: Final = 64
LOOKED_UP: Final = 1024


def cases() -> list[Case]:
    """Each beside PyTorch eager, in microseconds."""
    torch = optional_module("torch")
    return [_case(name, make, torch) for name, make in ENTRIES.items()]


def _case(name: str, make: Make, torch: Any) -> Case:
    """Arrays are made when the case first runs, and then are all that is kept: tables are large."""
    made: list[tuple[Call, Call | None]] = []

    def side(number: int) -> Call:
        def run() -> None:
            if not made:
                made.append(make(torch))
            call = made[0][number]
            assert call is not None
            result = call()
            if number == 0:
                result.wait_to_read()

        return run

    return Case(name, side(0), peer=None if torch is None else side(1))


def _values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _indices(below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, below, shape)


def _take(torch: Any) -> tuple[Call, Call | None]:
    table, indices = _values(ROWS, WIDTH), _indices(ROWS, LOOKED_UP)
    a, places = od.nd.array(table), od.nd.array(indices, dtype="int64")
    if torch is None:
        return lambda: od.nd.take(a, places), None
    t, p = torch.from_numpy(table), torch.from_numpy(indices)
    return lambda: od.nd.take(a, places), lambda: t.index_select(0, p)


def _embedding_gradient(rows: int, looked_up: int) -> Make:
    """The gradient is added to that of before, so that nothing grows with the table but what it needs."""

    def make(torch: Any) -> tuple[Call, Call | None]:
        indices, head = _indices(rows, looked_up), _values(looked_up, WIDTH)
        weight, places, above = (
            od.nd.zeros((rows, WIDTH)), od.nd.array(indices, dtype="int64"), od.nd.array(head),
        )  # fmt: skip
        weight.attach_grad("add")
        executor = od.sym.Embedding(
            od.sym.var("data"), od.sym.var("weight"), input_dim=rows, output_dim=WIDTH
        ).bind(
            od.cpu(), {"data": places, "weight": weight}, args_grad={"weight": weight.grad}, grad_req="add"
        )  # fmt: skip
        executor.forward(is_train=True)

        def ours() -> Any:
            executor.backward(above)
            return weight.grad

        if torch is None:
            return ours, None
        grad, p, h = torch.zeros(rows, WIDTH), torch.from_numpy(indices), torch.from_numpy(head)
        return ours, lambda: grad.index_add_(0, p, h)

    return make


def _topk(rows: int, length: int, k: int) -> Make:
    def make(torch: Any) -> tuple[Call, Call | None]:
        values = _values(rows, length)
        data = od.nd.array(values)
        t = None if torch is None else torch.from_numpy(values)

        def ours() -> od.NDArray:
            both: od.NDArray = od.nd.topk(data, k=k, ret_typ="both", dtype="int64")[0]
            return both

        return ours, None if t is None else lambda: torch.topk(t, k)

    return make


ENTRIES: Final[dict[str, Make]] = {
    "take 1,024 rows of 10^6 x 64": _take,
    "Embedding gradient, 'add', 1,024 of 10^6 x 64": _embedding_gradient(ROWS, LOOKED_UP),
    "Embedding gradient, 'add', 65,536 of 1,000 x 64": _embedding_gradient(1000, 1 << 16),
    "topk 10 of 64 x 10,000": _topk(64, 10_000, 10),
}
"""Name to calls; a family adds an entry of one line, and a function like those above."""
