"""`operad why`: which kernel an operator takes and why it takes no other, and its scalar forms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import final

import click

from operad import registry
from operad.boundary import boundary
from operad.cli.explanation import PartChoice, arrays_in_words, explained
from operad.cli.listing import Listing
from operad.cli.modules import module_option, operator_named
from operad.cli.options import complete_operators, context_option, dtype_option, param_option, shape_option
from operad.cli.page import Mark, Page
from operad.cli.samples import expect_no_more, sample_property, sample_shapes, show_call
from operad.device import Context
from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.op import (
    Choice,
    Kernel,
    KernelCall,
    OperatorProperty,
    ScalarForm,
    Shape,
    choose,
    is_computed_by_kernels,
    ranked,
)


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
        chosen: Whether it computes any part.
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
    """Scalar form of one part of the operator.

    Attributes:
        part: `forward`, or the gradient of an argument.
        form: Its scalar form, line by line, or null.
        reason: Why there is none, or null.
        line: The line of the author's function that stands in the way, or null.
        cure: What would help, or null.
    """

    part: str
    form: list[str] | None
    reason: str | None
    line: str | None
    cure: str | None

    def text(self) -> list[str]:
        """The form, or why there is none."""
        if self.form is not None:
            return self.form
        found = [f"none: {self.reason}"]
        found += [f"at {self.line}"] if self.line else []
        return found + ([f"cure: {self.cure}"] if self.cure else [])


@final
@dataclass(frozen=True, slots=True)
class KernelChoice:
    """Result of `operad why`.

    Attributes:
        operator: The operator's main name.
        params: The parameters it was asked with, in MXNet's string form.
        shapes: Shapes of the arguments.
        dtypes: Element types of the arguments.
        context: The device it was asked for.
        candidates: Every kernel, best first.
        parts: The kernel of each part.
        forms: The scalar form of each part, or why there is none.
    """

    operator: str
    params: dict[str, str]
    shapes: list[list[int]]
    dtypes: list[str]
    context: str
    candidates: list[KernelVerdict]
    parts: list[PartChoice]
    forms: list[PartForm]

    @property
    def exit_code(self) -> int:
        """1 where no kernel applies."""
        return int(not any(verdict.chosen for verdict in self.candidates))

    def show(self, page: Page) -> None:
        """The question, and one row for each kernel."""
        show_call(page, self.operator, self.params, self.shapes, self.dtypes, ("context", self.context))
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
        page.heading("Parts")
        page.table(
            ("part", "kernel", "estimate", "workspace", "arrays", "and not"),
            [
                (
                    p.part,
                    p.kernel or Mark("none", "bad"),
                    f"~{float(f'{p.cost_us:.1g}'):g} us",  # an estimate; more digits would look measured
                    f"{p.workspace_bytes} bytes",
                    arrays_in_words(p.prepared),
                    "; ".join(f"{name}: {reason}" for name, reason in p.others.items()),
                )
                for p in self.parts
            ],
        )
        parts: dict[tuple[str, ...], list[str]] = {}  # those that say the same together
        for form in self.forms:
            parts.setdefault(tuple(form.text()), []).append(form.part)
        reasons = {v.kernel: f"{v.kernel} is {v.reason}" for v in self.candidates if v.chosen and v.reason}
        explained = {p.part: reasons[p.kernel] for p in self.parts if p.kernel in reasons}
        for lines, names in parts.items():
            page.heading(f"Scalar form of {', '.join(names)}")
            said = dict.fromkeys(explained[name] for name in names if name in explained)
            for line in [*lines, *said]:
                page.text(line)


@click.command(cls=Listing, result=KernelChoice)
@click.argument("operator", metavar="OP", shell_complete=complete_operators)
@module_option
@shape_option
@dtype_option
@context_option
@param_option
def why(
    operator: str,
    module: str | None,
    shapes: list[Shape],
    dtype: DType,
    context: Context,
    params: dict[str, str],
) -> KernelChoice:
    """Show which kernel computes each part of the operator OP and why no other, and its scalar forms.

    Parts are `forward` and the gradient of each argument. Costs are rough estimates, on one thread;
    `operad bench` measures, and `operad tune` makes the estimates those of this machine.

    A scalar form is what a part of OP computes for each element; without one that part is never fused.

    Shapes and required parameters that are not given are made up, and shown.
    """
    prop = sample_property(operator_named(operator, module), params, shapes)
    expect_no_more(prop, shapes)
    record = registry.find(operator)
    own = record.distribution if record is not None else ""
    return kernel_choice(prop, _all_shapes(prop, shapes), _all_types(prop, dtype), context, own)


@boundary
def kernel_choice(
    prop: OperatorProperty, shapes: Sequence[Shape], dtypes: Sequence[DType], context: Context, own: str
) -> KernelChoice:
    """The verdict on every kernel of `prop` for arguments of these shapes and types, and the scalar forms.

    Args:
        own: The distribution that provides the operator.
    """
    call = KernelCall(prop, context, shapes, dtypes)
    choice = _choice(call)
    taken = [] if choice is None else list(choice.kernels.values())
    verdicts = []
    for kernel in ranked(call):
        reason = kernel.rejection(call)
        verdicts.append(
            KernelVerdict(
                kernel.name,
                kernel.distribution or own,
                kernel.device,
                kernel.priority,
                reason is None,
                any(kernel is one for one in taken),
                reason or _in_words(kernel, call),
            )
        )
    parts = [] if choice is None else explained(choice, prop.list_parts())
    sizes, types = [list(shape) for shape in shapes], [dtype.name for dtype in dtypes]
    forms = [_part_form(part, prop.scalar_form(part, shapes, dtypes)) for part in prop.list_parts()]
    return KernelChoice(prop.name, prop.get_params(), sizes, types, repr(context), verdicts, parts, forms)


def _in_words(kernel: Kernel, call: KernelCall) -> str | None:
    """Words of a kernel that applies about itself, if it has any."""
    explained = getattr(kernel.when, "explained", None)
    return (explained(call) or None) if explained is not None else None


def _choice(call: KernelCall) -> Choice | None:
    """The kernels of a call that trains, with all their arrays.

    None where nothing computes its outputs, or its class makes what does.
    """
    if not is_computed_by_kernels(call.prop):
        return None
    with suppress(OperadError):
        choice = choose(call)
        return choice.with_prepared(choice.preparations(tuple(choice.kernels)))
    return None


def _part_form(part: str, found: ScalarForm | str) -> PartForm:
    if isinstance(found, str):
        line, cure = getattr(found, "line", None), getattr(found, "cure", None)
        return PartForm(part, None, str(found), line or None, cure or None)
    return PartForm(part, found.text().splitlines()[1:], None, None, None)


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
