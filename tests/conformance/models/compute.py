"""Computation of a model, under MXNet and operad alike. Needs NumPy and the module it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.models.model import Array, Model


@dataclass(frozen=True)
class Computed:
    """A forward pass in prediction and one training step's forward and backward.

    Attributes:
        predicted: Outputs in prediction, by name.
        trained: Outputs in training.
        gradients: Gradients of all parameters, by the argument's name.
        states: Auxiliary states after the step.
    """

    predicted: dict[str, Array]
    trained: dict[str, Array]
    gradients: dict[str, Array]
    states: dict[str, Array]


def inferred(model: Model, symbol: Any) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Shapes of the arguments and of the auxiliary states, by name."""
    given = {name: values.shape for name, values in model.input_arrays().items()}
    arguments, _, states = symbol.infer_shape(**given)
    return (
        dict(zip(symbol.list_arguments(), map(tuple, arguments), strict=True)),
        dict(zip(symbol.list_auxiliary_states(), map(tuple, states), strict=True)),
    )


def parameters(mx: Any, model: Model, symbol: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model's own arguments and auxiliary states, as a checkpoint has them."""
    arguments, states = inferred(model, symbol)
    values = model.parameters({**arguments, **states})
    arrays = {name: mx.nd.array(value, dtype=value.dtype) for name, value in values.items()}
    return (
        {name: arrays[name] for name in arguments if name in arrays},
        {name: arrays[name] for name in states},
    )


def computed(
    mx: Any, model: Model, symbol: Any, arguments: Mapping[str, Any], states: Mapping[str, Any]
) -> Computed:
    """Results of `symbol` with these parameters and the model's inputs."""
    inputs = model.input_arrays()
    requests = {name: "null" if name in inputs else "write" for name in symbol.list_arguments()}
    shapes = {name: values.shape for name, values in inputs.items()}
    executor = symbol.simple_bind(mx.cpu(), grad_req=requests, **shapes)
    given = {name: mx.nd.array(values, dtype=values.dtype) for name, values in inputs.items()}
    executor.copy_params_from({**arguments, **given}, dict(states))
    names = symbol.list_outputs()

    def forward(is_train: bool) -> dict[str, Array]:
        outputs = executor.forward(is_train=is_train)
        return {name: array.asnumpy() for name, array in zip(names, outputs, strict=True)}

    predicted, trained = forward(False), forward(True)
    executor.backward()
    return Computed(
        predicted,
        trained,
        {name: executor.grad_dict[name].asnumpy() for name in arguments},
        {name: array.asnumpy() for name, array in executor.aux_dict.items()},
    )
