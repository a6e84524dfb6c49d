"""The operator that computes a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
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
from operad_fusion.clustering import Clustering, Specs
from operad_fusion.merging import Merged
from operad_sdk.form_kernels import View
from operad_sdk.vector import CompiledForm, compiled, lying
from operad_sdk.vector.compiled import walk_of
from operad_sdk.vector.form_kernels import FormOperator, cost_of_arrays


def _made(prop: OperatorProperty, *call: Any) -> FormOperator:
    assert isinstance(prop, Fused)
    _ = prop.at(call[1]).compiled_s  # what runs may not compile
    return FormOperator("forward", prop, *call)


def _cost(call: KernelCall) -> Cost:
    prop = call.prop
    assert isinstance(prop, Fused)
    return cost_of_arrays(prop.compiled, prop.at(call.in_shapes).viewed_specs)


@lru_cache(maxsize=4096)
def _laid_out(
    form: CompiledForm, specs: Specs, views: Sequence[View | None]
) -> tuple[Specs, list[tuple[int, int]]]:
    """Shapes and types of all that a form reads and writes, and the pairs that may lie at one address.

    Clusters that repeat have one answer.
    """
    arrays = lying(specs, views)
    viewed = tuple([(each.shape, each.dtype) for each in arrays])
    walk = form.walk(arrays) if any(views) else walk_of(form, viewed)
    return viewed, sorted(form.shares(walk))


@final
class Size:
    """A cluster whose arrays have some shapes.

    Args:
        form: Its compiled form.
        specs: Shape and type of each argument and then of each output.
        views: For each argument the view of it that the form reads, or None.
        late: Gives the clusters at this size, when they are asked about.
        numbers: Numbers of the members.

    Raises:
        NoVectorCodeError: There is no kernel for them.
    """

    def __init__(
        self,
        form: CompiledForm,
        specs: Specs,
        views: Sequence[View | None],
        late: Callable[[], Clustering],
        numbers: Sequence[int],
    ) -> None:
        self.specs: Final = specs
        self.views: Final = tuple(views)
        self.numbers: Final = numbers
        self.late: Final = late
        self._form = form
        self.viewed_specs, self.shares = _laid_out(form, specs, self.views)

    @cached_property
    def compiled_s(self) -> float:
        """Seconds that it takes to compile the kernel, which is done where it is first asked for."""
        start = perf_counter()
        self._form.layout(self.viewed([np.empty(*spec) for spec in self.specs]))
        return perf_counter() - start

    def viewed(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays, of the first of which the form reads views."""
        views = [*self.views, *[None] * (len(arrays) - len(self.views))]
        return [each if view is None else view.of(each) for each, view in zip(arrays, views, strict=True)]


@final
class Fused(Composite):
    """Several nodes as one, by their common form, at all sizes at which the same nodes are a cluster.

    Args:
        merged: The form: its inputs are the arguments, its results the outputs.
        dtype: What is `real` in it.
        members: The nodes.
    """

    name = "_fused"
    has_gradient = False
    kernels: ClassVar[list[Kernel]] = [Kernel("_fused.vector", _made, "cpu", cost=_cost)]

    def __init__(self, merged: Merged, dtype: DType, members: Sequence[OpNode]) -> None:
        super().__init__()
        self.form: Final[ScalarForm] = merged.form
        self.real: Final = dtype
        self.members = members
        self.member_outputs = merged.outputs
        counts = Counter(merged.inputs)
        # Those that are read whole, and in no other way: a result may lie in their memory.
        self._whole_inputs = [
            i
            for i, (entry, view) in enumerate(zip(merged.inputs, merged.views, strict=True))
            if view is None and counts[entry] == 1
        ]
        self.compiled: Final[CompiledForm] = compiled(merged.form, dtype)
        self._sizes: dict[tuple[Shape, ...], Size] = {}
        self._pairs: list[tuple[int, int]] = []

    def take(self, size: Size) -> bool:
        """Serve a size; False where it needs another operator.

        Two sizes that differ in views alone do, and such as allow other pairs in place.
        """
        count = len(self.form.inputs)
        specs, shapes = size.specs, tuple([shape for shape, _ in size.specs[:count]])
        pairs = [(i, j) for i, j in size.shares if i in self._whole_inputs and specs[i] == specs[count + j]]
        if not self._sizes:
            self._pairs = pairs
        known = self._sizes.setdefault(shapes, size)
        return pairs == self._pairs and (known.specs, known.views) == (specs, size.views)

    def at(self, in_shapes: Sequence[Shape]) -> Size:
        """The size at which the inputs have these shapes, one of those that it was made for."""
        return self._sizes[tuple(in_shapes)]

    def views_of(self, in_shapes: Sequence[Shape]) -> Sequence[View | None]:
        """For each input the view that the form reads, or None."""
        return self.at(in_shapes).views

    @property
    def passed_over(self) -> list[OpNode]:  # type: ignore[override]  # which nobody sets
        """Slices, reshapes and the like whose outputs are read where they are: the same at all sizes."""
        size = next(iter(self._sizes.values()))
        return size.late().in_place(size.numbers).nodes

    def member_values(self, inputs: Sequence[NDArray]) -> dict[Entry, NDArray]:
        """By a kernel of its own, whose instructions are the same."""
        size = self.at([each.shape for each in inputs])
        whole, specs = size.late().whole(size.numbers)
        arrays = [each.asnumpy() for each in inputs]
        given = size.viewed(arrays)
        found = [np.empty(*spec) for spec in specs[len(given) :]]
        compiled(whole.form, self.compiled.dtype)(given, found)
        bases = dict(zip(whole.inputs, arrays, strict=True))
        entries = size.late().in_place(size.numbers).entries
        made = [(entry, view.of(bases[base])) for entry, base, view in entries]
        made += zip(whole.outputs, found, strict=True)
        ctx = inputs[0].context
        values = dict(zip(whole.inputs, inputs, strict=True))
        return values | {entry: array(value, ctx, value.dtype) for entry, value in made}

    def about(self, in_shapes: Sequence[Shape]) -> CompositeReport:
        """Account of the cluster: members, what they save, what compiling took, what stands beside it."""
        size = self.at(in_shapes)
        whole, specs = size.late().whole(size.numbers)
        count = len(whole.inputs)
        made = sum(prod(shape) * dtype.itemsize for shape, dtype in specs[count:])
        written = sum(prod(shape) * dtype.itemsize for shape, dtype in size.specs[len(self.form.inputs) :])
        names = [node.name for node in self.members]
        neighbours = size.late().neighbours(size.numbers)
        return CompositeReport(names, made - written, size.compiled_s, neighbours)

    def list_arguments(self) -> list[str]:
        """The form's inputs."""
        return list(self.form.inputs)

    def list_outputs(self) -> list[str]:
        """The form's results."""
        return [result.name for result in self.form.results]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The shapes of a size that it was made for."""
        given: Any = tuple(in_shapes)
        size = self._sizes.get(given)
        if size is None:
            return [*given], [None] * len(self.form.results), []
        return [*given], [shape for shape, _ in size.specs[len(given) :]], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The types that it was made for, which are the same at all sizes."""
        size = next(iter(self._sizes.values()))
        types: list[Any] = [dtype for _, dtype in size.specs]
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
        return [(in_data[i], out_data[j]) for i, j in self._pairs]
