"""Parts of all operators with and without the kernels that follow from their own functions.

    python -m tests.benchmarks.automatic [--threads N] [--json FILE] [NAME ...]
    python -m tests.benchmarks.automatic --from FILE ... [--page STATE]

Each function of an operator, `forward` or a gradient, runs at three sizes as its author wrote it and, where
it has forms in vector code, by its kernel, alternately. Times are the least of many rounds, as other programs
may run meanwhile, of calls on plain arrays without the engine. Memory is limited: what needs more is named,
and left out. The first table counts parts that have a
kernel, and the reasons of the others; other tables show what the cost rule took, by how much it gained, and
what it took or left wrongly.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple

import numpy as np

from operad import registry
from operad.cli.samples import sample_property, sample_shapes
from operad.context import cpu
from operad.errors import OperadError
from operad.operator import FORWARD, BackwardArrays, ForwardArrays, Kernel, OperatorProperty
from operad_check.commands.bench.contestants import SampleCall
from operad_sdk import KernelCall, OpContext, Operator, OpReq, Shape
from tests.benchmarks.automatic_page import MOST_BYTES, Row, merged, show, write_page
from tests.benchmarks.instructions import aligned

SIZES: Final = (1 << 12, 1 << 16, 1 << 20)
SINGLE: Final = np.dtype(np.float32)
ROUNDS: Final = 25
_ROUND_S: Final = 5e-4
_MOST_S: Final = 1.0
"""Seconds of a single call from which a part is left out."""
_MOST_ELEMENTS: Final = 1 << 26
"""Elements of an array from which a size is left out: all pairs of rows of a large array, for instance."""
_Call = Callable[[], object]


def rows_of(name: str, num_threads: int) -> Iterator[Row]:
    """The functions of an operator at each size."""
    try:
        prop = sample_property(registry.get(name), {})
        calls = list(_calls(prop))
    except OperadError:
        return
    for shapes in calls:
        try:
            call = SampleCall(prop, shapes, SINGLE)
        except OperadError:
            continue
        own = type(prop).kernels[:1]
        given = [a.shape for a in call.inputs], [a.dtype for a in call.inputs]
        asked = KernelCall(prop, cpu(), *given, threads=num_threads)
        size = max(map(prod, [*asked.in_shapes, *asked.out_shapes]))
        if size > _MOST_ELEMENTS:
            continue
        for kernel in prop.derived_kernels():
            assert kernel.when is not None
            assert kernel.parts is not None
            verdicts = [when(asked) for when in (kernel.when, kernel.when.regardless_of_size)]  # type: ignore[union-attr]
            reasons = ["" if one is True else str(one) for one in verdicts]
            row = Row(name, tuple(kernel.parts(prop)), list(shapes), size, reasons[0], not reasons[1])
            yield row if reasons[1] else _timed(row, call, own[0], kernel, num_threads)


def _calls(prop: OperatorProperty) -> Iterator[list[Shape]]:
    """Shapes of the arguments at each size: those of a sample, its axes made longer."""
    first = sample_shapes(prop)
    if not first:
        return
    known = []
    for size in SIZES:
        factor = (size / max(1, prod(first[0]))) ** (1 / max(1, len(first[0])))
        lead = tuple(n if n == 1 else max(n, round(n * factor)) for n in first[0])
        with suppress(OperadError):
            shapes = sample_shapes(prop, [lead])
            if shapes is not None and shapes not in known:
                known.append(shapes)
                yield shapes


class _Context(NamedTuple):
    """An operation's context outside the engine, with the threads of its budget."""

    inner: OpContext
    num_threads: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _timed(row: Row, call: SampleCall, own: Kernel, kernel: Kernel, num_threads: int) -> Row:
    prop = call.prop
    given = (prop, cpu(), [a.shape for a in call.inputs], [a.dtype for a in call.inputs])
    with np.errstate(all="ignore"):
        try:
            begin = perf_counter()
            made = kernel.factory(*given)
            compiled_s = perf_counter() - begin
            runs = _runs(row, call, [own.factory(*given), made], num_threads)
            begin = perf_counter()
            for run in runs:
                run()
            if perf_counter() - begin > _MOST_S:
                return row
            own_us, vector_us = _least(runs, thread_time if num_threads == 1 else perf_counter)
        except Exception as error:  # noqa: BLE001 - made-up arrays may be refused
            print(f"{row.operator} {row.parts}: {type(error).__name__}: {error}", file=sys.stderr)
            return row
    return row._replace(own_us=own_us, vector_us=vector_us, compiled_s=compiled_s)


def _runs(row: Row, call: SampleCall, operators: Sequence[Operator], num_threads: int) -> list[_Call]:
    """A call of each operator, all with the same arrays, as where an array lies changes times by half."""
    prop, inputs = call.prop, [aligned(array) for array in call.inputs]
    out, states = [aligned(array) for array in call._empty_outputs()], [aligned(a) for a in call.aux]
    if row.parts == (FORWARD,):
        context: Any = _Context(call._context(prop.forward_resource(call._shapes)), num_threads)
        forward = ForwardArrays(inputs, [OpReq.WRITE] * len(out), out, states)
        return [operator.prepare_forward(context, forward) for operator in operators]
    first = prop.create_operator(cpu(), call._shapes, [array.dtype for array in inputs])
    call._prepared(first, out)()
    context = _Context(call._context(prop.backward_resource(call._shapes)), num_threads)
    wanted = [f"{name}_grad" in row.parts for name in prop.list_arguments()]
    heads = [aligned(np.ones_like(array)) for array in out[: prop.num_visible_outputs]]
    req = [OpReq.WRITE if want else OpReq.NULL for want in wanted]
    targets = [aligned(array) if want else None for array, want in zip(inputs, wanted, strict=True)]
    backward = BackwardArrays(heads, inputs, out, req, targets, states)
    return [operator.prepare_backward(context, backward) for operator in operators]


def _least(runs: Sequence[_Call], clock: Callable[[], float]) -> list[float]:
    counts = []
    for run in runs:
        begin = clock()
        run()
        counts.append(max(1, min(200, round(_ROUND_S / max(1e-7, clock() - begin)))))
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, count, times in zip(runs, counts, found, strict=True):
            begin = clock()
            for _ in range(count):
                run()
            times.append((clock() - begin) / count * 1e6)
    return [min(times) for times in found]


def main() -> None:
    """Measure and print; or print what files hold, by medians of ratios, or write the page of it."""
    options = argparse.ArgumentParser()
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--json")
    options.add_argument("--from", dest="files", nargs="*", default=[])
    options.add_argument("--page", metavar="STATE", help="write the page of --from; what else ran meanwhile")
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    if given.files:
        runs: dict[int, list[list[Row]]] = {}
        for file in given.files:
            threads, rows = _read(file)
            runs.setdefault(threads, []).append(rows)
        if given.page:
            write_page(runs, given.page)
            return
        for threads, each in sorted(runs.items()):
            print(f"{threads} threads\n")
            show(merged(each))
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    rows = []
    for name in given.names or registry.list_operators(aliases=False):
        rows += rows_of(name, given.threads)
    if given.json:
        Path(given.json).write_text(json.dumps([given.threads, rows]), encoding="utf-8")
    show(rows)


def _read(file: str) -> tuple[int, list[Row]]:
    threads, rows = json.loads(Path(file).read_text(encoding="utf-8"))
    return threads, [Row(name, tuple(parts), *rest) for name, parts, *rest in rows]


if __name__ == "__main__":
    main()
