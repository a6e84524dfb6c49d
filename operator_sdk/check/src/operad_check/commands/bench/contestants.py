"""The ways to compute one call: each kernel on plain arrays, the imperative call, NumPy.

Everything is set up once, so that a run is the call alone; and every way leaves its outputs where
they can be compared before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad import nd, resource
from operad.context import cpu
from operad.dtypes import DType
from operad.errors import OutOfMemoryError
from operad.operator import (
    FORWARD,
    Array,
    BackwardArrays,
    Candidate,
    ForwardArrays,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    Shape,
    candidates,
)
from operad.resource import ResourceRequest
from operad_check.commands.bench.counterparts import Counterpart
from operad_sdk.contract import contract_of
from operad_sdk.domains import Real
from operad_sdk.errors import DeclarationError

REJECTED: Final = " (rejected)"
"""Follows the name of a kernel whose condition does not hold."""
_SEED = 0
_DATA, _STATE = Real(0.25, 0.75), Real(0.5, 2.0)


@final
class Contestant(NamedTuple):
    """One way to compute the call.

    Attributes:
        name: For people.
        run: Does it once.
        outputs: Gives the outputs of the last run.
    """

    name: str
    run: Callable[[], object]
    outputs: Callable[[], Sequence[Array]]


@final
class SampleCall:
    """One call of an operator: its property and its arrays.

    Attributes:
        prop: The operator with its parameters.
        inputs: Arrays of the arguments, drawn from the domains that the author declared.
        aux: Arrays of the auxiliary states.
    """

    def __init__(self, prop: OperatorProperty, shapes: Sequence[Shape], dtype: DType) -> None:
        self.prop = prop
        arguments, self._out_shapes, aux_shapes = prop.infer_shape(shapes)
        given = [dtype, *[None] * (len(shapes) - 1)] if shapes else []
        types, _, aux_types = prop.infer_type(given)
        try:
            self.inputs = self._drawn(prop.list_arguments(), arguments, types, dtype, _DATA)
            self.aux = self._drawn(prop.list_auxiliary_states(), aux_shapes, aux_types, dtype, _STATE)
            self._out_types = prop.infer_type([array.dtype for array in self.inputs])[1]
        except (MemoryError, ValueError) as error:  # NumPy raises either, by size
            raise OutOfMemoryError(
                f"bench: arrays of shapes {[*arguments, *aux_shapes]} cannot be made ({error}); "
                "give smaller ones by --shape"
            ) from error

    @property
    def is_random(self) -> bool:
        """True if two runs may differ."""
        requests = self.prop.forward_resource(self._shapes)
        return any(r is not ResourceRequest.TEMP_SPACE for r in requests)

    def kernels(self) -> list[Contestant]:
        """Kernels that apply, the chosen one first."""
        return [self.contestant(kernel) for kernel, rejection in self._candidates() if rejection is None]

    def rejected(self) -> list[Contestant]:
        """Kernels for the CPU whose condition does not hold, and that run nevertheless."""
        found = []
        for kernel, rejection in self._candidates():
            if rejection is None or kernel.device not in ("any", "cpu") or not self._computes(kernel):
                continue
            with suppress(Exception):  # what it was not written for may do anything but be fast
                made = self.contestant(kernel)
                made.run()
                found.append(made._replace(name=f"{kernel.name}{REJECTED}"))
        return found

    def _candidates(self) -> list[Candidate]:
        return candidates(self.prop, cpu(), self._shapes, [array.dtype for array in self.inputs])

    def _computes(self, kernel: Kernel) -> bool:
        with suppress(DeclarationError):  # of names that are not there for these parameters
            return kernel.computes(self.prop, FORWARD)
        return False

    def imperative(self) -> Contestant:
        """The call of `operad.nd`, waited for."""
        function = getattr(nd, self.prop.name)
        arrays = [nd.array(array, dtype=array.dtype) for array in [*self.inputs, *self.aux]]
        params = self.prop.get_params()
        last: list[Any] = []

        def run() -> None:
            found = function(*arrays, **params)
            last[:] = found if isinstance(found, list) else [found]
            for array in last:
                array.wait_to_read()

        return Contestant(f"nd.{self.prop.name}", run, lambda: [array.asnumpy() for array in last])

    def numpy(self, name: str, compute: Counterpart) -> Contestant:
        """NumPy's way."""
        last: list[Any] = []
        states = dict(zip(self.prop.list_auxiliary_states(), self.aux, strict=True))

        def run() -> None:
            last[:] = [compute(self.inputs, states)]

        def outputs() -> Sequence[Array]:
            return list(last[0]) if isinstance(last[0], tuple) else [np.asarray(last[0])]

        return Contestant(name, run, outputs)

    def gradient(self) -> Callable[[], object] | None:
        """Backward pass of the chosen kernel, for all gradients; None if there are none."""
        prop = self.prop
        wanted = [
            flows and array.dtype.kind == "f"
            for flows, array in zip(prop.differentiable_inputs(), self.inputs, strict=True)
        ]
        if not any(wanted):
            return None
        operator = prop.create_operator(cpu(), self._shapes, [array.dtype for array in self.inputs])
        out = self._empty_outputs()
        self._prepared(operator, out)()
        visible = out[: prop.num_visible_outputs]
        heads = [np.ones_like(array) for array in visible]
        requests = [OpReq.WRITE if want else OpReq.NULL for want in wanted]
        pairs = zip(self.inputs, wanted, strict=True)
        grads = [np.empty_like(array) if want else None for array, want in pairs]
        return operator.prepare_backward(
            self._context(prop.backward_resource(self._shapes)),
            BackwardArrays(heads, self.inputs, out, requests, grads, [array.copy() for array in self.aux]),
        )

    @property
    def _shapes(self) -> list[Shape]:
        return [array.shape for array in self.inputs]

    def contestant(self, kernel: Kernel) -> Contestant:
        """The outputs by one kernel."""
        operator = kernel.factory(self.prop, cpu(), self._shapes, [array.dtype for array in self.inputs])
        out = self._empty_outputs()
        visible = out[: self.prop.num_visible_outputs]
        return Contestant(kernel.name, self._prepared(operator, out), lambda: visible)

    def _prepared(self, operator: Operator, out: Sequence[Array]) -> Callable[[], object]:
        op_ctx = self._context(self.prop.forward_resource(self._shapes))
        requests = [OpReq.WRITE] * len(out)
        states = [array.copy() for array in self.aux]
        return operator.prepare_forward(op_ctx, ForwardArrays(self.inputs, requests, out, states))

    def _context(self, requests: Sequence[ResourceRequest]) -> OpContext:
        return OpContext(cpu(), is_train=False, requested=resource.get().request_all(cpu(), requests))

    def _empty_outputs(self) -> list[Array]:
        return [
            np.empty(shape, dtype) for shape, dtype in zip(self._out_shapes, self._out_types, strict=True)
        ]

    def _drawn(
        self, names: Sequence[str], shapes: Sequence[Any], types: Sequence[Any], dtype: DType, default: Real
    ) -> list[Array]:
        rng = np.random.default_rng(_SEED)
        contract = contract_of(type(self.prop))
        known = dict(zip(names, shapes, strict=True))
        draw = partial(_draw, rng, self.prop, known)
        return [
            draw(contract.domain(name) or default, shape, found or dtype)
            for name, shape, found in zip(names, shapes, types, strict=True)
        ]


def _draw(
    rng: np.random.Generator, prop: OperatorProperty, shapes: Any, domain: Any, shape: Shape, dtype: DType
) -> Array:
    values = domain.draw(rng, shape, prop, shapes)
    if dtype.kind in "iu" and domain is _DATA:
        values = rng.integers(1, 4, shape)
    return np.asarray(values).astype(dtype)
