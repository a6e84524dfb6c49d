"""Operators as custom operators of PyTorch: `torch.ops.operad.<name>`.

An operator whose outputs are all visible and which has no states is one function of PyTorch's, with a kernel,
a fake kernel and autograd. So is one without a gradient, whatever states it changes.

PyTorch differentiates functions only that change nothing and returns all that they give. So an operator that
has a gradient, and states or hidden outputs, becomes two: `<name>__functional` returns outputs, hidden ones
and new states, and has the gradient; `<name>` calls it, changes the states and returns what is visible.

Gradients are computed by `<name>__backward`; see `torch_gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, final

import torch

from operad_export import torch_arrays as memory
from operad_export.parameters import parsed
from operad_export.parameters import values as values_of
from operad_export.plain import PlainOperator
from operad_export.signature import OperatorSignature, signature_of
from operad_export.torch_gradients import described, gradients, keep, register_backward
from operad_export.torch_schema import schema, visible_returns

_LIBRARY: Final = torch.library.Library("operad", "FRAGMENT")


@final
class _Given(NamedTuple):
    """A call, sorted.

    Attributes:
        operator: With the call's parameters.
        values: Those, in order.
        arguments: Tensors; `states` likewise.
        is_train: Whether for training.
        seed: Of random numbers; None: of PyTorch's generator.
    """

    operator: PlainOperator
    values: tuple[Any, ...]
    arguments: list[Any]
    states: list[Any]
    is_train: bool
    seed: int | None


@final
class TorchOperator:
    """One operator, registered with PyTorch.

    Attributes:
        name: What it is called in `torch.ops.operad`.
        signature: The operator's.
        op: PyTorch's function.
        differentiable: The function that has the gradient: `op`, or the functional one behind it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.signature = signature = signature_of(name)
        # PyTorch makes no functional form of what changes its arguments and returns a list.
        is_list = signature.has_states and signature.num_visible is None
        has_more = signature.has_states or signature.has_hidden
        self.is_split = is_list or (signature.has_gradient and has_more)
        tags = (torch.Tag.nondeterministic_seeded,) if signature.draws else ()
        public = schema(signature, mutates=True, returns=visible_returns(signature))
        _LIBRARY.define(name + public, tags=tags)
        inner = name
        if self.is_split:
            inner = f"{name}__functional"
            _LIBRARY.define(inner + schema(signature, mutates=False, returns="Tensor[]"), tags=tags)
            _LIBRARY.impl(name, self._split, "CompositeImplicitAutograd")
        _LIBRARY.impl(inner, self._kernel, "CompositeExplicitAutograd")
        torch.library.register_fake(f"operad::{inner}", self._fake, lib=_LIBRARY)
        has_gradient = signature.has_gradient
        self._backward = register_backward(_LIBRARY, f"{name}__backward") if has_gradient else None
        if self.is_split or signature.has_gradient or not signature.has_states:
            torch.library.register_autograd(
                f"operad::{inner}", self._gradients, setup_context=self._setup, lib=_LIBRARY
            )
        else:
            _LIBRARY.impl(name, torch.library.fallthrough_kernel, "Autograd")
        self.op = getattr(torch.ops.operad, name).default
        self.differentiable = getattr(torch.ops.operad, inner).default

    # What PyTorch calls.

    def _kernel(self, *given: Any, **params: Any) -> Any:
        call = self._sorted(given, params)
        operator, title = call.operator, self.signature.op.name
        arguments = memory.arrays(title, operator.arguments, call.arguments)
        new_states = [state.clone() for state in call.states] if self.is_split else call.states
        states = memory.arrays(title, operator.states, new_states)
        operator = operator.for_values(arguments)
        shapes, kinds = _shapes(arguments), [array.dtype for array in arguments]
        outputs = memory.empty(operator.infer(shapes, kinds, _shapes(states)))
        seed = call.seed
        if seed is None:
            seed = int(torch.randint(0, 2**63 - 1, ())) if operator.draws(shapes, kinds) else 0
        operator.forward(
            arguments, states, [output.numpy() for output in outputs], is_train=call.is_train, seed=seed
        )
        if not self.is_split and call.states:
            torch.autograd.graph.increment_version(call.states)
        return self._results(operator, outputs, new_states)

    def _fake(self, *given: Any, **params: Any) -> Any:
        call = self._sorted(given, params)
        operator = call.operator
        outputs = _fake_outputs(operator, self.signature.op.name, call.arguments, call.states)
        new_states = [torch.empty_like(state) for state in call.states] if self.is_split else []
        return self._results(operator, outputs, new_states)

    def _results(self, operator: PlainOperator, outputs: list[Any], new_states: list[Any]) -> Any:
        if self.is_split:
            return [*outputs, *new_states]
        return self._shown(outputs[: operator.num_visible])

    def _shown(self, outputs: list[Any]) -> Any:
        if self.signature.num_visible is None:
            return outputs
        return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None

    def _split(self, *given: Any, **params: Any) -> Any:
        call = self._sorted(given, params)
        found = self.differentiable(*given, **params)
        count = len(call.operator.outputs)
        with torch.no_grad():
            for state, new in zip(call.states, found[count:], strict=True):
                state.copy_(new)
        return self._shown(list(found[: call.operator.num_visible]))

    def _setup(self, ctx: Any, inputs: Any, keyword_only_inputs: Mapping[str, Any], output: Any) -> None:
        call = self._sorted(inputs, keyword_only_inputs)
        found = [output] if isinstance(output, torch.Tensor) else list(output or ())
        outputs, states = found[: len(call.operator.outputs)], found[len(call.operator.outputs) :]
        hidden = outputs[call.operator.num_visible :]
        ctx.mark_non_differentiable(*hidden, *states, *[o for o in outputs if not o.is_floating_point()])
        about = described(self.name, call.values)
        keep(ctx, call.operator, about, call.arguments, outputs, states, is_train=call.is_train)
        ctx.operad_places = _places(self.signature, call.operator, inputs)

    def _gradients(self, ctx: Any, *heads: Any) -> Any:
        places, needed = ctx.operad_places, _flat(ctx.needs_input_grad)
        found: list[Any] = [None] * len(needed)
        grads = gradients(ctx, self._backward, _flat(heads), [needed[place] for place in places])
        for place, grad in zip(places, grads, strict=True):
            found[place] = grad
        return _nested(found, ctx.needs_input_grad)

    # Sorting.

    def _sorted(self, given: Sequence[Any], params: Mapping[str, Any]) -> _Given:
        signature = self.signature
        values = values_of(signature, params)
        if signature.tensors is None:
            arguments, states = list(given[0]), list(given[1]) if len(given) > 1 else []
            operator = signature.operator(values, len(arguments))
            if not signature.has_states:
                arguments, states = signature.sorted(operator, arguments)
            else:
                signature.check_counts(operator, arguments, states)
        else:
            given = [*given, *[None] * (len(signature.tensors) - len(given))]
            operator = signature.operator(values, len(given))
            arguments, states = signature.sorted(operator, given)
        return _Given(operator, values, arguments, states, params.get("is_train", False), params.get("seed"))


def _shapes(arrays: Sequence[Any]) -> list[Any]:
    return [array.shape for array in arrays]


def _flat(values: Any) -> list[Any]:
    """Items of a sequence, those of the lists in it one by one."""
    return [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]


def _nested(values: list[Any], like: Any) -> Any:
    """Flat values in lists where `like` has lists."""
    rest = iter(values)
    return tuple(
        [next(rest) for _ in part] if isinstance(part, (list, tuple)) else next(rest) for part in like
    )


def _places(signature: OperatorSignature, operator: PlainOperator, inputs: Sequence[Any]) -> list[int]:
    """Place of each argument among all tensors of a call."""
    if signature.tensors is not None:
        names = [tensor.name for tensor in signature.tensors]
    else:
        names = operator.arguments if signature.has_states else operator.prop.list_inputs()
    return [names.index(name) for name in operator.arguments]


# Shapes without values.


def _fake_outputs(
    operator: PlainOperator, title: str, arguments: Sequence[Any], states: Sequence[Any]
) -> list[Any]:
    shapes, kinds = _shapes(arguments), memory.types(title, operator.arguments, arguments)
    device = next((tensor.device for tensor in arguments), "cpu")
    if operator.prop.is_shaped_by_values:
        _, found, _ = operator.prop.infer_shape([tuple(map(int, shape)) for shape in shapes])
        out_types = operator.prop.infer_type(kinds)[1]
        size = torch.library.get_ctx().new_dynamic_size
        known = [tuple(size() if axis is None else axis for axis in shape or ()) for shape in found]
        return memory.empty(zip(known, out_types, strict=True), device)  # type: ignore[arg-type]
    state_shapes = _shapes(states)
    if any(isinstance(length, torch.SymInt) for shape in (*shapes, *state_shapes) for length in shape):
        try:
            return memory.empty(operator.infer(shapes, kinds, state_shapes), device)
        except Exception:  # noqa: BLE001 - inference that is no arithmetic; what is wrong is raised below
            # Asked for integers, PyTorch notes that compiled code is for these lengths alone.
            shapes = [tuple(map(int, shape)) for shape in shapes]
            state_shapes = [tuple(map(int, shape)) for shape in state_shapes]
    return memory.empty(operator.infer(shapes, kinds, state_shapes), device)


# What users call.


@cache
def registered(name: str) -> TorchOperator:
    """The operator `name`, registered with PyTorch when it is asked for the first time."""
    return TorchOperator(name)


def function(name: str, params: Mapping[str, Any]) -> Callable[..., Any]:
    """The function behind `operad.export.torch`."""
    found = registered(name)
    named = {name: memory.type_name(value) for name, value in params.items()}
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parsed(found.signature, named).items()
    }
    op, is_list, has_states = found.op, found.signature.tensors is None, found.signature.has_states

    def call(*tensors: Any, generator: Any = None, **more: Any) -> Any:
        if generator is not None:
            more["seed"] = int(torch.randint(0, 2**63 - 1, (), generator=generator))
        if is_list and not has_states and not (tensors and isinstance(tensors[0], (list, tuple))):
            tensors = (list(tensors),)
        shown = op(*tensors, **{**given, **more})
        if isinstance(shown, list):  # their number varies with parameters
            return shown[0] if len(shown) == 1 else tuple(shown)
        return shown

    call.__name__ = call.__qualname__ = name
    call.__doc__ = found.signature.op.__doc__
    call.op = op  # type: ignore[attr-defined]
    call.exported = found  # type: ignore[attr-defined]
    return call
