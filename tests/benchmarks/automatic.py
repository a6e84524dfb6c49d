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
import os
import platform
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from importlib.metadata import version
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
from operad_sdk.form_kernels import ELEMENTS_FROM_SIZE

SIZES: Final = (1 << 12, 1 << 16, 1 << 20)
SINGLE: Final = np.dtype(np.float32)
ROUNDS: Final = 25
_ROUND_S: Final = 5e-4
_SLOWER, _FASTER = 1.1, 0.8
"""Ratios of times from which a kernel was taken wrongly, and below which one was left wrongly."""
_MOST_REASONS: Final = 40
_MOST_S: Final = 1.0
"""Seconds of a single call from which a part is left out."""
_MOST_ELEMENTS: Final = 1 << 26
"""Elements of an array from which a size is left out: all pairs of rows of a large array, for instance."""
_MOST_BYTES: Final = 16 << 30
"""Memory of the process, as addresses: a function may make arrays that nobody asked it for."""
_MOST_LEFT: Final = 15
PAGE: Final = Path("docs/measurements/automatic-kernels.md")
_KEPT_FROM: Final = "## Functions with run-time parameters"
"""Heading from which the page stays as it is."""
_HEAD: Final = f"""\
# Kernels without a word

Each function of every operator, by made-up parameters, in float32, at some 4,000, 65,000 and a million
elements of the first argument: as its author wrote it, and by the kernel or
[program](../decisions/0052-functions-that-are-programs.md) that follows from it, alternately, on the same
plain arrays. Times are the least of 25 rounds, in microseconds: of one thread its processor's. What needs
more than {_MOST_BYTES >> 30} GiB is left out. To measure again, on a machine that does nothing else:

    export OPERAD_POOL_LIMIT_BYTES=0
    for n in 1 2; do for i in 1 2 3; do
        python -m tests.benchmarks.automatic --threads $n --json build/automatic-$n-$i.json
    done; done
    python -m tests.benchmarks.automatic --from build/automatic-*.json --page "quiet"
"""


_Call = Callable[[], object]


class Row(NamedTuple):
    """One function of an operator at one size.

    Attributes:
        operator: Its name.
        parts: What the function computes.
        shapes: Of the arguments.
        size: Elements of the largest array.
        reason: Why its kernel is not taken, or "".
        has_kernel: Whether there is one, for any size.
        own_us: Microseconds as the author wrote it; None: it was not run.
        vector_us: By its kernel, taken or not.
        compiled_s: What making the kernel took.
    """

    operator: str
    parts: tuple[str, ...]
    shapes: list[Shape]
    size: int
    reason: str
    has_kernel: bool
    own_us: float | None = None
    vector_us: float | None = None
    compiled_s: float = 0.0

    @property
    def is_taken(self) -> bool:
        """Return whether the kernel computes the part."""
        return not self.reason

    @property
    def ratio(self) -> float:
        """Time by the kernel over that of the author's function."""
        assert self.own_us is not None
        assert self.vector_us is not None
        return self.vector_us / self.own_us


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
    prop, inputs = call.prop, [_aligned(array) for array in call.inputs]
    out, states = [_aligned(array) for array in call._empty_outputs()], [_aligned(a) for a in call.aux]
    if row.parts == (FORWARD,):
        context: Any = _Context(call._context(prop.forward_resource(call._shapes)), num_threads)
        forward = ForwardArrays(inputs, [OpReq.WRITE] * len(out), out, states)
        return [operator.prepare_forward(context, forward) for operator in operators]
    first = prop.create_operator(cpu(), call._shapes, [array.dtype for array in inputs])
    call._prepared(first, out)()
    context = _Context(call._context(prop.backward_resource(call._shapes)), num_threads)
    wanted = [f"{name}_grad" in row.parts for name in prop.list_arguments()]
    heads = [_aligned(np.ones_like(array)) for array in out[: prop.num_visible_outputs]]
    req = [OpReq.WRITE if want else OpReq.NULL for want in wanted]
    targets = [_aligned(array) if want else None for array, want in zip(inputs, wanted, strict=True)]
    backward = BackwardArrays(heads, inputs, out, req, targets, states)
    return [operator.prepare_backward(context, backward) for operator in operators]


def _aligned(array: Any) -> Any:
    """A copy that begins where a piece of 64 bytes does, as arrays of the system do."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    first = -memory.ctypes.data % 64
    found = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


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


class Summary(NamedTuple):
    """Rows, sorted by their ratios.

    Attributes:
        parts: For each part whether it has a kernel.
        taken: Those of which one is taken at some size.
        reasons: Against kernels, with the number of functions.
        timed: Rows with times.
        chosen: Of these, those that the rule takes.
        slower: Those taken wrongly.
        faster: Those left wrongly, of sizes for which functions of elements are compiled.
    """

    parts: dict[tuple[str, str], bool]
    taken: set[tuple[str, str]]
    reasons: Counter[str]
    timed: list[Row]
    chosen: list[Row]
    slower: list[Row]
    faster: list[Row]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        """The summary of a run."""
        parts: dict[tuple[str, str], bool] = {}
        for row in rows:
            parts |= {
                (row.operator, p): parts.get((row.operator, p), False) or row.has_kernel for p in row.parts
            }
        without = [row for row in rows if not any(parts[row.operator, p] for p in row.parts)]
        functions = {(row.operator, row.parts): row for row in without}
        timed = sorted((row for row in rows if row.own_us is not None), key=lambda row: row.ratio)
        chosen = [row for row in timed if row.is_taken]
        left = [row for row in timed if not row.is_taken and row.size >= ELEMENTS_FROM_SIZE]
        return cls(
            parts,
            {(row.operator, part) for row in rows if row.is_taken for part in row.parts},
            Counter(row.reason.split(", at ")[0] for row in functions.values()),
            timed,
            chosen,
            [row for row in chosen if row.ratio > _SLOWER],
            [row for row in left if row.ratio < _FASTER],
        )


def show(rows: Sequence[Row]) -> None:
    """Print what was found."""
    parts, taken, reasons, timed, chosen, slower, faster = Summary.of(rows)
    print(f"{len(parts)} parts, {sum(parts.values())} with vector code, {len(taken)} taken at some size")
    for reason, count in reasons.most_common(_MOST_REASONS):
        print(f"{count:5} {reason}")
    print(
        f"\n{len(timed)} timed, {len(chosen)} taken, {len(slower)} of them more than {_SLOWER} times slower"
    )
    print(f"compiled in {sum(row.compiled_s for row in timed):.1f} s")
    for title, found in (
        ("gain most", chosen[:30]),
        ("taken and slower", slower),
        ("left and faster", faster),
    ):
        print(f"\n{title}")
        for row in found:
            call = f"{row.operator:34}{' '.join(row.parts):28}{row.shapes[0]!s:>20}"
            print(f"{call}{row.own_us:10.1f}{row.vector_us:10.1f}{row.ratio:7.2f}  {row.reason[:80]}")


def page_of(runs: dict[int, list[list[Row]]], state: str) -> Iterator[str]:
    """The measured part of the page.

    Args:
        runs: By number of threads.
        state: Of the machine.
    """
    found = {threads: Summary.of(_merged(each)) for threads, each in sorted(runs.items())}
    first = next(iter(found.values()))
    count = min(map(len, runs.values()))
    yield (
        f"{date.today():%-d %B %Y}, {platform.machine()} with {os.cpu_count()} processors, "
        f"NumPy {np.__version__}, llvmlite {version('llvmlite')}, {state}; "
        f"{'one run' if count == 1 else f'the medians of ratios of {count} runs'} for each number of threads."
    )
    yield "\n## Parts with a kernel\n\n| | parts |\n|---|---|"
    yield f"| all parts of {len({operator for operator, _ in first.parts})} operators | {len(first.parts)} |"
    yield f"| with a kernel of a form or a program | {sum(first.parts.values())} |"
    yield f"| of these, taken by the cost rule at one of the three sizes | {len(first.taken)} |"
    yield "\nReasons of functions without one, those of three functions and more:\n"
    yield "| reason | functions |\n|---|---|"
    yield from (f"| {reason} | {n} |" for reason, n in first.reasons.most_common() if n > 2)
    yield "\n## Gains\n"
    yield f"{len(first.timed):,} functions and sizes were timed on one thread, {len(first.chosen)} of them"
    yield "taken. The twenty that gain most:"
    yield from _table(first.chosen[:20])
    for threads, (*_, chosen, slower, faster) in found.items():
        numbers = [len(few) or "none" for few in (slower, faster)]
        yield f"\n## Losses on {threads} thread{'s' * (threads > 1)}\n"
        yield f"Of {len(chosen)} taken, more than {_SLOWER} times slower: {numbers[0]}."
        yield from _table(slower)
        yield f"\nLeft though they would take less than {_FASTER} of the time, of {ELEMENTS_FROM_SIZE:,}"
        yield f"elements and more: {numbers[1]}{', of which these gain most' * (len(faster) > _MOST_LEFT)}."
        yield from _table(faster[:_MOST_LEFT], has_reasons=True)
    compiled_s = sum(row.compiled_s for row in first.timed)
    yield f"\nKernels of all were made in {compiled_s:.1f} s, of which another process had compiled some.\n"


def _table(rows: Sequence[Row], *, has_reasons: bool = False) -> Iterator[str]:
    if rows:
        yield f"\n| function | shape | NumPy | kernel | ratio |{' reason against it |' * has_reasons}"
        yield "|---" * (5 + has_reasons) + "|"
    for row in rows:
        what = f"{row.operator}, {' '.join(row.parts)} | {tuple(row.shapes[0])}"
        reason = f" {row.reason[:90]} |" * has_reasons
        yield f"| {what} | {row.own_us:.1f} | {row.vector_us:.1f} | {row.ratio:.2f} |{reason}"


def _write_page(runs: dict[int, list[list[Row]]], state: str) -> None:
    before = PAGE.read_text(encoding="utf-8")
    made = "\n".join([_HEAD, *page_of(runs, state), before[before.index(_KEPT_FROM) :]])
    PAGE.write_text(made, encoding="utf-8")


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
            _write_page(runs, given.page)
            return
        for threads, each in sorted(runs.items()):
            print(f"{threads} threads\n")
            show(_merged(each))
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    rows = []
    for name in given.names or registry.list_operators(aliases=False):
        rows += rows_of(name, given.threads)
    if given.json:
        Path(given.json).write_text(json.dumps([given.threads, rows]), encoding="utf-8")
    show(rows)


def _read(file: str) -> tuple[int, list[Row]]:
    threads, rows = json.loads(Path(file).read_text(encoding="utf-8"))
    return threads, [Row(name, tuple(parts), *rest) for name, parts, *rest in rows]


def _merged(runs: Sequence[Sequence[Row]]) -> list[Row]:
    """Rows with the median of their ratios over several runs, and the times that belong to it."""
    found = []
    for same in zip(*runs, strict=True):
        timed = sorted((row for row in same if row.own_us is not None), key=lambda row: row.ratio)
        found.append(timed[len(timed) // 2] if timed else same[0])
    return found


if __name__ == "__main__":
    main()
