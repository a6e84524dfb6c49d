"""`operad graph`: a symbol file bound, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import click

import operad as od
from operad.cli import Listing, Page
from operad_visualization.plot import plot_network


@final
@dataclass(frozen=True, slots=True)
class PassRun:
    """One run of a pass.

    Attributes:
        name: The pass.
        distribution: Whose it is; empty for the core's own.
        nodes_before: Number of nodes of its graph.
        nodes_after: Number of nodes that it left.
        ms: Milliseconds that it took.
    """

    name: str
    distribution: str
    nodes_before: int
    nodes_after: int
    ms: float


@final
@dataclass(frozen=True, slots=True)
class PartKernel:
    """The kernel of one part of a node.

    Attributes:
        node: The node.
        part: `forward`, or the gradient of an argument.
        kernel: What computes it; null where the operator itself does.
        cost_us: Estimated microseconds, on one thread.
    """

    node: str
    part: str
    kernel: str | None
    cost_us: float


@final
@dataclass(frozen=True, slots=True)
class Cluster:
    """Several nodes that run as one kernel.

    Attributes:
        name: Of the kernel's node.
        members: The nodes.
        saved_bytes: Size of what they make that is neither written nor read any more.
        compile_ms: Milliseconds that the kernel took to compile, or to be found in a cache.
        neighbours: Nodes beside the members, and why they are none.
    """

    name: str
    members: list[str]
    saved_bytes: int
    compile_ms: float
    neighbours: dict[str, str]


@final
@dataclass(frozen=True, slots=True)
class BoundGraph:
    """Result of `operad graph`.

    Attributes:
        file: The symbol file.
        planned_bytes: Memory between arguments and outputs.
        passes: The passes, in order.
        kernels: The kernels, in the order in which they run.
        clusters: Nodes that run as one kernel.
        written: The picture's file, or null.
    """

    file: str
    planned_bytes: int
    passes: list[PassRun]
    kernels: list[PartKernel]
    clusters: list[Cluster]
    written: str | None

    @property
    def exit_code(self) -> int:
        """Always 0."""
        return 0

    def show(self, page: Page) -> None:
        """Write tables of passes and kernels, and each cluster."""
        page.pairs([("file", self.file), ("memory", f"{self.planned_bytes} bytes")])
        page.heading("Passes")
        page.table(
            ("pass", "of", "nodes", "left", "ms"),
            [
                (p.name, p.distribution, str(p.nodes_before), str(p.nodes_after), f"{p.ms:.1f}")
                for p in self.passes
            ],
        )
        page.heading("Kernels")
        page.table(
            ("node", "part", "kernel", "cost"),
            [(k.node, k.part, k.kernel or "the operator", f"{k.cost_us:.3g} us") for k in self.kernels],
        )
        for cluster in self.clusters:
            page.heading(f"Cluster {cluster.name}")
            page.pairs([
                ("members", ", ".join(cluster.members)),
                ("saved", f"{cluster.saved_bytes} bytes"),
                ("compiled", f"{cluster.compile_ms:.0f} ms"),
                *((f"not {name}", reason) for name, reason in cluster.neighbours.items()),
            ])  # fmt: skip
        if self.written:
            page.text(f"drawn in {self.written}")


@click.command(cls=Listing, result=BoundGraph)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--shape",
    "shapes",
    metavar="NAME=SHAPE",
    multiple=True,
    help="Shape of an input: data=32x3x8x8; may be repeated.",
)
@click.option("--inference", is_flag=True, help="Bind without gradients.")
@click.option("--svg", metavar="OUT", help="Draw the network in OUT.svg, with clusters as boxes.")
def graph(file: str, shapes: tuple[str, ...], inference: bool, svg: str | None) -> BoundGraph:
    """Bind the symbol in FILE; show its passes, its kernels, which nodes are fused, and why others are not.

    Shapes that follow from others may be left out.
    """
    symbol = od.sym.load(file)
    request = "null" if inference else "write"
    executor = symbol.simple_bind(od.cpu(), grad_req=request, **dict(map(_shape, shapes)))
    why = executor.why()
    written = None
    if svg is not None:
        written = plot_network(symbol, file, executor=executor).render(svg.removesuffix(".svg"), format="svg")
    return BoundGraph(
        file,
        executor.memory_plan.planned_bytes,
        [PassRun(p.name, p.distribution, p.nodes_before, p.nodes_after, p.ms) for p in executor.passes],
        [PartKernel(row.node, row.part, row.kernel, row.cost_us) for row in why.rows],
        [
            Cluster(name, found.members, found.saved_bytes, found.compiled_s * 1e3, found.neighbours)
            for name, found in why.composites.items()
        ],
        written,
    )


def _shape(text: str) -> tuple[str, Any]:
    name, _, lengths = text.partition("=")
    parts = [part for part in lengths.strip("()").replace(",", "x").split("x") if part.strip()]
    if not name or not all(part.strip().isdecimal() for part in parts) or "=" not in text:
        raise click.BadParameter(f"{text!r} is not of the form data=32x3x8x8", param_hint="--shape")
    return name, tuple(map(int, parts))
