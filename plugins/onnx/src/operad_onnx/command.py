"""`operad onnx`: models of ONNX to symbols and parameters, and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import click

import operad
from operad.cli import Listing, Mark, Page
from operad_onnx.coverage import Missing, Read, Written, not_read, not_written, read, written
from operad_onnx.export import OPSET, export
from operad_onnx.load import load
from operad_onnx.metadata import metadata
from operad_onnx.model_file import read_model


@final
@dataclass(frozen=True, slots=True)
class WrittenModel:
    """Result of `operad onnx export`.

    Attributes:
        file: The model's path.
        opset: Version of the standard.
        nodes: Number of its nodes.
        size_bytes: Size of the file, without weights beside it.
        inputs: Names of its inputs.
        outputs: Names of its outputs.
    """

    file: str
    opset: int
    nodes: int
    size_bytes: int
    inputs: list[str]
    outputs: list[str]

    def show(self, page: Page) -> None:
        """Write what was made of what."""
        page.text(Mark(self.file, "name"))
        page.text(f"{self.nodes} nodes of opset {self.opset}, {self.size_bytes:,} bytes")
        page.text(f"inputs: {', '.join(self.inputs)}")
        page.text(f"outputs: {', '.join(self.outputs)}")


@final
@dataclass(frozen=True, slots=True)
class ReadModel:
    """Result of `operad onnx import`.

    Attributes:
        written: Paths of the symbol and of the parameters.
        nodes: Number of the symbol's operators.
        parameters: Number of the parameters.
        inputs: Names of the other arguments.
        outputs: Names of the outputs.
    """

    written: list[str]
    nodes: int
    parameters: int
    inputs: list[str]
    outputs: list[str]

    def show(self, page: Page) -> None:
        """Write what was made of what."""
        for path in self.written:
            page.text(Mark(path, "name"))
        page.text(f"{self.nodes} operators, {self.parameters} parameters")
        page.text(f"inputs: {', '.join(self.inputs)}")
        page.text(f"outputs: {', '.join(self.outputs)}")


@final
@dataclass(frozen=True, slots=True)
class Coverage:
    """Result of `operad onnx check`.

    Attributes:
        file: The model that was looked at, or null.
        written: Operators that can be written; empty where a model was looked at.
        read: ONNX operators that can be read; likewise.
        missing: Operators that cannot be written, or those of the model that cannot be read.
    """

    file: str | None
    written: list[Written] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1 where the model has nodes that cannot be read."""
        return int(self.file is not None and bool(self.missing))

    def show(self, page: Page) -> None:
        """Write the tables."""
        if self.file is not None:
            page.text(Mark(self.file, "name"))
            if not self.missing:
                page.text("every node has a rule")
        if self.written:
            rows = [(row.operator, row.onnx, row.package) for row in self.written]
            page.table(("operator", "ONNX", "package"), rows)
            rows = [(row.onnx, row.operator, row.package) for row in self.read]
            page.table(("ONNX", "operator", "package"), rows)
        if self.missing:
            page.table(("without a counterpart", "why"), [(row.operator, row.reason) for row in self.missing])
        if self.file is None:
            counts = f"{len(self.written)} operators can be written, {len(self.missing)} cannot"
            page.text(f"{counts}; {len(self.read)} ONNX operators can be read")


@click.group()
def onnx() -> None:
    """Write and read models of ONNX."""


_SHAPE = click.option(
    "--shape", "shapes", multiple=True, metavar="NAME=Nx1x28x28",
    help="Shape of an input; a length given as a word is dynamic.",
)  # fmt: skip


@onnx.command("export", cls=Listing, result=WrittenModel)
@click.argument("symbol")
@click.argument("params")
@_SHAPE
@click.option("--opset", type=int, default=OPSET, show_default=True, help="Version of the standard.")
@click.option("-o", "--output", metavar="FILE", default="model.onnx", show_default=True, help="The model.")
def export_command(symbol: str, params: str, shapes: Sequence[str], opset: int, output: str) -> WrittenModel:
    """Write the symbol in the file SYMBOL and the parameters in PARAMS as a model."""
    arrays = operad.nd.load(params)
    if not isinstance(arrays, dict):
        raise click.UsageError(f"{params} has arrays without names")
    model = export(operad.sym.load(symbol), arrays, _parsed(shapes), output, opset=opset)
    found = metadata(model)
    return WrittenModel(
        output,
        opset,
        len(model.graph.node),
        os.path.getsize(output),
        [name for name, _ in found.inputs],
        [name for name, _ in found.outputs],
    )


@onnx.command("import", cls=Listing, result=ReadModel)
@click.argument("file")
@_SHAPE
@click.option("-o", "--output", metavar="PREFIX", help="Prefix of both files; default: FILE without .onnx.")
def import_command(file: str, shapes: Sequence[str], output: str | None) -> ReadModel:
    """Read the model in FILE, and write PREFIX-symbol.json and PREFIX-0000.params."""
    given: Any = _parsed(shapes)
    model = load(file, shapes=given)
    prefix = output if output is not None else file.removesuffix(".onnx")
    paths = [f"{prefix}-symbol.json", f"{prefix}-0000.params"]
    named = {f"arg:{name}": array for name, array in model.arg_params.items()}
    named |= {f"aux:{name}": array for name, array in model.aux_params.items()}
    model.symbol.save(paths[0])
    operad.nd.save(paths[1], named)
    nodes = model.symbol.graph.op_nodes
    return ReadModel(paths, len(nodes), len(model.params), model.inputs, model.symbol.list_outputs())


@onnx.command("check", cls=Listing, result=Coverage)
@click.argument("file", required=False)
def check_command(file: str | None) -> Coverage:
    """List operators that can be written and read, and why others cannot; or what of FILE cannot be read."""
    if file is not None:
        return Coverage(file, missing=not_read(read_model(file)))
    return Coverage(None, written(), read(), not_written())


def _parsed(shapes: Sequence[str]) -> dict[str, tuple[int | str, ...]]:
    found = {}
    for text in shapes:
        name, equals, lengths = text.rpartition("=")
        if not equals or not name or not lengths:
            raise click.UsageError(f"--shape {text!r}: expected NAME=Nx1x28x28")
        found[name] = tuple(int(n) if n.strip().isdigit() else n.strip() for n in lengths.split("x"))
    return found
