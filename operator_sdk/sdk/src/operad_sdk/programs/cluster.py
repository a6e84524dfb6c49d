"""Steps of a trace as one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from operad_sdk.differentiate import FORM, Node, Traced, form_of
from operad_sdk.differentiate.dispatch import each
from operad_sdk.differentiate.made_up import is_view
from operad_sdk.differentiate.tracing import AppliedPrimitive
from operad_sdk.differentiate.walk import nodes_of
from operad_sdk.vector.compiled import CompiledForm, compiled
from operad_sdk.vector.cost_rule import Estimates, estimates
from operad_sdk.vector.primitives import NoVectorCodeError


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Some steps as one kernel.

    Attributes:
        kernel: Of their form.
        reads: What the form reads.
        makes: What it computes that others read.
        steps: How many steps it is, but for views.
        cost: Estimates of both ways.
        shares: Pairs of a number in `reads` and one in `makes` that may lie in one place.
    """

    kernel: CompiledForm
    reads: Sequence[Node]
    makes: Sequence[Node]
    steps: int
    cost: Estimates
    shares: frozenset[tuple[int, int]]


def operands(node: Node) -> list[Node]:
    """The nodes that a step reads."""
    return list(nodes_of(node.step.args)) if node.step else []


def views_something(node: Node) -> bool:
    """Return whether a step gives a view of its first argument."""
    return node.step is not None and is_view(node.step.primitive, node.step.args)


def is_array(value: Any) -> bool:
    """Return whether a constant is more than one number."""
    return isinstance(value, np.ndarray) and value.size > 1 and any(value.strides)


def cluster_of(members: Sequence[Node], makes: Sequence[Node]) -> Cluster:
    """The kernel of some steps.

    Raises:
        TraceError: They have no form.
        NoVectorCodeError: The form has no kernel.
    """
    made: dict[Node, Node] = {}
    reads: dict[int, tuple[Node, Node]] = {}  # by the array that it is

    def known(arg: Any) -> Any:
        if not isinstance(arg, Node):
            if not is_array(arg):
                return arg
            arg = Node(FORM, arg)
        if arg in made:
            return made[arg]
        if arg.step is None and not arg.leads and not is_array(arg.value):
            return Node(FORM, arg.value)
        key = id(arg) if arg.leads else id(arg.value)
        if key not in reads:
            reads[key] = (arg, Node(FORM, arg.value, is_input=True))
        return reads[key][1]

    for node in members:
        assert node.step is not None
        args = [each(arg, known) for arg in node.step.args]
        step = AppliedPrimitive(node.step.primitive, args, node.step.options)
        made[node] = Node(FORM, node.value, is_input=True)
        made[node].step = step
    given = list(reads.values())
    form, _ = form_of(
        "program",
        [(f"x{i}", Traced(inner)) for i, (_, inner) in enumerate(given)],
        [(f"y{i}", Traced(made[node])) for i, node in enumerate(makes)],
    )
    dtype = next((node.value.dtype for node, _ in given if node.value.dtype.kind == "f"), None)
    if dtype is None:
        raise NoVectorCodeError("it reads no floating numbers")
    kernel = compiled(form, dtype)
    arrays = [*(node.value for node, _ in given), *(node.value for node in makes)]
    kernel.check(arrays)
    specs = tuple((array.shape, array.dtype) for array in arrays)
    steps = sum(not views_something(node) for node in members)
    cost = estimates(kernel, specs, copied=False)
    if not steps or _only_picks(members):
        cost = cost._replace(numpy_us=0.0)
    return Cluster(
        kernel, [node for node, _ in given], makes, steps, cost, kernel.shares(kernel.walk(arrays))
    )


def _only_picks(members: Sequence[Node]) -> bool:
    """Return whether steps pick elements of rows that nothing else reads; a kernel reads whole rows."""
    steps = [node for node in members if node.step is not None and not views_something(node)]
    picks = [node for node in steps if node.step is not None and node.step.primitive.form == "pick"]
    rows = max((operands(node)[0].value.size for node in picks), default=0)
    return bool(picks) and all(node in picks or node.value.size < rows for node in steps)
