"""Checks of the passes of one operator: `check_forward` and `gradient_check`.

They go through the operator contract with plain NumPy arrays and no engine, and show an operator
what an executor may show it: every request, declared sharing of memory, outputs full of NaN, and in
a backward pass only the arrays that were declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from operad.context import cpu
from operad.operator import BackwardArrays, ForwardArrays, OpContext, Operator, OperatorProperty, OpReq
from operad.resource import ResourceRequest

Array = npt.NDArray[Any]

_POISON: Final = 113
"""Contents of integer outputs before they are written; floating ones hold NaN."""


def check_forward(
    op: Any,
    inputs: Sequence[Any],
    expected: Array | Sequence[Any] | Callable[..., Any] | None = None,
    *,
    aux: Sequence[Any] = (),
    is_train: bool = True,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    seed: int = 0,
    **params: Any,
) -> list[Array]:
    """Check the forward pass on `inputs`, and return the outputs.

    The outputs have the inferred shapes and types, every element of them is written, the inputs are
    unchanged, and writing, adding, writing nothing, writing over an input, and the prepared call
    give the same.

    Args:
        op: What an entry point names, or a property.
        expected: The outputs (leading ones suffice), or a function of the inputs that returns them.
        aux: Auxiliary states before the call; they are left as they are.
        seed: Of random resources, the same for every run.
        params: Parameters of the operator.
    """
    trial = _Trial(op, inputs, aux, is_train, seed, params)
    outputs = trial.forward()
    _check_described(trial, outputs)
    if expected is not None:
        wanted = expected(*trial.inputs) if callable(expected) else expected
        wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
        for name, got, want in zip(trial.prop.list_outputs(), outputs, wanted, strict=False):
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"{trial.name}: {name}")
    for name, prepared in zip(trial.prop.list_outputs(), trial.forward(prepare=True), strict=True):
        index = trial.prop.list_outputs().index(name)
        np.testing.assert_array_equal(prepared, outputs[index], f"{trial.name}: prepared call, {name}")
    _check_requests(trial, outputs)
    _check_forward_inplace(trial, outputs)
    return outputs


def gradient_check(
    op: Any,
    inputs: Sequence[Any],
    expected: Sequence[Any] | None = None,
    *,
    aux: Sequence[Any] = (),
    is_train: bool = True,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    epsilon: float = 1e-6,
    seed: int = 0,
    **params: Any,
) -> list[Array | None]:
    """Check the gradients on `inputs`, and return them (None where there is none).

    They equal central differences in float64, whether written, added, or asked for one by one; and
    no undeclared array, no old contents and no declared sharing of memory changes them.

    Args:
        inputs: Small arrays at points where the operator is smooth. Floating ones are taken as
            float64.
        expected: The gradients (None: unchecked), for an operator whose gradient is not that of its
            output, such as a loss; left out: they are found numerically.
        epsilon: Half the distance of the two points of a difference.
    """
    double = [np.asarray(value) for value in inputs]
    double = [value.astype(np.float64) if value.dtype.kind == "f" else value for value in double]
    trial = _Trial(op, double, [np.asarray(state, np.float64) for state in aux], is_train, seed, params)
    outputs = trial.forward()
    rng = np.random.default_rng(seed)
    visible = trial.prop.num_visible_outputs
    out_grads = [rng.uniform(0.5, 1.5, output.shape) for output in outputs[:visible]]
    wanted = [
        flows and value.dtype.kind == "f"
        for flows, value in zip(trial.prop.differentiable_inputs(), trial.inputs, strict=True)
    ]
    gradients = trial.backward(outputs, out_grads, [OpReq.WRITE if w else OpReq.NULL for w in wanted])
    for index, name in enumerate(trial.prop.list_arguments()):
        if not wanted[index]:
            continue
        if expected is None:
            want = _numeric_gradient(trial, index, out_grads, epsilon)
        elif expected[index] is None:
            continue
        else:
            want = expected[index]
        np.testing.assert_allclose(
            gradients[index], want, rtol=rtol, atol=atol, err_msg=f"{trial.name}: gradient of {name}"
        )
    _check_gradient_requests(trial, outputs, out_grads, wanted, gradients)
    _check_backward_inplace(trial, outputs, out_grads, wanted, gradients)
    return gradients


@final
@dataclass(slots=True)
class _Resource:
    """Stands for every kind of resource; made anew for each run."""

    generator: np.random.Generator

    def generators(self, count: int) -> list[np.random.Generator]:
        return self.generator.spawn(count)

    def get_space(self, shape: tuple[int, ...], dtype: Any) -> Array:
        return _poisoned(shape, np.dtype(dtype))


@final
class _Trial:
    """One operator with the inputs it is tried on."""

    def __init__(
        self,
        op: Any,
        inputs: Sequence[Any],
        aux: Sequence[Any],
        is_train: bool,
        seed: int,
        params: dict[str, Any],
    ) -> None:
        self.prop: OperatorProperty = _property(op, params)
        self.name = repr(self.prop)
        self.inputs: list[Array] = [np.asarray(value) for value in inputs]
        self.aux: list[Array] = [np.asarray(state) for state in aux]
        self.in_shapes = [value.shape for value in self.inputs]
        self.in_types = [value.dtype for value in self.inputs]
        self.out_shapes: list[Any] = self.prop.infer_shape(self.in_shapes)[1]
        self.out_types: list[Any] = self.prop.infer_type(self.in_types)[1]
        self.operator: Operator = self.prop.create_operator(cpu(), self.in_shapes, self.in_types)
        self._is_train = is_train
        self._seed = seed

    def forward(
        self,
        inputs: Sequence[Array] | None = None,
        req: Sequence[OpReq] | None = None,
        out: Sequence[Array] | None = None,
        *,
        prepare: bool = False,
    ) -> list[Array]:
        """Outputs, written to poisoned memory unless given; the inputs are checked afterwards."""
        given = list(self.inputs if inputs is None else inputs)
        arrays = list(self.empty_outputs() if out is None else out)
        requests = list(req or [OpReq.WRITE] * len(arrays))
        before = [value.copy() for value in given]
        states = [state.copy() for state in self.aux]
        op_ctx = self._context(self.prop.forward_resource(self.in_shapes))
        if prepare:
            self.operator.prepare_forward(op_ctx, ForwardArrays(given, requests, arrays, states))()
        else:
            self.operator.forward(op_ctx, ForwardArrays(given, requests, arrays, states))
        if inputs is None:
            for name, now, then in zip(self.prop.list_arguments(), given, before, strict=True):
                np.testing.assert_array_equal(now, then, f"{self.name}: forward changed its input {name}")
        return arrays

    def backward(
        self,
        outputs: Sequence[Array],
        out_grads: Sequence[Array],
        req: Sequence[OpReq],
        grads: Sequence[Array | None] | None = None,
        share: tuple[Any, int] | None = None,
    ) -> list[Any]:
        """Gradients, from copies of the declared arrays and of no others.

        Args:
            share: An entry and an argument whose gradient is to be written over it.
        """
        declared = set(self.prop.backward_dependency([r is not OpReq.NULL for r in req]))
        sources = {"out_grad": out_grads, "in_data": self.inputs, "out_data": outputs}
        given = {
            kind: [array.copy() if (kind, i) in declared else None for i, array in enumerate(arrays)]
            for kind, arrays in sources.items()
        }
        targets = list(grads) if grads is not None else self._empty_gradients(req)
        if share is not None:
            (kind, place), target = share
            targets[target] = given[kind][place]
        op_ctx = self._context(self.prop.backward_resource(self.in_shapes))
        states = [state.copy() for state in self.aux]
        self.operator.backward(op_ctx, BackwardArrays(**given, req=req, in_grad=targets, aux_states=states))
        return targets

    def empty_outputs(self) -> list[Array]:
        """Poisoned outputs."""
        return [_poisoned(shape, dtype) for shape, dtype in zip(self.out_shapes, self.out_types, strict=True)]

    def _empty_gradients(self, req: Sequence[OpReq]) -> list[Array | None]:
        described = zip(req, self.in_shapes, self.in_types, strict=True)
        return [None if r is OpReq.NULL else _poisoned(shape, dtype) for r, shape, dtype in described]

    def _context(self, requests: Sequence[ResourceRequest]) -> OpContext:
        resources = tuple(_Resource(np.random.default_rng([self._seed, i])) for i in range(len(requests)))
        return OpContext(cpu(), self._is_train, resources)


def _property(op: Any, params: dict[str, Any]) -> OperatorProperty:
    if isinstance(op, OperatorProperty):
        return op
    made: OperatorProperty = op(**params)
    return made


def _check_described(trial: _Trial, outputs: Sequence[Array]) -> None:
    assert all(type(size) is int for shape in trial.out_shapes for size in shape), (
        f"{trial.name}: inferred output shapes {trial.out_shapes}, expected whole numbers"
    )
    again = trial.forward()
    for name, output, repeated in zip(trial.prop.list_outputs(), outputs, again, strict=True):
        np.testing.assert_array_equal(output, repeated, f"{trial.name}: {name} differs between two runs")
        if output.dtype.kind in "iu":
            continue
        clean = all(np.isfinite(value).all() for value in trial.inputs if value.dtype.kind == "f")
        assert not (clean and np.isnan(output).any()), (
            f"{trial.name}: {name} has elements that were not written"
        )


def _check_requests(trial: _Trial, outputs: Sequence[Array]) -> None:
    names = trial.prop.list_outputs()
    bases = [np.ones_like(output) for output in outputs]
    added = trial.forward(req=[OpReq.ADD] * len(outputs), out=bases)
    for name, got, output in zip(names, added, outputs, strict=True):
        np.testing.assert_allclose(
            got, output + np.ones_like(output), 1e-3, 1e-3, err_msg=f"{trial.name}: add, {name}"
        )
    for index, name in enumerate(names):
        requests = [OpReq.NULL if i == index else OpReq.WRITE for i in range(len(names))]
        arrays = trial.empty_outputs()
        before = arrays[index].copy()
        trial.forward(req=requests, out=arrays)
        np.testing.assert_array_equal(
            arrays[index], before, f"{trial.name}: null request, {name} was written"
        )
        for other, got in enumerate(arrays):
            if other != index:
                np.testing.assert_array_equal(
                    got, outputs[other], f"{trial.name}: {names[other]} without {name}"
                )


def _check_forward_inplace(trial: _Trial, outputs: Sequence[Array]) -> None:
    pairs = trial.prop.forward_inplace_option(range(len(trial.inputs)), range(len(outputs)))
    for source, target in pairs:
        shared = [value.copy() for value in trial.inputs]
        if shared[source].shape != outputs[target].shape or shared[source].dtype != outputs[target].dtype:
            continue
        arrays = trial.empty_outputs()
        arrays[target] = shared[source]
        requests = [OpReq.INPLACE if i == target else OpReq.WRITE for i in range(len(arrays))]
        trial.forward(shared, requests, arrays)
        for name, got, output in zip(trial.prop.list_outputs(), arrays, outputs, strict=True):
            np.testing.assert_array_equal(got, output, f"{trial.name}: in place of input {source}, {name}")


def _check_gradient_requests(
    trial: _Trial,
    outputs: Sequence[Array],
    out_grads: Sequence[Array],
    wanted: Sequence[bool],
    gradients: Sequence[Array | None],
) -> None:
    bases = [np.ones_like(value) if w else None for value, w in zip(trial.inputs, wanted, strict=True)]
    added = trial.backward(outputs, out_grads, [OpReq.ADD if w else OpReq.NULL for w in wanted], bases)
    for index, name in enumerate(trial.prop.list_arguments()):
        gradient = gradients[index]
        if gradient is None:
            continue
        np.testing.assert_allclose(
            added[index], gradient + 1, 1e-9, 1e-9, err_msg=f"{trial.name}: add, gradient of {name}"
        )
        alone = [OpReq.WRITE if i == index else OpReq.NULL for i in range(len(wanted))]
        np.testing.assert_array_equal(
            trial.backward(outputs, out_grads, alone)[index],
            gradient,
            f"{trial.name}: gradient of {name} alone",
        )


def _check_backward_inplace(
    trial: _Trial,
    outputs: Sequence[Array],
    out_grads: Sequence[Array],
    wanted: Sequence[bool],
    gradients: Sequence[Array | None],
) -> None:
    arrays = {"out_grad": out_grads, "in_data": trial.inputs, "out_data": outputs}
    entries = {kind: [(kind, i) for i in range(len(group))] for kind, group in arrays.items()}
    pairs = trial.prop.backward_inplace_option(
        entries["out_grad"], entries["in_data"], entries["out_data"], range(len(wanted))
    )
    for (kind, place), target in pairs:
        shared, gradient = arrays[kind][place], gradients[target]
        if gradient is None or shared.shape != gradient.shape or shared.dtype != gradient.dtype:
            continue
        requests = [OpReq.WRITE if w else OpReq.NULL for w in wanted]
        requests[target] = OpReq.INPLACE
        got = trial.backward(outputs, out_grads, requests, share=((kind, place), target))
        for index, name in enumerate(trial.prop.list_arguments()):
            if gradients[index] is not None:
                message = f"{trial.name}: gradient of {name} where one shares memory with {kind} {place}"
                np.testing.assert_array_equal(got[index], gradients[index], message)


def _numeric_gradient(trial: _Trial, index: int, out_grads: Sequence[Array], epsilon: float) -> Array:
    def loss(shifted: Array) -> float:
        inputs = [shifted if i == index else value for i, value in enumerate(trial.inputs)]
        outputs = trial.forward(inputs)
        return float(sum((grad * out).sum() for grad, out in zip(out_grads, outputs, strict=False)))

    base = trial.inputs[index]
    gradient = np.empty_like(base)
    for place in np.ndindex(base.shape):
        ahead, behind = base.copy(), base.copy()
        ahead[place] += epsilon
        behind[place] -= epsilon
        gradient[place] = (loss(ahead) - loss(behind)) / (2 * epsilon)
    return gradient


def _poisoned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return np.full(shape, np.nan if dtype.kind == "f" else dtype.type(_POISON), dtype)
