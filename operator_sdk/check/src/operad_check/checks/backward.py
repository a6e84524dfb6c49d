"""Group B: identities of gradients that need no derivative, and arrays that backward must not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from operad.operator import BackwardEntry, OpReq
from operad_check.cases.kinds import LARGE, LONG, ORDINARY, WIDE
from operad_check.checks.forward import expect_written, other_poison
from operad_check.comparison.bitwise import expect_same
from operad_check.comparison.closeness import coarsest, magnitude
from operad_check.comparison.flat import is_flat
from operad_check.register import Evidence, check
from operad_check.running.variation import GRADIENTS, Comparison, Runs, Variant, variation, within_rounding
from operad_check.trials.returned import expect_fitting
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

_FACTORS: Final = (2.0**-20, 2.0**12)
"""Of the head gradient; clipping or a threshold shows at one of them."""
_ROOM: Final = 2.0**10
"""Factor between the largest number and gradients, so that sums of multiples of gradients are finite."""


def _where_finite(run: Comparison) -> int:
    """Compare where the expected gradients are finite."""
    pairs = zip(run.found, run.expected, strict=True)
    finite = [None if a is None else np.where(np.isfinite(b), a, b) for a, b in pairs]
    return within_rounding(replace(run, found=finite))


@variation("B303", WIDE, LARGE, values=GRADIENTS, compare=_where_finite)
def linear(trial: Trial) -> Runs:
    """The gradient is linear in the gradient of the output.

    The chain rule is linear. A gradient that is not linear is wrong in every network with a following layer.

    Broken by:
        def data_grad(output_grad, slope): return np.sign(output_grad) * slope
    Within:
        spec = "data:(*S), slope:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data, slope): return data * slope
        def slope_grad(output_grad, data): return output_grad * data
        HERE
    Fix:
        Multiply by the gradient of the output once; clip gradients elsewhere.
    How:
        Check that sums and multiples of head gradients give sums and multiples of gradients.
    """
    if not any(trial.differentiable()) or trial.subject.contract.why_head_is_ignored(trial.prop):
        return None
    one, other = _heads(trial, 10), _heads(trial, 20)
    first, second = trial.backward(one), trial.backward(other)
    is_ignored = all(a is None or np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    hint = {"fix": "If it is a loss: declare Contract(ignores_head_gradient=reason)." * is_ignored}
    mixed, expected = partial(trial.backward, _mixed(one, other)), _mixed(first, second)
    yield Variant("for head gradients 2 g - h / 2", mixed, expected=expected, violation=hint)
    is_wide = all(dtype.itemsize >= 4 for dtype in [*trial.in_types, *trial.out_types] if dtype.kind == "f")
    for factor in _FACTORS if is_wide else ():
        if magnitude(first, trial.out_grads) * factor > float(np.finfo(coarsest(trial)).max) / _ROOM:
            continue  # what is summed on the way leaves the range
        scaled = trial.backward(_times(one, factor))
        when = f"(over {factor:g}) for {factor:g} times the head gradient"
        yield Variant(when, partial(_times, scaled, 1 / factor), expected=first, violation=hint)
    return _nonzero(first) or (None if is_flat(trial, first) else 0)


@variation("B304", WIDE, values=GRADIENTS)
def ignores_head_gradient(trial: Trial) -> Runs:
    """An operator that declares to ignore the gradient of the output does so.

    Heads of networks are losses; if it is documented that their gradient does not matter, it must not.

    Broken by:
        Contract(ignores_head_gradient="a loss")    # and output_grad is multiplied in
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return data * data
        def data_grad(output_grad, data): return 2 * output_grad * data
        contract = HERE
    Fix:
        Remove the declaration, or output_grad from what the gradient names.
    How:
        Check that gradients are the same for another head gradient, for zeros and for NaN.
    """
    if not any(trial.differentiable()) or not trial.subject.contract.why_head_is_ignored(trial.prop):
        return None
    yield Variant("for another head gradient", partial(trial.backward, _heads(trial, 20)))
    for value in (0.0, np.nan):
        heads = [None if head is None else np.full_like(head, value) for head in trial.out_grads]
        yield Variant(f"for a head gradient of {value:g}", partial(trial.backward, heads))
    return _nonzero(trial.backward())


@check("B306", ORDINARY, LARGE, reports_raising=True)
def runs(trial: Trial) -> Evidence:
    """Backward runs wherever forward does, and its results have the shape and type of their arguments.

    A gradient of another shape is silently repeated to fill the array, or fails during a run.

    Broken by:
        def bias_grad(output_grad): return output_grad    # (N, D) where (D,) is wanted: works for one row
    Within:
        spec = "data:(N, D), bias:(D) -> output:(N, D)"
        accepts = "floating"
        def forward(data, bias): return data + bias
        def data_grad(output_grad): return output_grad
        HERE
    Fix:
        Sum over exactly the axes that were broadcast, and write into the array that is there.
    How:
        Run backward for all gradients and for each alone; check that returned arrays fit their targets.
    """
    flows = trial.differentiable()
    if not any(flows):
        return None
    try:
        trial.forward()
    except OperatorRaised:
        return None  # which F201 reports
    _expect_filled(trial, trial.write_requests())
    for place in [place for place, flag in enumerate(flows) if flag]:
        trial.backward(req=[OpReq.WRITE if i == place else OpReq.NULL for i in range(len(flows))])
    expect_fitting(trial, lambda operator: trial.backward(operator=operator), trial.gradient_names)
    return sum(flows)


def _expect_filled(trial: Trial, requests: Sequence[OpReq]) -> None:
    """Raise Violation unless backward writes into the arrays that it is handed, without replacing them."""
    handed = trial.poisoned_gradients(requests)
    returned = trial.backward(req=requests, in_grads=handed)
    for name, mine, theirs in zip(trial.gradient_names, handed, returned, strict=True):
        if mine is not theirs:
            raise Violation(
                f"backward puts another array in place of the {name} it is handed, which stays unwritten",
                fix="Write into the array that is there: operad.operator.assign(in_grad[0], req[0], value).",
            )


@check("B307", WIDE, LARGE, LONG)
def written(trial: Trial) -> Evidence:
    """Every element of every gradient is written, or added to.

    Memory of gradients is recycled: what is not written holds values of another array.

    Broken by:
        def data_grad(output_grad, rows, data_grad):
            data_grad[rows] = output_grad    # the others?
    Within:
        spec = "data:(N + 1, D), rows:any(M) -> output:(M, D)"
        accepts = {"data": "floating", "rows": "integer"}
        contract = Contract(inputs={"rows": Index("data")})
        def forward(data, rows): return data[rows]
        HERE
    Fix:
        Fill with zeros first: data_grad[...] = 0.
    How:
        Check that no element of a gradient keeps either of two poisons.
    """
    if not any(trial.differentiable()):
        return None
    first = trial.poisoned_gradients(trial.write_requests())
    second = [None if a is None else other_poison(a) for a in first]
    trial.backward(in_grads=first)
    trial.backward(in_grads=second)
    expect_written(trial.gradient_names, first, second)
    return sum(array.size for array in first if array is not None)


@check("B309", ORDINARY, LARGE)
def changes_nothing_else(trial: Trial) -> Evidence:
    """Backward changes nothing but the gradients.

    It reads arrays that belong to others: the head gradient may be summed into a second gradient.

    Broken by:
        def data_grad(output_grad, data):
            output_grad *= data
            return output_grad
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return data * data / 2
        HERE
    Fix:
        Compute into the gradient or a new array; sharing memory is declared with inplace=.
    How:
        Check that backward changes none of the arrays that it reads.
    """
    if not any(trial.differentiable()):
        return None
    given: list[tuple[str, Any, Any]] = []

    def keep(entry: BackwardEntry, array: Array) -> Array:
        names = trial.arguments if entry.kind == "in_data" else trial.outputs
        word = "head gradient of " if entry.kind == "out_grad" else ""
        handed = array.copy()
        given.append((word + names[entry.index], handed, array))
        return handed

    trial.backward(keep=keep)
    trial.backward(keep=keep, prepared=True)
    names, found, before = zip(*given, strict=True)
    return expect_same(names, found, before, "after backward")


@variation("B310", WIDE, LARGE, values=GRADIENTS)
def deterministic(trial: Trial) -> Runs:
    """The same arrays give the same gradients, bit for bit, whatever ran before and however it is called.

    A pass that keeps something from forward in self gives another node's gradient.

    Broken by:
        def forward(self, data):
            self.mask = data > 0    # and data_grad reads self.mask
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
            return data * self.mask
        def data_grad(self, output_grad): return output_grad * self.mask
    Fix:
        Keep what backward needs in an output, hidden if need be.
    How:
        Check that gradients are the same prepared, on a new operator, and after a run on other values.
    """
    if not any(trial.differentiable()):
        return None
    operator = trial.new_operator()
    trial.forward(operator=operator)
    first = trial.backward(operator=operator)
    others = [_other(array) for array in trial.inputs]
    if (
        not trial.prop.is_stateful
    ):  # else gradients depend on more of an earlier forward pass than its outputs
        used, new = trial.new_operator(), trial.new_operator()
        trial.forward(others, operator=used)
        when = "after forward has run on other values"
        yield Variant(when, partial(trial.backward, operator=used), expected=first)
        when = "on an operator that ran nothing before"
        yield Variant(when, partial(trial.backward, operator=new), expected=first)
    result = trial.forward(others, operator=operator)
    trial.backward(inputs=others, outputs=result.outputs, operator=operator)
    trial.forward(operator=operator)
    again = partial(trial.backward, operator=operator, prepared=True)
    yield Variant("when run again, by backward_templates", again, expected=first)
    return None


def _other(array: Array) -> Array:
    """Same values in reverse order, so that they stay in their domain."""
    return array[(slice(None, None, -1),) * array.ndim].copy()


def _heads(trial: Trial, salt: int) -> list[Any]:
    return [
        None if head is None else trial.lattice(head.shape, head.dtype, salt + place)
        for place, head in enumerate(trial.out_grads)
    ]


def _mixed(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [None if a is None else 2 * a - 0.5 * b for a, b in zip(one, other, strict=True)]


def _times(arrays: Sequence[Any], factor: float) -> list[Any]:
    with np.errstate(all="ignore"):
        return [None if a is None else (a * factor).astype(a.dtype) for a in arrays]


def _nonzero(gradients: Sequence[Any]) -> int:
    return sum(int(np.count_nonzero(array)) for array in gradients if array is not None)
