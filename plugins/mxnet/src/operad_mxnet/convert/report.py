"""Result of `operad convert`, for people and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from operad.cli import Mark, Page
from operad_mxnet.convert.changes import Change
from operad_mxnet.convert.usage import UsedOperator


@final
@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or a parameter.

    Attributes:
        name: Of its variable.
        shape: Lengths of its axes; null where the files do not say.
        dtype: Its element type; null likewise.
        size_bytes: Of its values; 0 where the files have none.
    """

    name: str
    shape: list[int] | None
    dtype: str | None
    size_bytes: int


@final
@dataclass(frozen=True, slots=True)
class Conversion:
    """Result of `operad convert`: findings, and the files written.

    Attributes:
        files: Paths of the files that were read.
        mxnet_version: Of MXNet that wrote the symbol, such as 1.9.1; null where the file does not say, as
            before 0.9, and where no symbol was read.
        operators: What the symbol uses, the most frequent first.
        inputs: Variables without a value in the files, data and labels.
        outputs: Names of the outputs; empty where operators are missing.
        parameters: Arrays of the file of parameters, and variables without a value that have a parameter's
            name, such as fc1_weight; auxiliary states too.
        install: One command that installs the packages that provide what is missing, or null.
        changes: How the file of today differs from the one that was read.
        problems: What of the parameters does not fit the symbol.
        written: Paths of the files that were written.
    """

    files: list[str]
    mxnet_version: str | None = None
    operators: list[UsedOperator] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    parameters: list[Tensor] = field(default_factory=list)
    install: str | None = None
    changes: list[Change] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[UsedOperator]:
        """The operators that cannot be used here."""
        return [op for op in self.operators if op.problem is not None]

    @property
    def exit_code(self) -> int:
        """1 where an operator is missing, or parameters do not fit."""
        return int(bool(self.missing or self.problems))

    def show(self, page: Page) -> None:
        """Write the model, its operators, what is missing, and what was made of old words."""
        page.text(Mark(", ".join(self.files), "name"))
        page.pairs([
            *([("format", _format(self.mxnet_version))] if self.operators or self.inputs else []),
            *([("inputs", ", ".join(map(_described, self.inputs)))] if self.inputs else []),
            *([("outputs", ", ".join(self.outputs))] if self.outputs else []),
            *_sizes(self.parameters),
        ])  # fmt: skip
        if self.operators:
            page.heading("Operators")
            page.table(("operator", "nodes", "provided by"), [_row(op) for op in self.operators])
        if self.missing:
            page.heading("Missing")
            for op in self.missing:
                page.text(Mark(f"{op.name}: {op.problem}", "bad"))
            if self.install is not None:
                page.code(self.install)
        if self.problems:
            page.heading("Problems")
            for problem in self.problems:
                page.text(Mark(problem, "bad"))
        if self.changes:
            page.heading("Brought up to date" if self.written else "What -o OUT would bring up to date")
            page.table(("nodes", "what"), [(str(change.nodes), change.what) for change in self.changes])
        if self.written:
            page.heading("Written")
            page.code("\n".join(self.written))


def _row(op: UsedOperator) -> tuple[Mark, str, Mark]:
    provider = Mark(f"{op.distribution} {op.version}".rstrip(), "plain")
    return Mark(op.name, "name"), str(op.nodes), provider if op.problem is None else Mark("missing", "bad")


def _format(version: str | None) -> str:
    return "MXNet's, before 0.9" if version is None else f"MXNet's, of {version}"


def _described(tensor: Tensor) -> str:
    shape = "" if tensor.shape is None else f" ({', '.join(map(str, tensor.shape))})"
    return f"{tensor.name}{shape}{'' if tensor.dtype is None else f' {tensor.dtype}'}"


def _sizes(tensors: Sequence[Tensor]) -> list[tuple[str, str]]:
    sizes: dict[str | None, list[int]] = defaultdict(list)
    for tensor in tensors:
        sizes[tensor.dtype if tensor.size_bytes else None].append(tensor.size_bytes)
    bare = sizes.pop(None, [])
    rows = [(f"{dtype} parameters", f"{len(found)}, {_human(sum(found))}") for dtype, found in sizes.items()]
    return [*rows, ("parameters", f"{len(bare)} without values")] if bare else rows


def _human(size_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} GiB"
