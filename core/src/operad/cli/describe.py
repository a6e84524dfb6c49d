"""`operad describe`: everything an operator declares."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import click

from operad import registry
from operad.cli import declared
from operad.cli.calls import call_of
from operad.cli.listing import Listing
from operad.cli.options import complete_operators, param_option
from operad.cli.page import Mark, Page
from operad.cli.samples import sample_property, sample_shapes
from operad.cli.sources import place
from operad.op import OperatorProperty, Param


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter.

    Attributes:
        name: To give it by.
        expects: Type, bounds and choices, in words.
        required: Whether every call must give it.
        default: In MXNet's string form; null where it is required.
        doc: What it does.
    """

    name: str
    expects: str
    required: bool
    default: str | None
    doc: str


@final
@dataclass(frozen=True, slots=True)
class KernelDescription:
    """One way to compute the operator.

    Attributes:
        name: What `operad why` calls it.
        distribution: Who provides it.
        device: cpu, gpu or any.
        priority: Larger is preferred.
        conditional: Whether it looks at parameters, shapes and types before it applies.
    """

    name: str
    distribution: str
    device: str
    priority: int
    conditional: bool


@final
@dataclass(frozen=True, slots=True)
class Description:
    """Result of `operad describe`.

    Attributes:
        name: The operator's main name.
        aliases: Its other names.
        distribution: Who provides it.
        version: Of that distribution.
        source: File and line of its declaration, or null.
        signature: Its call, tensors first.
        parameters: The declared parameters, in order.
        shown_for: The parameters that the fields below were worked out for, in MXNet's string form.
        arguments: Names of the tensors it takes.
        outputs: Names of its outputs; visible_outputs of them are shown to callers.
        visible_outputs: How many leading outputs a call shows.
        auxiliary_states: Names of the states it updates.
        shapes: Its line of the shape language, or null.
        gradients: One per argument that has a gradient.
        forward_inplace: Pairs of an argument and the output that may overwrite it.
        backward_inplace: Pairs of an array that is read and the gradient that may overwrite it.
        forward_resources: Resources it asks for; null where no shapes were found to ask with.
        backward_resources: Resources its gradient asks for; null as above.
        kernels: The ways to compute it, best first.
        doc: Its docstring.
    """

    name: str
    aliases: list[str]
    distribution: str
    version: str
    source: str | None
    signature: str
    parameters: list[Parameter]
    shown_for: dict[str, str]
    arguments: list[str]
    outputs: list[str]
    visible_outputs: int
    auxiliary_states: list[str]
    shapes: str | None
    gradients: list[declared.ArgumentGradient]
    forward_inplace: list[tuple[str, str]]
    backward_inplace: list[tuple[str, str]]
    forward_resources: list[str] | None
    backward_resources: list[str] | None
    kernels: list[KernelDescription]
    doc: str

    def show(self, page: Page) -> None:
        """The docstring, and then what is declared, by subject."""
        page.text(Mark(self.signature, "name"))
        page.code(self.doc or "It has no docstring.")
        page.heading("Origin")
        page.pairs([
            ("distribution", f"{self.distribution} {self.version}".rstrip()),
            ("other names", ", ".join(self.aliases) or "none"),
            ("source", self.source or "unknown"),
        ])  # fmt: skip
        page.heading("Parameters")
        rows = [(Mark(p.name, "name"), p.expects, p.default or "required", p.doc) for p in self.parameters]
        page.table(("name", "expects", "default", "meaning"), rows)
        if not rows:
            page.text("none")
        page.heading(f"Tensors{_with(self.shown_for)}")
        hidden = self.outputs[self.visible_outputs :]
        page.pairs([
            ("arguments", ", ".join(self.arguments) or "none"),
            ("outputs", ", ".join(self.outputs[: self.visible_outputs]) or "none"),
            *([("hidden outputs", ", ".join(hidden))] if hidden else []),
            ("auxiliary states", ", ".join(self.auxiliary_states) or "none"),
            *([("shapes", self.shapes)] if self.shapes else []),
            ("forward in place", _arrows(self.forward_inplace)),
            ("backward in place", _arrows(self.backward_inplace)),
            ("forward resources", _listed(self.forward_resources)),
            ("backward resources", _listed(self.backward_resources)),
        ])  # fmt: skip
        page.heading("Gradients")
        page.table(
            ("of", "reads", "form"),
            [(g.argument, ", ".join(g.reads) or "nothing", g.form or "") for g in self.gradients],
        )
        declared_of = {gradient.argument for gradient in self.gradients}
        if zeros := [name for name in self.arguments if name not in declared_of]:
            page.text(f"none declared, so backward gives zeros: {', '.join(zeros)}")
        page.heading("Kernels")
        page.table(
            ("kernel", "provided by", "device", "priority", "applies"),
            [
                (
                    k.name,
                    k.distribution,
                    k.device,
                    str(k.priority),
                    "on a condition" if k.conditional else "always",
                )
                for k in self.kernels
            ],
        )


@click.command(cls=Listing, result=Description)
@click.argument("operator", metavar="OP", shell_complete=complete_operators)
@param_option
def describe(operator: str, params: dict[str, str]) -> Description:
    """Show everything that the operator OP declares.

    Arguments and outputs may depend on parameters; --param says for which they are shown.
    """
    return description(operator, params)


def description(name: str, params: Mapping[str, Any]) -> Description:
    """Declarations of the operator `name`, for `params` and made-up values of others it requires.

    Raises what `operad.registry.get` raises, and `ParamError`.
    """
    op = registry.get(name)
    record = registry.find(name)
    assert record is not None, f"{name} is in use and not listed"
    prop = sample_property(op, params)
    aliases = [
        other.name
        for other in registry.operators().values()
        if other.value == record.value and other.name != op.name
    ]
    shapes = sample_shapes(prop)
    return Description(
        name=op.name,
        aliases=aliases,
        distribution=record.distribution,
        version=record.version,
        source=place(record.value),
        signature=call_of(op).text(op.name),
        parameters=[_parameter(param) for param in op.params.values()],
        shown_for=prop.get_params(),
        arguments=prop.list_arguments(),
        outputs=prop.list_outputs(),
        visible_outputs=prop.num_visible_outputs,
        auxiliary_states=prop.list_auxiliary_states(),
        shapes=declared.shape_line(prop),
        gradients=declared.gradients(prop),
        forward_inplace=declared.forward_inplace(prop),
        backward_inplace=declared.backward_inplace(prop),
        forward_resources=declared.resources(prop.forward_resource, shapes),
        backward_resources=declared.resources(prop.backward_resource, shapes),
        kernels=_kernels(op, record.distribution),
        doc=inspect.cleandoc(op.__doc__ or ""),
    )


def _parameter(param: Param) -> Parameter:
    default = None if param.is_required else param.format(param.default)
    return Parameter(param.name, param.expects(), param.is_required, default, param.doc)


def _kernels(op: type[OperatorProperty], distribution: str) -> list[KernelDescription]:
    ranked = sorted(op.kernels, key=lambda kernel: -kernel.priority)
    return [
        KernelDescription(k.name, k.distribution or distribution, k.device, k.priority, k.when is not None)
        for k in ranked
    ]


def _with(params: Mapping[str, str]) -> str:
    return f" with {', '.join(f'{name}={value}' for name, value in params.items())}" if params else ""


def _arrows(pairs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{source} -> {target}" for source, target in pairs) or "none"


def _listed(names: Sequence[str] | None) -> str:
    return "unknown: no shapes were found to ask with" if names is None else ", ".join(names) or "none"
