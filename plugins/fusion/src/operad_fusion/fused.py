"""The operator that computes a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import prod
from time import perf_counter
from typing import Any, ClassVar, Final, final

import numpy as np

from operad.dtypes import DType
from operad.first_use import cached_property
from operad.graph import Composite, CompositeReport, Entry, OpNode
from operad.ndarray import NDArray, array
from operad.operator import (
    Cost,
    InferredShapes,
    InferredTypes,
    Kernel,
    KernelCall,
    OperatorProperty,
    PartialShape,
    ScalarForm,
    Shape,
)
from operad_fusion.merging import Merged
from operad_fusion.views import InPlace
from operad_sdk.vector import CompiledForm, compiled, lying
from operad_sdk.vector.form_kernels import FormOperator, cost_of_arrays

Specs = tuple[tuple[Shape, DType], ...]


def _made(prop: OperatorProperty, *call: Any) -> FormOperator:
    assert isinstance(prop, Fused)
    _ = prop.compiled_s  # what runs may not compile
    return FormOperator("forward", prop, *call)


def _cost(call: KernelCall) -> Cost:
    prop = call.prop
    assert isinstance(prop, Fused)
    return cost_of_arrays(prop.compiled, prop.viewed_specs)


@final
class Fused(Composite):
    """Several nodes as one, by their common form.

    Args:
        merged: The form: its inputs are the arguments, its results the outputs.
        dtype: What is `real` in it.
        specs: Shape and type of each argument and then of each output.
        views: For each argument the view of it that the form reads, or None.
        members: The nodes.
        whole: Gives the form of which all that the members make is a result, with their shapes and types.
        in_place: Gives what is passed over where members read parts of arrays.
        neighbours: Gives the nodes beside the members, and why they are none.
    """

    name = "_fused"
    has_gradient = False
    kernels: ClassVar[list[Kernel]] = [Kernel("_fused.vector", _made, "cpu", cost=_cost)]

    def __init__(
        self,
        merged: Merged,
        dtype: DType,
        specs: Specs,
        members: Sequence[OpNode],
        whole: Callable[[], tuple[Merged, Specs]],
        in_place: Callable[[], InPlace],
        neighbours: Callable[[], Mapping[str, str]],
    ) -> None:
        super().__init__()
        self.form: Final[ScalarForm] = merged.form
        self.real: Final = dtype
        self.specs: Final = specs
        self.members = members
        self.member_outputs = merged.outputs
        self.views: Final = tuple(merged.views)
        counts = Counter(merged.inputs)
        # Those that are read whole, and in no other way: a result may lie in their memory.
        self._whole_inputs = [
            i
            for i, (entry, view) in enumerate(zip(merged.inputs, merged.views, strict=True))
            if view is None and counts[entry] == 1
        ]
        self.compiled: Final[CompiledForm] = compiled(merged.form, dtype)
        self._whole, self._in_place, self._neighbours = whole, in_place, neighbours
        arrays = lying(specs, self.views)
        self.viewed_specs: Final = [(each.shape, each.dtype) for each in arrays]
        self._shares = sorted(self.compiled.shares(self.compiled.walk(arrays)))

    @cached_property
    def compiled_s(self) -> float:
        """Seconds that it takes to compile the kernel, which is done where it is first asked for."""
        start = perf_counter()
        self.compiled.layout(self._viewed([np.empty(*spec) for spec in self.specs]))
        return perf_counter() - start

    def _viewed(self, arrays: Sequence[Any]) -> list[Any]:
        views = [*self.views, *[None] * (len(arrays) - len(self.views))]
        return [each if view is None else view.of(each) for each, view in zip(arrays, views, strict=True)]

    @property
    def passed_over(self) -> list[OpNode]:  # type: ignore[override]  # which nobody sets
        """Slices, reshapes and the like whose outputs are read where they are."""
        return self._in_place().nodes

    def member_values(self, inputs: Sequence[NDArray]) -> dict[Entry, NDArray]:
        """By a kernel of its own, whose instructions are the same."""
        whole, specs = self._whole()
        arrays = [each.asnumpy() for each in inputs]
        given = self._viewed(arrays)
        found = [np.empty(*spec) for spec in specs[len(given) :]]
        compiled(whole.form, self.compiled.dtype)(given, found)
        bases = dict(zip(whole.inputs, arrays, strict=True))
        made = [(entry, view.of(bases[base])) for entry, base, view in self._in_place().entries]
        made += zip(whole.outputs, found, strict=True)
        ctx = inputs[0].context
        values = dict(zip(whole.inputs, inputs, strict=True))
        return values | {entry: array(value, ctx, value.dtype) for entry, value in made}

    def about(self) -> CompositeReport:
        """Account of the cluster: members, what they save, what compiling took, what stands beside it."""
        whole, specs = self._whole()
        count = len(whole.inputs)
        made = sum(prod(shape) * dtype.itemsize for shape, dtype in specs[count:])
        written = sum(prod(shape) * dtype.itemsize for shape, dtype in self.specs[len(self.form.inputs) :])
        names = [node.name for node in self.members]
        return CompositeReport(names, made - written, self.compiled_s, dict(self._neighbours()))

    def list_arguments(self) -> list[str]:
        """The form's inputs."""
        return list(self.form.inputs)

    def list_outputs(self) -> list[str]:
        """The form's results."""
        return [result.name for result in self.form.results]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The shapes that it was made for."""
        shapes: list[Any] = [shape for shape, _ in self.specs]
        count = len(self.form.inputs)
        return shapes[:count], shapes[count:], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The types that it was made for."""
        types: list[Any] = [dtype for _, dtype in self.specs]
        count = len(self.form.inputs)
        return types[:count], types[count:], []

    def scalar_form(
        self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> ScalarForm | str:
        """The common form."""
        return self.form if part == "forward" else "a cluster is of a graph that has its gradients"

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """Pairs of one size of which the kernel reads the input before it writes the result."""
        count = len(in_data)
        return [
            (in_data[i], out_data[j])
            for i, j in self._shares
            if i in self._whole_inputs and self.specs[i] == self.specs[count + j]
        ]
