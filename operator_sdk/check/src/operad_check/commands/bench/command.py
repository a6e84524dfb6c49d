"""The command `operad bench`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, final

import click
import numpy as np

from operad.cli import (
    Listing,
    Mark,
    Page,
    module_option,
    operator_named,
    progress,
    sample_property,
    sample_shapes,
)
from operad.cli.options import complete_operators, dtype_option, param_option, shape_option
from operad.cli.samples import expect_no_more, show_call
from operad.context import cpu
from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.operator import Array, KernelCall, OperatorProperty, Shape, choose
from operad_check.commands.bench.contestants import REJECTED, Contestant, SampleCall
from operad_check.commands.bench.counterparts import counterpart
from operad_check.commands.bench.measure import ROUNDS, interleaved
from operad_sdk.errors import NoForm

_SIZES: Final[Sequence[Shape]] = (
    (512, 512),
    (8, 16, 32, 32),
    (64, 32, 64),
    (65536,),
    (4, 4, 8, 16, 16),
    (64, 64),
)
"""Shapes to try for the first argument where none is given: some hundred kilobytes."""
_MOST_ELEMENTS: Final = 1 << 21
"""Most elements that outputs may have where no shape is given."""
_WORTH_SAYING: Final = 1.2
"""Least speed-up at which another kernel is reported as faster; less may be noise."""
_NOT_KERNELS: Final = ("nd.", "numpy", "reference", "backward")
_TOLERANCES: Final = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """The time of one way to compute the call.

    Attributes:
        name: A kernel, with a note where its condition rejects it; nd.OP, numpy, reference (the
            contract's, which is written to be right, not fast), or backward.
        median_s: Seconds of one call, median over the rounds.
        smallest_s: Smallest over the rounds.
        largest_s: Largest over the rounds.
        ratio: The median over that of numpy or reference, or without them over that of the chosen kernel;
            null for backward, which has nothing to be compared with.
    """

    name: str
    median_s: float
    smallest_s: float
    largest_s: float
    ratio: float | None


@final
@dataclass(frozen=True, slots=True)
class Benchmark:
    """Result of `operad bench`.

    Attributes:
        operator: The operator's name.
        params: Its parameters, in MXNet's string form.
        shapes: Shapes of the arguments.
        dtypes: Element types of the arguments.
        verified: What was compared with the chosen kernel, and agreed.
        problems: What disagreed; where something did, nothing was timed.
        timings: The times, the chosen kernel's first.
        by_numpy: For each part that its function computes as it is written, why, and what would help.
    """

    operator: str
    params: dict[str, str]
    shapes: list[list[int]]
    dtypes: list[str]
    verified: list[str]
    problems: list[str]
    timings: list[Timing]
    by_numpy: dict[str, str]

    @property
    def exit_code(self) -> int:
        """1 if the ways to compute the call disagree."""
        return int(bool(self.problems))

    def show(self, page: Page) -> None:
        """Write the call, whether its results agree, and one row per way to run it."""
        agree = "agree", ", ".join(self.verified) or "nothing was compared"
        show_call(page, self.operator, self.params, self.shapes, self.dtypes, agree)
        for problem in self.problems:
            page.text(Mark(problem, "bad"))
        if self.timings:
            page.heading("Times of one call")
        page.table(
            ("what", "median", "range", "ratio"),
            [
                (
                    Mark(t.name, "name"),
                    _time(t.median_s),
                    f"{_time(t.smallest_s)} - {_time(t.largest_s)}",
                    "" if t.ratio is None else f"{t.ratio:.2f}",
                )
                for t in self.timings
            ],
        )
        for line in self.conclusions():
            page.text(line)
        for part, why in self.by_numpy.items():
            page.text(f"{part} runs as it is written: {why}")

    def conclusions(self) -> list[str]:
        """Conclusions from the times: whether the chosen kernel is the fastest, and how numpy does."""
        found = []
        kernels = [t for t in self.timings if not t.name.startswith(_NOT_KERNELS)]
        chosen, fastest = kernels[0], min(kernels, key=lambda t: t.median_s)
        times = chosen.median_s / fastest.median_s
        if times > _WORTH_SAYING:
            is_rejected = fastest.name.endswith(REJECTED)
            why = "its condition rejects it here" if is_rejected else "its priority is lower"
            found.append(
                f"{fastest.name} would be {times:.3g} times as fast as {chosen.name}: {why}; see operad why"
            )
        elif len(kernels) > 1:
            found.append(f"{chosen.name} is chosen, and no other kernel is faster")
        by_name = {t.name: t for t in self.timings}
        call = next((t for t in self.timings if t.name.startswith("nd.")), None)
        if "numpy" in by_name and call is not None:
            found.append(
                f"{call.name} takes {call.median_s / by_name['numpy'].median_s:.2f} times numpy's time"
            )
        if "reference" in by_name:
            found.append(
                "NumPy has no function for this; reference is the contract's, written to be right, not fast"
            )
        return found


@click.command(cls=Listing, result=Benchmark)
@click.argument("operator", metavar="OP", shell_complete=complete_operators)
@module_option
@shape_option
@dtype_option
@param_option
@click.option(
    "--against",
    type=click.Choice(["numpy"]),
    help="Compare values and times with NumPy's, or with the contract's reference.",
)
@click.option(
    "--rounds",
    metavar="N",
    type=click.IntRange(min=1),
    default=ROUNDS,
    show_default=True,
    help="Rounds of timing.",
)
def bench(
    operator: str,
    module: str | None,
    shapes: list[Shape],
    dtype: DType,
    params: dict[str, str],
    against: str | None,
    rounds: int,
) -> Benchmark:
    """Time the operator OP on the CPU: each kernel, the call of operad.nd, backward.

    First all ways to compute it have to agree; then they take turns, and the medians are shown.
    Shapes and required parameters that are not given are made up, and shown.
    """
    prop, all_shapes = _example(operator_named(operator, module), params, shapes)
    call = SampleCall(prop, all_shapes, dtype)
    contestants = [*call.kernels(), call.imperative()]
    if against is not None:
        known = counterpart(prop)
        if known is None:
            raise OperadError(
                f"{prop.name} has no NumPy counterpart that is known; declare Contract(reference=...), "
                "or leave --against away"
            )
        contestants.append(call.numpy(*known))
    with np.errstate(all="ignore"), _blaming(prop):
        verified, problems = _compared(call, contestants)
        contestants += [each for each in call.rejected() if not _compared(call, [contestants[0], each])[1]]
        timings = [] if problems else _timed(call, contestants, rounds)
    return Benchmark(
        prop.name,
        prop.get_params(),
        [list(array.shape) for array in call.inputs],
        [array.dtype.name for array in call.inputs],
        verified,
        problems,
        timings,
        _by_numpy(call),
    )


def _by_numpy(call: SampleCall) -> dict[str, str]:
    """For each part that the operator's own functions compute, why no kernel made of its form does."""
    shapes, types = [array.shape for array in call.inputs], [array.dtype for array in call.inputs]
    asked = KernelCall(call.prop, cpu(), shapes, types)
    own = type(call.prop).kernels[:1]
    found: dict[str, str] = {}
    derived = call.prop.derived_kernels()
    taken = choose(asked).kernels if derived else {}
    for kernel in derived:
        reason = kernel.rejection(asked)
        if reason is not None:
            parts = [part for part in taken if kernel.computes(call.prop, part)]
            text = reason.explained() if isinstance(reason, NoForm) else reason
            found |= {part: text for part in parts if taken[part] is own[0]}
    return found


@contextmanager
def _blaming(prop: OperatorProperty) -> Iterator[None]:
    """Turn an exception of the operator into an error that names the operator and its made-up inputs."""
    try:
        yield
    except Exception as error:
        raise OperadError(
            f"{prop.name} raised {type(error).__name__} on made-up inputs: {error}; "
            "give other shapes and parameters, or declare what it takes with Contract(inputs=...)"
        ) from error


def _example(
    op: type[OperatorProperty], params: dict[str, str], shapes: Sequence[Shape]
) -> tuple[OperatorProperty, list[Shape]]:
    """The operator with parameters and shapes, those not given made up."""
    prop = sample_property(op, params, shapes)
    expect_no_more(prop, shapes)
    if shapes or not prop.list_arguments():
        found = sample_shapes(prop, shapes)
    else:
        prop, found = next(_large_examples(op, params), (prop, sample_shapes(prop)))
    if found is None:
        raise ShapeError(f"{op.name}: no shapes were found that fit; give --shape for each argument")
    return prop, found


def _large_examples(
    op: type[OperatorProperty], params: dict[str, str]
) -> Iterator[tuple[OperatorProperty, list[Shape]]]:
    for size in _SIZES:
        prop = sample_property(op, params, [size])
        try:
            found = sample_shapes(prop, [size])
            outputs = prop.infer_shape(found)[1] if found is not None else []
        except OperadError:  # this operator takes no such array
            continue
        elements = sum(math.prod(axis or 0 for axis in shape or ()) for shape in outputs)
        if found is not None and elements <= _MOST_ELEMENTS:
            yield prop, found


def _compared(call: SampleCall, contestants: Sequence[Contestant]) -> tuple[list[str], list[str]]:
    """Names of the contestants that agree with the first one, and the problems of the others."""
    first, *others = contestants
    first.run()
    wanted = [array.copy() for array in first.outputs()]
    verified: list[str] = []
    problems: list[str] = []
    if call.is_random:
        return verified, problems
    for other in others:
        other.run()
        problem = _difference(other.outputs(), wanted)
        if problem is None:
            verified.append(other.name)
        else:
            problems.append(f"{other.name} and {first.name} disagree: {problem}")
    return verified, problems


def _difference(found: Sequence[Array], wanted: Sequence[Array]) -> str | None:
    for index, (one, two) in enumerate(zip(found, wanted, strict=False)):
        if one.shape != two.shape:
            return f"output {index} has shape {one.shape}, expected {two.shape}"
        tolerance = _TOLERANCES.get(two.dtype.name, 0.0)
        exact, near = two.astype(np.float64), one.astype(np.float64)
        scale = np.max(np.abs(exact), initial=0.0, where=np.isfinite(exact))
        if not np.allclose(near, exact, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            worst = np.nanmax(np.abs(near - exact))
            return f"output {index} differs by up to {worst:.3g}, where values go up to {scale:.3g}"
    return None


def _timed(call: SampleCall, contestants: Sequence[Contestant], rounds: int) -> list[Timing]:
    runs = {contestant.name: contestant.run for contestant in contestants}
    backward = call.gradient()
    if backward is not None:
        runs["backward"] = backward
    with progress("taking turns", rounds) as advance:
        seconds = interleaved(runs, advance, rounds)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    base = medians.get("numpy", medians.get("reference", medians[contestants[0].name]))
    return [
        Timing(
            name,
            medians[name],
            min(values),
            max(values),
            None if name == "backward" else medians[name] / base,
        )
        for name, values in seconds.items()
    ]


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
