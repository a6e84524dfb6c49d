"""`operad why`: which kernel an operator takes and why it takes no other, and its scalar forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import click

from operad import registry
from operad.cli.listing import Listing
from operad.cli.options import context_option, dtype_option, param_option, shape_option
from operad.cli.page import Mark, Page
from operad.cli.samples import sample_property, sample_shapes
from operad.context import Context
from operad.dtypes import DType
from operad.errors import ShapeError
from operad.operator import OperatorProperty, ScalarForm, Shape, candidates


@final
@dataclass(frozen=True, slots=True)
class KernelVerdict:
    """One kernel that was considered.

    Attributes:
        kernel: Its name.
        distribution: Who provides it.
        device: cpu, gpu or any.
        priority: Larger is preferred; the earlier registered one among equals.
        accepted: Whether it applies.
        chosen: Whether it is the one that runs.
        reason: Why it was rejected, or null.
    """

    kernel: str
    distribution: str
    device: str
    priority: int
    accepted: bool
    chosen: bool
    reason: str | None


@final
@dataclass(frozen=True, slots=True)
class PartForm:
    """What one part of the operator computes for each element.

    Attributes:
        part: `forward`, or the gradient of an argument.
        form: Its scalar form, line by line, or null.
        reason: Why there is none, or null.
    """

    part: str
    form: list[str] | None
    reason: str | None


@final
@dataclass(frozen=True, slots=True)
class KernelChoice:
    """What `operad why` found.

    Attributes:
        operator: The operator's main name.
        params: The parameters it was asked with, in MXNet's string form.
        shapes: Shapes of the arguments.
        dtypes: Element types of the arguments.
        context: The device it was asked for.
        candidates: Every kernel, best first.
        forms: The scalar form of each part, or why there is none.
    """

    operator: str
    params: dict[str, str]
    shapes: list[list[int]]
    dtypes: list[str]
    context: str
    candidates: list[KernelVerdict]
    forms: list[PartForm]

    @property
    def exit_code(self) -> int:
        """1 where no kernel applies."""
        return int(not any(verdict.chosen for verdict in self.candidates))

    def show(self, page: Page) -> None:
        """What was asked, and one row a kernel."""
        given = ", ".join(f"{name}={value}" for name, value in self.params.items())
        page.text(Mark(f"{self.operator}({given})", "name"))
        arrays = zip(self.shapes, self.dtypes, strict=True)
        page.pairs([
            ("arguments", ", ".join(f"{tuple(shape)} {dtype}" for shape, dtype in arrays) or "none"),
            ("context", self.context),
        ])  # fmt: skip
        page.heading("Kernels")
        page.table(
            ("verdict", "kernel", "provided by", "device", "priority", "reason"),
            [
                (_word(v), v.kernel, v.distribution, v.device, str(v.priority), v.reason or "")
                for v in self.candidates
            ],
        )
        if not self.candidates:
            page.text("none")
        parts: dict[tuple[str, ...], list[str]] = {}  # those that say the same together
        for form in self.forms:
            parts.setdefault(tuple(form.form or [f"none: {form.reason}"]), []).append(form.part)
        for lines, names in parts.items():
            page.heading(f"Scalar form of {', '.join(names)}")
            for line in lines:
                page.text(line)


@click.command(cls=Listing, result=KernelChoice)
@click.argument("operator", metavar="OP")
@shape_option
@dtype_option
@context_option
@param_option
def why(
    operator: str,
    shapes: list[Shape],
    dtype: DType,
    context: Context,
    params: dict[str, str],
) -> KernelChoice:
    """Show which kernel the operator OP takes and why no other, and its scalar forms.

    A scalar form is what a part of OP computes for each element; without one that part is never fused.

    Shapes and required parameters that are not given are made up, and shown.
    """
    op = registry.get(operator)
    prop = sample_property(op, params, shapes)
    names = prop.list_arguments()
    if len(shapes) > len(names):
        raise click.UsageError(
            f"{op.name} takes {len(names)} arguments ({', '.join(names)}), got {len(shapes)} shapes"
        )
    record = registry.find(operator)
    own = record.distribution if record is not None else ""
    return kernel_choice(prop, _all_shapes(prop, shapes), _all_types(prop, dtype), context, own)


def kernel_choice(
    prop: OperatorProperty, shapes: Sequence[Shape], dtypes: Sequence[DType], context: Context, own: str
) -> KernelChoice:
    """The verdict on every kernel of `prop` for arguments of these shapes and types, and the scalar forms.

    Args:
        own: The distribution that provides the operator.
    """
    verdicts: list[KernelVerdict] = []
    for kernel, rejection in candidates(prop, context, shapes, dtypes):
        chosen = rejection is None and not any(verdict.chosen for verdict in verdicts)
        verdicts.append(
            KernelVerdict(
                kernel.name,
                kernel.distribution or own,
                kernel.device,
                kernel.priority,
                rejection is None,
                chosen,
                rejection,
            )
        )
    sizes, types = [list(shape) for shape in shapes], [dtype.name for dtype in dtypes]
    forms = [_part_form(part, prop.scalar_form(part, shapes, dtypes)) for part in prop.list_parts()]
    return KernelChoice(prop.name, prop.get_params(), sizes, types, repr(context), verdicts, forms)


def _part_form(part: str, found: ScalarForm | str) -> PartForm:
    if isinstance(found, str):
        return PartForm(part, None, found)
    return PartForm(part, found.text().splitlines()[1:], None)


def _all_shapes(prop: OperatorProperty, given: Sequence[Shape]) -> list[Shape]:
    found = sample_shapes(prop, given)
    if found is None:
        raise ShapeError(
            f"{prop.name}: the arguments' shapes do not follow from {list(given) or 'nothing'}; "
            f"give --shape for {', '.join(prop.list_arguments())}"
        )
    return found


def _all_types(prop: OperatorProperty, dtype: DType) -> list[DType]:
    count = len(prop.list_arguments())
    inferred = prop.infer_type([dtype, *[None] * (count - 1)])[0] if count else []
    return [dtype if found is None else found for found in inferred]


def _word(verdict: KernelVerdict) -> Mark:
    if verdict.chosen:
        return Mark("chosen", "good")
    return Mark("accepted", "plain") if verdict.accepted else Mark("rejected", "quiet")
