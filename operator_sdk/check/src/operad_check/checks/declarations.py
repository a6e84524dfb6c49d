"""Group S: lists of tensors, and declarations about arrays."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import chain
from math import prod
from typing import Any, Final

from operad.operator import BackwardEntry
from operad_check.cases.kinds import ORDINARY
from operad_check.checks.memory import entry_groups
from operad_check.register import Evidence, check
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import Violation

_OF_EVERY_CALL: Final = {"out": "the array to fill", "name": "the name of a symbol's node"}
"""Keywords that no operator gets to see; `ctx`, which MXNet's operators have as a parameter, is passed on."""


@check("S102", ORDINARY, reports_raising=True)
def names(trial: Trial) -> Evidence:
    """Tensor and parameter names are identifiers, all different, and the lists agree with each other.

    Names are keyword arguments of calls and prefixes of saved arrays; of two alike, one is hidden.

    Broken by:
        class Scale(operad.operator.OperatorProperty):
            scale = param(float, 1.0)
            def list_arguments(self): return ["data", "scale"]
    Within:
        HERE
            name = 'checked_example'
            def infer_shape(self, in_shapes): return in_shapes, in_shapes[:1], []
            def create_operator(self, ctx, in_shapes, in_types): return Operator()
        Example = Scale
    Fix:
        Rename one of them; list one flag per argument in differentiable_inputs.
    How:
        Check that names are identifiers, all different, and that lists have the right lengths.
    """
    prop = trial.prop
    tensors = [*trial.arguments, *trial.states, *type(prop).params]
    for name in [*tensors, *trial.outputs]:
        if not isinstance(name, str) or not name.isidentifier():
            raise Violation(f"{name!r} is no identifier, and cannot be a keyword in a call")
    for name in tensors:
        if name in _OF_EVERY_CALL:
            raise Violation(f"{name!r} is a word of every call, where it means {_OF_EVERY_CALL[name]}")
    for group in (tensors, trial.outputs):
        twice = sorted({name for name in group if group.count(name) > 1})
        if twice:
            raise Violation(f"{twice[0]!r} names two things among {', '.join(group)}")
    least = 0 if trial.states else 1  # what only moves states has nothing to show
    if not least <= trial.visible <= len(trial.outputs):
        raise Violation(f"num_visible_outputs is {trial.visible}, of {len(trial.outputs)} outputs")
    lengths = {
        "differentiable_inputs()": (len(prop.differentiable_inputs()), len(trial.arguments)),
        "inferred argument shapes": (len(prop.infer_shape(trial.in_shapes)[0]), len(trial.arguments)),
        "inferred output shapes": (len(trial.out_shapes), len(trial.outputs)),
        "inferred shapes of states": (len(prop.infer_shape(trial.in_shapes)[2]), len(trial.states)),
        "inferred output types": (len(trial.out_types), len(trial.outputs)),
    }
    for what, (found, expected) in lengths.items():
        if found != expected:
            raise Violation(f"{what}: {found}, expected {expected}, one each")
    return len(tensors) + len(trial.outputs)


@check("S106", ORDINARY, pooled=True)
def in_place_pairs(trials: Sequence[Trial]) -> Evidence:
    """Every declared in-place pair is possible: both arrays exist, of one shape and type in some case.

    A pair that never matches saves no memory, and is often a wrong name.

    Broken by:
        inplace = "data -> output"    # but output is (N,), data (N, D)
    Within:
        spec = "data:(N, D + 2) -> output:(N)"
        def forward(data): return data.sum(1)
        HERE
    Fix:
        Delete the pair, or name the array that has the output's shape.
    How:
        Check that each declared pair fits in some case.
    """
    found: dict[str, list[tuple[Trial, _Fit]]] = {}
    tensors: set[str] = set()
    for trial in trials:
        tensors.update(_names_for_pairs(trial))
        for first, second in _pairs(trial):
            name = f"{_name(trial, first)} and {_name(trial, second)}"
            found.setdefault(name, []).append((trial, _fit(trial, first, second)))
    for name, fits in found.items():
        misfits = [trial for trial, fit in fits if fit is _Fit.NONE]
        # as many elements by chance, as (n, 1) and (n,), is not what a pair is declared for
        if misfits and 2 * len(misfits) > len(fits) and not any(fit is _Fit.ALIKE for _, fit in fits):
            raise Violation(
                f"{name} are declared to share memory, and their shapes and types do not agree",
                cases=[misfits[0].case],
            )
    if trials:
        _expect_known(trials[0], tensors)
    return dict.fromkeys(found, 1) or None


class _Fit(Enum):
    """Agreement of two arrays: in shape and type, in size and type, or none."""

    ALIKE = "alike"
    AS_LARGE = "as large"
    NONE = "none"


def _fit(trial: Trial, first: tuple[str, int], second: tuple[str, int]) -> _Fit:
    (shape, dtype), (other, other_type) = _spec(trial, first), _spec(trial, second)
    if dtype != other_type or prod(shape) != prod(other):
        return _Fit.NONE
    return _Fit.ALIKE if shape == other else _Fit.AS_LARGE


def _expect_known(trial: Trial, tensors: set[str]) -> None:
    """Raise Violation if a declared pair names a tensor that no case has."""
    named: list[tuple[str, ...]] = getattr(trial.prop, "inplace_names", [])
    for name in dict.fromkeys(name for pair in named for name in pair):
        if name not in tensors:
            raise Violation(
                f"{name!r} is declared to share memory, and nothing has that name, whatever the parameters",
                cases=[trial.case],
            )


def _names_for_pairs(trial: Trial) -> list[str]:
    outputs = [f"out_{name}" if name in trial.arguments else name for name in trial.outputs]
    tensors = [*trial.arguments, *trial.outputs, *outputs]
    tensors += [name.rstrip("0123456789") for name in tensors]  # a pair may be of groups
    return [*tensors, *(f"{name}_grad" for name in tensors)]


def _pairs(trial: Trial) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    ins = [("in_data", i) for i in range(len(trial.arguments))]
    outs = [("out_data", i) for i in range(len(trial.outputs))]
    heads = [("out_grad", i) for i in range(len(trial.outputs))]
    grads = [("in_grad", i) for i in range(len(trial.arguments))]
    with raising("forward_inplace_option"):
        pairs = list(trial.prop.forward_inplace_option(ins, outs))
    flows = trial.differentiable()
    if any(flows):
        with raising("backward_inplace_option"):
            declared = trial.prop.backward_inplace_option(heads, ins, outs, grads)
        pairs += [pair for pair in declared if flows[pair[1][1]]]
    return pairs


def _name(trial: Trial, entry: tuple[str, int]) -> str:
    kind, index = entry
    words = {"out_grad": "head gradient of ", "in_grad": "gradient of "}
    return words.get(kind, "") + (trial.arguments if kind in ("in_data", "in_grad") else trial.outputs)[index]


def _spec(trial: Trial, entry: tuple[str, int]) -> tuple[Any, Any]:
    kind, index = entry
    if kind in ("in_data", "in_grad"):
        return trial.in_shapes[index], trial.in_types[index]
    return tuple(trial.out_shapes[index]), trial.out_types[index]


@check("S109", ORDINARY, reports_raising=True)
def backward_dependency(trial: Trial) -> Evidence:
    """Arrays that the backward pass declares to read exist, and asking for fewer gradients never reads more.

    The executor keeps exactly the arrays that are declared, and no others.

    Broken by:
        def declare_backward_dependency(self, out_grad, in_data, out_data):
            return [out_grad[9]]
    Within:
        spec = "data:(*S) -> output:(*S)"
        def forward(data): return data * data
        def data_grad(output_grad, data): return 2 * output_grad * data
        HERE
    Fix:
        Return entries of the lists that are handed in, and only gradients of visible outputs.
    How:
        Check that declared entries exist, and that fewer wanted gradients need no further entries.
    """
    flows = trial.prop.differentiable_inputs()
    if not any(flows):
        return None
    prop = trial.prop
    with raising("declare_backward_dependency"):
        declared = list(prop.declare_backward_dependency(*entry_groups(trial)))
    known = set(chain(*entry_groups(trial)))
    for entry in declared:
        if entry not in known:
            raise Violation(f"declare_backward_dependency gives {entry!r}, which it is not handed")
    if len(set(declared)) < len(declared):
        raise Violation("declare_backward_dependency gives an array twice")
    everything = set(_dependency(trial, flows))
    if not everything <= set(declared):
        raise Violation(f"backward_dependency gives {everything - set(declared)}, which is not declared")
    for place in [i for i, flag in enumerate(flows) if flag]:
        alone = set(_dependency(trial, [i == place for i in range(len(flows))]))
        if not alone <= everything:
            raise Violation(
                f"the gradient of {trial.arguments[place]} alone reads {alone - everything}, all do not"
            )
    return len(declared) + 1


def _dependency(trial: Trial, wanted: list[bool]) -> list[BackwardEntry]:
    with raising("backward_dependency"):
        return list(trial.prop.backward_dependency(wanted))
