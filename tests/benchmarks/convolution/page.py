"""The page of convolution layers: times beside other libraries, shares of the processor's peak, errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from tests.benchmarks.convolution.layers import LAYERS, PASSES, Layer
from tests.benchmarks.driver import Measured
from tests.benchmarks.figures import Basis
from tests.benchmarks.page import SHOWN, About, Run, compared, load_words, number, setting

_METHOD: Final = """\
Each pass alone, in float32: operad and MXNet by a bound graph of the one layer, forward with
`is_train=True`, gradients by the data or by the weights alone; PyTorch by the functions that its autograd
calls. A backward pass of the two copies the gradient that it is handed (1 MB in 60 us, in one thread),
which in a network no layer does. Every forward pass packs its weights; what is bound for prediction packs
them once. Libraries agreed within a hundredth on the mean size of each result. Operations are
multiplications and additions, those with the border's zeros too, which some kernels leave out, so that they
seem faster than the peak; that is what sums that stay in registers reach on as many threads, measured just
before.
"""


@final
@dataclass(frozen=True, slots=True)
class LayerRun:
    """A run, and what the processor did at most.

    Attributes:
        run: With rows of layers.
        peak: 10^9 operations a second.
    """

    run: Run
    peak: float


def page(about: About, runs: Sequence[LayerRun], first: Sequence[dict[str, Any]]) -> str:
    """The whole page, as Markdown.

    Args:
        first: What `first.twice` found.
    """
    lines = ["# Convolution layers beside PyTorch and MXNet, on a CPU", "", *setting(about), "", _METHOD]
    for run in runs:
        lines += _of_run(run, list(about.versions))
    lines += _errors(runs[0].run, list(about.versions))
    lines += _first(first)
    return "\n".join(lines).rstrip() + "\n"


def _of_run(given: LayerRun, libraries: list[str]) -> Iterator[str]:
    run = given.run
    yield from (f"## {run.threads} thread{'s' if run.threads > 1 else ''}", "", load_words(run), "")
    yield f"The peak was {given.peak:.0f} GFLOP/s."
    yield ""
    others = [SHOWN[name] for name in libraries if name != "operad"]
    yield (
        "| layer | pass | operad, ms | "
        + " | ".join(others)
        + " | "
        + " | ".join([f"of {name}'s time" for name in others] + ["GFLOP/s", "of the peak"])
        + " |"
    )
    yield "|" + "---|" * (5 + 2 * len(others))
    by_name = {one.row.name: one for one in run.measured}
    for layer in LAYERS:
        for of in PASSES:
            if one := by_name.get(f"{layer}, {of}"):
                yield _line(layer, of, one, libraries, given)
    yield ""
    yield from _summary(run)


def _line(layer: Layer, of: str, one: Measured, libraries: list[str], given: LayerRun) -> str:
    seconds = _seconds(one, given.run.basis)
    ours = seconds.get("operad")
    others = [name for name in libraries if name != "operad"]
    cells = [
        str(layer),
        of,
        *("" if name not in seconds else number(1e3 * seconds[name]) for name in ["operad", *others]),
    ]
    cells += ["" if ours is None or name not in seconds else f"{ours / seconds[name]:.2f}" for name in others]
    rate = 0.0 if ours is None else layer.operations / ours / 1e9
    return f"| {' | '.join([*cells, f'{rate:.0f}', f'{rate / given.peak:.2f}'])} |"


def _seconds(one: Measured, by: Basis) -> dict[str, float]:
    return {library: figures.of(by) for (library, _), figures in one.figures().items()}


def _summary(run: Run) -> Iterator[str]:
    """Passes in which a peer is ahead, the worst first."""
    times = [one for one in run.measured if one.row.maker == "layer"]
    behind = sorted(
        ((value, one.row.name) for one in times if (value := compared(one, run.basis) or 0) > 1), reverse=True
    )
    yield f"operad is ahead of the best of them in {len(times) - len(behind)} of {len(times)} passes."
    if behind:
        yield "Behind: " + "; ".join(f"{name} ({value:.2f})" for value, name in behind) + "."
    notes = {f"{SHOWN[name]} {note}: {one.row.name}." for one in times for name, note in one.notes.items()}
    yield from sorted(notes)
    yield ""


def _errors(run: Run, libraries: list[str]) -> Iterator[str]:
    yield from (
        "## Errors",
        "",
        "The largest error of a result against float64, in parts of 10^-7 of its largest number.",
        "",
    )
    yield "| layer | " + " | ".join(f"{SHOWN[name]}, {of}" for of in PASSES for name in libraries) + " |"
    yield "|" + "---|" * (1 + len(PASSES) * len(libraries))
    by_name = {one.row.name: one.values for one in run.measured}
    for layer in LAYERS:
        found = [by_name.get(f"{layer}, {of}, error", {}).get(name) for of in PASSES for name in libraries]
        yield f"| {layer} | " + " | ".join("" if value is None else f"{value:.1f}" for value in found) + " |"
    yield ""


def _first(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    cold, warm = found
    yield from ("## Kernels that are not there yet", "")
    passes = len(LAYERS) * len(PASSES)
    yield f"All {passes} passes, each bound and run once by a new process:"
    yield ""
    yield "| folder of kernels | first | then | compiled | loaded | files | MB |"
    yield "|" + "---|" * 7
    for folder, of in (("empty", cold), ("as that left it", warm)):
        yield (
            f"| {folder} | {of['first']:.2f} s | {of['then']:.2f} s | {of['compiled']} | {of['loaded']}"
            f" | {of['files']} | {of['bytes'] / 1e6:.1f} |"
        )
