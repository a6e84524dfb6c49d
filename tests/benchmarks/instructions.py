"""The constants of the cost rule beside measurements: each instruction of forms by NumPy and as a kernel.

    python -m tests.benchmarks.instructions [--elements N]

Every instruction that has a function of NumPy runs as that function, with a target, and as a kernel of one
instruction, alternately, on one thread and the same arrays, 64-byte aligned; conditions are random. So do
copies, fills, short rows, and what NumPy has one function for and forms several instructions. Times are the
least of many rounds. A row shows both times in microseconds, and what `operad_sdk.vector.cost_rule` estimates
for them. It is marked where the rule would take a kernel that is more than 1.1 times slower, or leave one
that takes less than 0.8 of the time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from operad.operator import ScalarForm
from operad_sdk.differentiate import FORM, Node, Traced, form_of
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES
from operad_sdk.vector import NoVectorCodeError, compiled
from operad_sdk.vector.array_calls import array_call
from operad_sdk.vector.cost_rule import Estimates, estimates

SINGLE: Final = np.dtype(np.float32)
_ROUNDS, _ROUND_S = 25, 2e-4
_SLOWER, _FASTER = 1.1, 0.8
_ABOVE_ONE: Final = frozenset(("acosh",))
_OTHERS: Final = (
    np.radians, np.reciprocal, np.square, np.fmax, np.fmin, np.heaviside, np.logaddexp, np.fabs, np.positive,
)  # fmt: skip
"""Functions that are other instructions, or several."""


class Case(NamedTuple):
    """A form, NumPy's way, and the arrays of both, the last of which is the result."""

    name: str
    form: ScalarForm
    own: Callable[[], object]
    arrays: Sequence[Any]


def cases(shape: tuple[int, int]) -> Iterator[Case]:
    """All that is measured."""
    rng = np.random.default_rng(0)

    def drawn(kind: str = "real", like: tuple[int, ...] = shape, least: float = 0.25) -> Any:
        if kind == "bool":
            return aligned(rng.random(like) > 0.5)
        return aligned((rng.random(like) * 0.5 + least).astype(SINGLE))

    for name, one in PRIMITIVES.items():
        if not isinstance(one.evaluate, np.ufunc) and name != "select":
            continue
        kinds = ["bool", "real", "real"] if name == "select" else [one.takes] * one.arity
        given = [drawn(kind, least=1.25 if name in _ABOVE_ONE else 0.25) for kind in kinds]
        out = aligned(np.empty(shape, bool if one.gives == "bool" else SINGLE))
        builder = Builder(name, [f"x{i}" for i in range(one.arity)], kinds)
        form = builder.finish(builder.apply(name, *range(one.arity)))
        own = partial(np.where, *given) if name == "select" else partial(one.evaluate, *given, out)
        yield Case(name, form, own, [*given, out])
        if one.arity == 2 and one.takes == "real":
            builder = Builder(name, ["x"])
            form = builder.finish(builder.apply(name, 0, builder.constant(2.7)))
            yield Case(
                f"{name} with 2.7",
                form,
                partial(one.evaluate, given[0], SINGLE.type(2.7), out),
                [given[0], out],
            )
            builder = Builder(name, ["x"])
            form = builder.finish(builder.apply(name, builder.constant(2.7), 0))
            yield Case(
                f"{name} of 2.7",
                form,
                partial(one.evaluate, SINGLE.type(2.7), given[0], out),
                [given[0], out],
            )
    for ufunc in _OTHERS:
        given = [drawn() for _ in range(ufunc.nin)]
        out = drawn()
        yield Case(f"np.{ufunc.__name__}", traced(ufunc, given), partial(ufunc, *given, out), [*given, out])
    x, out, column, row = drawn(), drawn(), drawn(like=(shape[0], 1)), drawn(like=shape[1:])
    truth = drawn("bool")
    for name, source in (
        ("copy", x),
        ("copy of rows", row),
        ("copy of a column", column),
        ("cast of truth", truth),
    ):
        form = traced(lambda a: np.broadcast_to(a, shape).astype(SINGLE), [source])
        yield Case(name, form, partial(np.copyto, out, source), [source, out])
    fill = Builder("fill", ["x"])
    yield Case("fill", fill.finish(fill.constant(2.7)), partial(np.copyto, out, SINGLE.type(2.7)), [x, out])
    for name, reduce in (("sum", np.sum), ("max", np.max), ("min", np.min)):
        for axis in (0, 1):
            total = drawn(like=(shape[1 - axis],))
            form = traced(lambda a, reduce=reduce, axis=axis: reduce(a, axis=axis), [x])
            yield Case(f"{name} along {axis}", form, partial(reduce, x, axis=axis, out=total), [x, total])
    yield from cases_of_rows(shape[0] * shape[1], drawn)


def cases_of_rows(elements: int, drawn: Callable[..., Any]) -> Iterator[Case]:
    """Short rows, each of which ends a loop of NumPy's."""
    for width in (4, 32):
        x, out = (drawn(like=(elements // width, width)) for _ in range(2))
        column, total = drawn(like=(elements // width, 1)), drawn(like=(elements // width,))
        for name, reduce in (("sum", np.sum), ("max", np.max)):
            form = traced(lambda a, reduce=reduce: reduce(a, axis=1), [x])
            yield Case(f"{name} of {width}", form, partial(reduce, x, axis=1, out=total), [x, total])
        form = traced(np.add, [x, column])
        yield Case(f"add to {width}", form, partial(np.add, x, column, out), [x, column, out])


def traced(function: Callable[..., Any], given: Sequence[Any]) -> ScalarForm:
    """The form of a function of arrays."""
    nodes = [Node(FORM, array, is_input=True) for array in given]
    made = function(*map(Traced, nodes))
    inputs = [(f"x{i}", Traced(node)) for i, node in enumerate(nodes)]
    return form_of("f", inputs, [("y", made)])[0]


def aligned(array: Any) -> Any:
    """A copy that begins where a piece of 64 bytes does."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    first = -memory.ctypes.data % 64
    found = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def least_us(runs: Sequence[Callable[[], object]]) -> list[float]:
    """The least time of each."""
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(_ROUNDS):
        for run, times in zip(runs, found, strict=True):
            count, begin = 0, perf_counter()
            while (spent := perf_counter() - begin) < _ROUND_S or not count:
                run()
                count += 1
            times.append(spent / count * 1e6)
    return [min(times) for times in found]


class Measured(NamedTuple):
    """Microseconds of both ways, and the estimates of them."""

    name: str
    numpy_us: float
    vector_us: float
    numpy_guess: float
    vector_guess: float

    @property
    def is_off(self) -> bool:
        """Return whether the rule takes the slower way."""
        ratio = self.vector_us / self.numpy_us
        is_taken = Estimates(self.numpy_guess, self.vector_guess).favour_vectors
        return ratio > _SLOWER if is_taken else ratio < _FASTER


def measured(case: Case) -> Measured | None:
    """Times of a case; None where it has no kernel."""
    try:
        form = compiled(case.form, SINGLE)
        call = array_call(form.layout(case.arrays), len(case.arrays) - 1)
    except NoVectorCodeError:
        return None
    if call is None:
        return None
    with np.errstate(all="ignore"):
        numpy_us, vector_us = least_us([case.own, partial(call, *case.arrays)])
    guess = estimates(form, [(array.shape, array.dtype) for array in case.arrays], copied=False)
    return Measured(case.name, numpy_us, vector_us, *guess)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--elements", type=int, default=1 << 16)
    columns = 512
    shape = (max(1, options.parse_args().elements // columns), columns)
    print(f"{'':20}{'NumPy':>10}{'estimate':>10}{'kernel':>10}{'estimate':>10}")
    for case in cases(shape):
        found = measured(case)
        if found is not None:
            _, numpy_us, vector_us, *guesses = found
            times = f"{numpy_us:10.2f}{guesses[0]:10.2f}{vector_us:10.2f}{guesses[1]:10.2f}"
            print(f"{found.name:20}{times}{' *' if found.is_off else ''}")


if __name__ == "__main__":
    main()
