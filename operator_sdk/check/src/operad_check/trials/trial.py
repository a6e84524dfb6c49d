"""Running an operator on a case, on plain arrays, with every buffer in the caller's hand.

Nothing of an engine or executor is involved: a `Trial` does what they may do, so that a check can
do it one thing at a time. Arrays not given are made: copies of the case's inputs, outputs full of
poison. Everything that the operator's own code raises comes out as `OperatorRaised`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from operad.context import cpu
from operad.dtypes import DType
from operad.errors import ArgumentError, ShapeError
from operad.operator import (
    BackwardArrays,
    BackwardEntry,
    ForwardArrays,
    KernelCall,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    Shape,
    choose_among,
    is_computed_by_kernels,
    is_known,
    ranked,
)
from operad.resource import ResourceRequest
from operad_check.trials.case import Case
from operad_check.trials.cause import is_own
from operad_check.trials.resources import SPACE_FILL, resources_for
from operad_check.trials.subject import Subject
from operad_check.trials.violation import OperatorRaised

Array = npt.NDArray[Any]
Keep = Callable[[BackwardEntry, Array], Array | None]
"""Function that gives a backward pass an array, another array in its place, or None."""

POISON = 113
"""Contents of integer outputs before they are written; floating ones hold NaN."""


_BACKWARD_SEED = 1 << 20
"""Added to a case's seed for the random numbers of the backward pass."""


class CallStyle(Enum):
    """The ways an executor may call an operator."""

    PLAIN = "forward"
    PREPARED = "forward_templates"
    DIRECT = "direct"


class Forward(NamedTuple):
    """Results of a forward pass: outputs, auxiliary states, and the inputs it was given."""

    outputs: list[Any]
    aux: list[Array]
    inputs: list[Array]


@final
class Trial:
    """An operator bound to the shapes and types of a case.

    Attributes:
        subject: The operator under test.
        case: What it runs on.
        prop: Its property with the case's parameters.
        arguments: Names; `outputs` and `states` likewise.
        in_shapes: Shapes of the arguments; `out_shapes` as inferred. Types likewise.

    Raises:
        OperatorRaised: The property cannot be made, inference raises, or the case lacks an argument.
    """

    def __init__(self, subject: Subject, case: Case) -> None:
        self.subject = subject
        self.case = case
        with raising("the constructor"):
            self.prop = self.new_property()
        with raising("inference"):
            self.arguments = list(self.prop.list_arguments())
            self.outputs = list(self.prop.list_outputs())
            self.states = list(self.prop.list_auxiliary_states())
            self.visible = self.prop.num_visible_outputs
        lacking = [*({*self.arguments} - {*case.inputs}), *({*self.states} - {*case.aux})]
        if lacking:  # as where a parameter is another
            raise OperatorRaised("inference", ArgumentError(f"the case has no {', '.join(sorted(lacking))}"))
        self.inputs: list[Array] = [_whole(case.inputs[name]) for name in self.arguments]
        self.aux: list[Array] = [_whole(case.aux[name]) for name in self.states]
        self.in_shapes: list[Shape] = [array.shape for array in self.inputs]
        self.in_types: list[DType] = [array.dtype for array in self.inputs]
        with raising("inference"):
            self.out_shapes: list[Any] = self.prop.infer_shape(self.in_shapes)[1]
            self.out_types: list[Any] = self.prop.infer_type(self.in_types)[1]
        self._source: Trial | None = None

    def again(self) -> Trial:
        """A trial of the same case that has run nothing: the property and what it infers are shared."""
        twin = copy(self)
        lists = {name: list(value) for name, value in vars(self).items() if isinstance(value, list)}
        vars(twin).update(lists, _source=self)
        return twin

    def with_inputs(self, inputs: Sequence[Array]) -> Trial:
        """A trial of the same case on other arguments of the same shapes and types."""
        named = dict(zip(self.arguments, inputs, strict=True))
        return Trial(self.subject, replace(self.case, inputs=named))

    def new_property(self) -> OperatorProperty:
        """The operator with the case's parameters, specialised to its values where shapes depend on those."""
        prop: OperatorProperty = self.subject.cls(**self.case.params)
        if prop.is_shaped_by_values:
            prop = prop.for_values([self.case.inputs[name] for name in prop.list_arguments()])
        return prop

    @cached_property
    def operator(self) -> Operator:
        """One operator, the same for the whole trial."""
        return self.new_operator()

    @cached_property
    def paths(self) -> dict[str, Operator]:
        """An operator of each path: "plain", and "compiled" if kernels follow from its own functions."""
        found = {"plain": self.operator}
        if is_computed_by_kernels(self.prop) and self.prop.derived_kernels():
            found["compiled"] = self.new_operator(as_in_programs=True)
        return found

    def new_operator(self, as_in_programs: bool = False) -> Operator:
        """An operator that has run nothing yet.

        Kernels that follow from the operator's own functions are left out: those functions are under test, as
        they run for small arrays, and D606 compares the kernels with them.

        Args:
            as_in_programs: Whether it may have these kernels, too.
        """
        prop, given = self.prop, (self.in_shapes, self.in_types)
        with raising("create_operator"):
            is_any = not as_in_programs and is_computed_by_kernels(prop)
            derived = prop.derived_kernels() if is_any else ()
            if not derived:
                return prop.create_operator(cpu(), *given)
            call = KernelCall(prop, cpu(), *given, is_bare=True)
            others = [one for one in ranked(call) if one not in derived and one.rejection(call) is None]
            return choose_among(call, others).operator()

    def forward(
        self,
        inputs: Sequence[Array] | None = None,
        *,
        req: Sequence[OpReq] | None = None,
        outputs: Sequence[Any] | None = None,
        aux: Sequence[Array] | None = None,
        call: CallStyle = CallStyle.PLAIN,
        operator: Operator | None = None,
        is_train: bool | None = None,
        resources: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> Forward:
        """Run the forward pass.

        Args:
            inputs: Default: copies of the case's.
            req: Default: WRITE for all.
            outputs: Default: poisoned arrays.
            aux: Default: copies of the case's.
            operator: Default: the trial's own.
            resources: In place of those that the operator's requests and `seed` give.
        """
        operator = operator or self.operator
        given = list(map(_whole, inputs)) if inputs is not None else [array.copy() for array in self.inputs]
        arrays = list(outputs) if outputs is not None else self.poisoned_outputs()
        states = list(aux) if aux is not None else [array.copy() for array in self.aux]
        requests = list(req) if req is not None else [OpReq.WRITE] * len(arrays)
        op_ctx = self.context(self.prop.forward_resource(self.in_shapes), is_train, resources, seed)
        before = [array.shape for array in (*given, *states)]
        with raising("forward"):
            if call is CallStyle.PLAIN:
                operator.forward(op_ctx, ForwardArrays(given, requests, arrays, states))
            elif call is CallStyle.PREPARED:
                operator.prepare_forward(op_ctx, ForwardArrays(given, requests, arrays, states))()
            else:
                assert operator.direct is not None
                operator.direct(*given, *arrays, *states)
            _expect_shapes([*self.arguments, *self.states], before, [*given, *states])
        return Forward(arrays, states, given)

    @cached_property
    def result(self) -> Forward:
        """One forward pass on the case as it is."""
        return self.forward()

    def expect_repeatable(self) -> None:
        """Raise OperatorRaised if two runs differ anyhow, so that comparing runs says nothing.

        Raises:
            OperatorRaised: A second run on the same case gives something else.
        """
        if not self._is_repeatable and not self.subject.contract.nondeterministic:
            raise OperatorRaised("forward", RuntimeError("a second run gives something else"))

    @cached_property
    def _is_repeatable(self) -> bool:
        again = self.forward().outputs
        pairs = zip(self.result.outputs, again, strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    def written(self, outputs: Sequence[Any]) -> list[Any]:
        """The outputs that a pass in the case's mode promises to write; None for the others."""
        optional = () if self.case.is_train else getattr(self.prop, "train_only_outputs", ())
        return [None if place in optional else array for place, array in enumerate(outputs)]

    @property
    def is_shaped_by_values(self) -> bool:
        """Return whether other values of the inputs may give outputs of other shapes."""
        return bool(self.subject.cls(**self.case.params).is_shaped_by_values)

    @cached_property
    def is_runnable(self) -> bool:
        """True if both passes run on this case; if not, other checks report it."""
        try:
            assert self.result
            if any(self.differentiable()):
                assert self.gradients
        except OperatorRaised:
            return False
        return True

    @cached_property
    def out_grads(self) -> list[Any]:
        """One array per visible output, from the case or made from its seed; None for hidden outputs."""
        if self._source is not None:
            return list(self._source.out_grads)
        made = self.case.out_grads or [
            self.lattice(shape, dtype, salt)
            for salt, (shape, dtype) in enumerate(zip(self.out_shapes, self.out_types, strict=True))
            if salt < self.visible
        ]
        return [*made, *[None] * (len(self.outputs) - self.visible)]

    def backward(
        self,
        out_grads: Sequence[Any] | None = None,
        *,
        inputs: Sequence[Array] | None = None,
        outputs: Sequence[Array] | None = None,
        req: Sequence[OpReq] | None = None,
        in_grads: Sequence[Any] | None = None,
        aux: Sequence[Array] | None = None,
        keep: Keep | None = None,
        operator: Operator | None = None,
        prepared: bool = False,
        is_train: bool | None = None,
        resources: Sequence[Any] | None = None,
        fill: int = SPACE_FILL,
    ) -> list[Any]:
        """Run the backward pass; returns the gradients, None where the request is NULL.

        Args:
            out_grads: One per output; None for hidden ones. Default: `self.out_grads`.
            inputs: Default: the case's; `outputs`: those of `self.result`. Copies are handed over.
            req: Default: WRITE for every argument that a gradient flows to, else NULL.
            in_grads: Default: poisoned arrays, None where nothing is wanted.
            keep: Replaces what the pass sees of each array; default: every array, declared or not.
        """
        operator = operator or self.operator
        requests = list(req) if req is not None else self.write_requests()
        sources = {
            "out_grad": out_grads if out_grads is not None else self.out_grads,
            "in_data": inputs if inputs is not None else self.inputs,
            "out_data": outputs if outputs is not None else self.result.outputs,
        }
        given = {
            kind: [
                None if array is None else _kept(keep, kind, i, _whole(array))
                for i, array in enumerate(arrays)
            ]
            for kind, arrays in sources.items()
        }
        grads = list(in_grads) if in_grads is not None else self.poisoned_gradients(requests)
        states = list(aux) if aux is not None else [array.copy() for array in self.result.aux]
        needs = self.prop.backward_resource(self.in_shapes)
        # what forward drew is gone: numbers drawn in backward are others
        op_ctx = self.context(needs, is_train, resources, self.case.seed + _BACKWARD_SEED, fill)
        record = BackwardArrays(**given, req=requests, in_grad=grads, aux_states=states)
        with raising("backward"):
            if prepared:
                operator.prepare_backward(op_ctx, record)()
            else:
                operator.backward(op_ctx, record)
        return grads

    @cached_property
    def gradients(self) -> list[Any]:
        """One backward pass on the case as it is."""
        return self.backward()

    def any_gradients(self, **arguments: Any) -> list[Any]:
        """As `backward`; None for each argument, without a run, where a gradient flows to none."""
        return self.backward(**arguments) if any(self.differentiable()) else [None] * len(self.arguments)

    def context(
        self,
        requests: Sequence[ResourceRequest],
        is_train: bool | None = None,
        resources: Sequence[Any] | None = None,
        seed: int | None = None,
        fill: int = SPACE_FILL,
    ) -> OpContext:
        """The context of one run, with stand-ins for what is requested."""
        found = tuple(resources) if resources is not None else None
        if found is None:
            found = resources_for(requests, self.case.seed if seed is None else seed, fill)
        return OpContext(cpu(), self.case.is_train if is_train is None else is_train, found)

    def differentiable(self) -> list[bool]:
        """The arguments that a gradient flows to: declared so, and floating."""
        flags = list(self.prop.differentiable_inputs())
        if len(flags) != len(self.arguments):
            raise OperatorRaised("differentiable_inputs", ValueError(f"expected {len(self.arguments)} flags"))
        return [flag and dtype.kind == "f" for flag, dtype in zip(flags, self.in_types, strict=True)]

    @property
    def gradient_names(self) -> list[str]:
        """Names of the gradients, for messages: one per argument."""
        return [f"gradient of {name}" for name in self.arguments]

    def write_requests(self) -> list[OpReq]:
        """WRITE where a gradient flows, else NULL."""
        return [OpReq.WRITE if flows else OpReq.NULL for flows in self.differentiable()]

    def poisoned_outputs(self) -> list[Array]:
        """New outputs full of NaN, or of `POISON`."""
        for name, shape, dtype in zip(self.outputs, self.out_shapes, self.out_types, strict=True):
            if not is_known(shape) or dtype is None:
                raise OperatorRaised("inference", ShapeError(f"{name} is inferred as {shape} of {dtype}"))
        return [poisoned(shape, dtype) for shape, dtype in zip(self.out_shapes, self.out_types, strict=True)]

    def poisoned_gradients(self, req: Sequence[OpReq]) -> list[Array | None]:
        """New gradients full of poison; None where nothing is wanted."""
        described = zip(req, self.in_shapes, self.in_types, strict=True)
        return [None if r is OpReq.NULL else poisoned(shape, dtype) for r, shape, dtype in described]

    def lattice(self, shape: Shape, dtype: Any, salt: int) -> Array:
        """Multiples of 1/8 between -2 and 2, none of them 0, which the case's seed and `salt` determine."""
        values = np.random.default_rng([self.case.seed, salt]).integers(-16, 17, shape) / 8
        return np.where(values == 0, 0.125, values).astype(dtype)


def poisoned(shape: Shape, dtype: Any) -> Array:
    """An array that shows where it was not written."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else POISON, dtype)


@contextmanager
def raising(where: str) -> Iterator[None]:
    """Turn what the operator's code raises into `OperatorRaised`; floating-point warnings are off.

    One of the harness's own code, other than of the block itself, is no operator's, and stays what it is.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except (Exception, SystemExit) as error:
        if is_own(error, outside=2):
            raise
        raise OperatorRaised(where, error) from error


def _expect_shapes(names: Sequence[str], before: Sequence[Shape], arrays: Sequence[Array]) -> None:
    """Raise ShapeError if an operator gave an argument another shape, and so changed its caller's array."""
    for name, shape, array in zip(names, before, arrays, strict=True):
        if array.shape != shape:
            raise ShapeError(f"it changes the shape of {name} from {shape} to {array.shape}")


def _kept(keep: Keep | None, kind: str, index: int, array: Array) -> Array | None:
    return array.copy() if keep is None else keep(BackwardEntry(kind, index), array)


def _whole(array: Any) -> Any:
    """The array; one without axes is a number after NumPy has computed it, and becomes an array again."""
    return np.asarray(array) if isinstance(array, np.generic) else array
