"""Checks of the passes of one operator: `check_forward` and `gradient_check`.

They go through the operator contract with plain NumPy arrays and no engine, and show an operator what an
executor may show it, on arrays of the author's: the contract checks that need no further case, each under its
own id. `operad explain` says what such a check is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from operad.errors import ShapeError
from operad.operator import OperatorProperty
from operad_check.register import find_check
from operad_check.trials.case import Case
from operad_check.trials.reference import listed
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

Array = npt.NDArray[Any]

_OF_OUTPUTS: Final = ("F207", "F208", "F209")
"""Checks without which a comparison of outputs says little."""
_OF_CALLS: Final = ("F214", "F215", "M403")
_OF_GRADIENTS: Final = ("M401", "M404", "M407", "B305")


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
    trial = _trial(op, inputs, aux, is_train, seed, params)
    _check(trial, _OF_OUTPUTS)
    outputs: list[Array] = trial.result.outputs
    if expected is not None:
        wanted = expected(*trial.inputs) if callable(expected) else expected
        for name, got, want in zip(trial.outputs, outputs, listed(wanted), strict=False):
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"{trial.prop!r}: {name}")
    _check(trial, _OF_CALLS)
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
    trial = _trial(op, double, [np.asarray(state, np.float64) for state in aux], is_train, seed, params)
    rng = np.random.default_rng(seed)
    heads = [rng.uniform(0.5, 1.5, output.shape) for output in trial.result.outputs[: trial.visible]]
    trial = Trial(trial.subject, replace(trial.case, out_grads=tuple(heads)))
    gradients = trial.gradients
    for index, (name, flows) in enumerate(zip(trial.arguments, trial.differentiable(), strict=True)):
        want = _numeric_gradient(trial, index, epsilon) if flows and expected is None else None
        want = expected[index] if flows and expected is not None else want
        if want is not None:
            message = f"{trial.prop!r}: gradient of {name}"
            np.testing.assert_allclose(gradients[index], want, rtol=rtol, atol=atol, err_msg=message)
    _check(trial, _OF_GRADIENTS)
    return gradients


def _trial(
    op: Any, inputs: Sequence[Any], aux: Sequence[Any], is_train: bool, seed: int, params: dict[str, Any]
) -> Trial:
    """The operator on these arrays; what it raises is raised as it is."""
    prop: OperatorProperty = op if isinstance(op, OperatorProperty) else op(**params)
    names, states = prop.list_arguments(), prop.list_auxiliary_states()
    if (len(inputs), len(aux)) != (len(names), len(states)):
        raise ShapeError(
            f"{prop!r}: got {len(inputs)} arguments and {len(aux)} states, expected {len(names)} "
            f"({', '.join(names)}) and {len(states)}"
        )
    given = params if prop is not op else {name: getattr(prop, name) for name in type(prop).params}
    case = Case(
        params=given,
        inputs=dict(zip(names, map(np.asarray, inputs), strict=True)),
        aux=dict(zip(states, map(np.asarray, aux), strict=True)),
        is_train=is_train,
        seed=seed,
    )
    try:
        return Trial(Subject(prop.name, type(prop)), case)
    except OperatorRaised as raised:
        raise raised.error from None


def _check(trial: Trial, ids: Sequence[str]) -> None:
    """Run some contract checks on the trial.

    Raises:
        Violation: One fails; the message starts with its id.
    """
    for id in ids:
        try:
            find_check(id).run(trial)
        except Violation as error:
            raise Violation(f"[{id}] {trial.prop!r}: {error}", error.fix) from error
        except OperatorRaised as raised:
            raise raised.error from None


def _numeric_gradient(trial: Trial, index: int, epsilon: float) -> Array:
    def loss(shifted: Array) -> float:
        inputs = [shifted if i == index else value.copy() for i, value in enumerate(trial.inputs)]
        outputs = trial.forward(inputs).outputs[: trial.visible]
        return float(sum((grad * out).sum() for grad, out in zip(trial.out_grads, outputs, strict=False)))

    base = trial.inputs[index]
    gradient = np.empty_like(base)
    for place in np.ndindex(base.shape):
        ahead, behind = base.copy(), base.copy()
        ahead[place] += epsilon
        behind[place] -= epsilon
        gradient[place] = (loss(ahead) - loss(behind)) / (2 * epsilon)
    return gradient
