"""Predicted beside measured: estimates of operators, by the shipped constants and by `operad tune`.

    python -m tests.benchmarks.costs

Each of twenty operators runs at three sizes, on one thread; times are this process's own, the least of many
rounds before and after `operad tune`, which runs into a folder of its own, for the operators shown, with
shapes that it makes up. An operator counts as right where all its sizes are within a factor of two.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from operad import config, registry
from operad.context import cpu
from operad.operator import FORWARD, KernelCall, Shape, choose, forget_rates
from operad_check.commands.bench.contestants import SampleCall
from operad_check.commands.tune.command import tuned
from operad_check.commands.tune.constants import least_us

SINGLE: Final = np.dtype(np.float32)


class Case(NamedTuple):
    """An operator with its parameters and a small, a middle and a large call."""

    name: str
    params: dict[str, Any]
    sizes: Sequence[Sequence[Shape]]


def squares(*lengths: int, count: int = 1) -> list[list[Shape]]:
    """As many square arrays for each length."""
    return [[(n, n)] * count for n in lengths]


ELEMENTS: Final = (16, 250, 1500)
CASES: Final = [
    Case("elemwise_add", {}, squares(*ELEMENTS, count=2)),
    Case("broadcast_mul", {}, [[(n, n), (1, n)] for n in ELEMENTS]),
    Case("_plus_scalar", {"scalar": 1.5}, squares(*ELEMENTS)),
    Case("_power_scalar", {"scalar": 2.5}, squares(*ELEMENTS)),
    Case("tanh", {}, squares(*ELEMENTS)),
    Case("exp", {}, squares(*ELEMENTS)),
    Case("sin", {}, squares(*ELEMENTS)),
    Case("sigmoid", {}, squares(*ELEMENTS)),
    Case("relu", {}, squares(*ELEMENTS)),
    Case("smooth_l1", {"scalar": 1.0}, squares(*ELEMENTS)),
    Case("softmax", {}, squares(*ELEMENTS)),
    Case("LayerNorm", {}, [[(n, n), (n,), (n,)] for n in ELEMENTS]),
    Case("sum", {"axis": (1,)}, squares(*ELEMENTS)),
    Case("transpose", {}, squares(*ELEMENTS)),
    Case("Concat", {"num_args": 2}, squares(*ELEMENTS, count=2)),
    Case("take", {}, [[(1000, 64), (n,)] for n in (16, 1024, 32768)]),
    Case("dot", {}, squares(16, 128, 768, count=2)),
    Case("FullyConnected", {"num_hidden": 256}, [[(n, 256), (256, 256), (256,)] for n in (1, 64, 2048)]),
    Case("sgd_mom_update", {"lr": 0.1, "momentum": 0.9}, squares(*ELEMENTS, count=2)),
    Case("adam_update", {"lr": 0.1}, squares(*ELEMENTS, count=2)),
]


def predicted_us(case: Case, shapes: Sequence[Shape]) -> float:
    """The estimate that binding would make."""
    prop = registry.get(case.name)(**case.params)
    types = [SINGLE] * len(prop.list_arguments())
    return choose(KernelCall(prop, cpu(), list(shapes), types)).cost((FORWARD,)).us


def measured_us(case: Case, shapes: Sequence[Shape]) -> float:
    """The chosen kernel on made-up arrays."""
    call = SampleCall(registry.get(case.name)(**case.params), shapes, SINGLE)
    return least_us(call.kernels()[0].run)


def within(predicted: float, measured: float) -> bool:
    """Return whether a prediction is right within a factor of two."""
    return 0.5 <= predicted / measured <= 2


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1), np.errstate(all="ignore"):
        os.environ["OPERAD_CACHE_DIR"] = folder
        config.reload()
        forget_rates()
        calls = [(case, shapes) for case in CASES for shapes in case.sizes]
        shipped = [predicted_us(*call) for call in calls]
        before = [measured_us(*call) for call in calls]
        tuned([(case.name, case.params, ()) for case in CASES])
        after = [predicted_us(*call) for call in calls]
        measured = [min(us, measured_us(*call)) for us, call in zip(before, calls, strict=True)]
    right = {"shipped": dict.fromkeys((case.name for case in CASES), True)}
    right["tuned"] = dict(right["shipped"])
    print(f"{'operator':16}{'first argument':>16}{'measured us':>13}{'shipped':>17}{'tuned':>17}")
    for (case, shapes), us, first, second in zip(calls, measured, shipped, after, strict=True):
        row = f"{case.name:16}{'x'.join(map(str, shapes[0])):>16}{us:13.1f}"
        for kind, guess in (("shipped", first), ("tuned", second)):
            right[kind][case.name] &= within(guess, us)
            row += f"{guess:10.1f} {guess / us:5.2f}{' ' if within(guess, us) else '*'}"
        print(row)
    for kind, operators in right.items():
        print(f"{kind}: {sum(operators.values())} of {len(operators)} operators within a factor of two")


if __name__ == "__main__":
    main()
