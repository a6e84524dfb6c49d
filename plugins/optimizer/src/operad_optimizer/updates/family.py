"""The family of update operators: each is a *rule*, a function of blocks that states its formula.

A rule takes the weight, its gradient and its states, moves the states in place, and writes the new
weight to `out`, which may be the weight::

    def momentum_step(weight, grad, mom, out, lr=RATE, momentum=...):
        mom *= momentum
        mom -= lr * grad
        np.add(weight, mom, out=out)

`update` makes the operator of it, and `mixed` the form for half-precision weights: that keeps a
single-precision copy of the weight as its last state, moves the copy, and gives it rounded.

Done over whole arrays, each step of a formula would go through memory. So a rule is called for blocks
whose arrays, temporary ones too, fit the cache together. On a GPU, where every step is a launch, and
for arrays that are not contiguous, the whole array is one block.

Numbers that change with every step (a scheduled learning rate, Adam's bias correction in it, the number
of the update) are run-time parameters: a new value makes no new operator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, final

import numpy as np

from operad.operator import Param
from operad_sdk import Array, Contract, OperatorProperty, define, param

Declared = type[OperatorProperty]
Example = tuple[str, ...]
Rule = Callable[..., None]

BLOCK: Final = 65536
"""Elements of a block. Measured on 8 million weights, momentum (one core, 512 KiB of L2): 9 ms so, 11 ms
with a quarter of it, 16 ms with an eighth, where calls dominate, and 21 ms over whole arrays."""


def real(default: float, doc: str) -> Any:
    """A number that may be another one at every call."""
    return param(float, default, run_time=True, doc=doc)


RATE: Final[Any] = param(float, run_time=True, doc="Learning rate.")
DECAY: Final = real(0.0, "Weight decay: this times the weight is added to the gradient.")
RESCALE: Final = real(1.0, "Factor of the gradient.")
CLIP: Final = real(-1.0, "Bound of each element of the rescaled gradient; below 0: none.")
LAZY: Final[Any] = param(bool, True, ignored="Accepted for MXNet's calls; arrays are never sparse.")
COUNT: Final[Any] = param(int, ge=1, run_time=True, doc="Number of this update.")


@final
class Blockwise:
    """A rule as the forward function of an operator.

    Attributes:
        rule: What is called for each block.
        params: Its parameters.
        names: What the binder calls it with.
        only_ufuncs: That rules do nothing but call ufuncs, for the binder too.

    Args:
        arrays: Names of the weight that is moved, the gradient and the states.
        in_place: Whether the weight is one that the rule overwrites and that is returned; else the rule
            fills the output.
    """

    only_ufuncs: Final = True

    def __init__(self, rule: Rule, arrays: Sequence[str], in_place: bool = False) -> None:
        declared = inspect.signature(rule).parameters.items()
        self.rule = rule
        self.params: dict[str, Param] = {
            name: taken.default for name, taken in declared if isinstance(taken.default, Param)
        }
        self.names = (*arrays, *([] if in_place else ["output"]), *self.params)
        self.in_place = in_place
        self.__module__ = rule.__module__

    def __call__(self, *values: Any) -> Array | None:
        """Move the weight, block by block."""
        weight, grad = values[0], values[1]
        if not self.in_place and weight.size <= BLOCK and weight.dtype is grad.dtype:
            self.rule(*values)
            return None
        count = len(self.names) - len(self.params)
        arrays, given = values[:count], values[count:]
        for own, grad, *rest in blocks((*arrays, weight) if self.in_place else arrays):
            self.rule(own, grad.astype(own.dtype, copy=False), *rest, *given)
        return weight if self.in_place else None


def blocks(arrays: Sequence[Array]) -> Iterator[Sequence[Array]]:
    """Parts of arrays of one shape, until all elements were seen."""
    first = arrays[0]
    is_split = first.size > BLOCK and isinstance(first, np.ndarray)
    if not is_split or not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, first.size, BLOCK):
        yield [array[start : start + BLOCK] for array in flat]


def update(name: str, rule: Rule, example: Example, source: str, **contract: Any) -> Declared:
    """The operator that moves a weight by a rule.

    Args:
        name: MXNet 1.x's name of the operator.
        rule: Its summary is the docstring.
        example: As for `define`: weight, gradient, states, parameters, and the output.
        source: MXNet's kernel; `differs` says what is not as there.
        contract: As for `Contract`.
    """
    arrays = _arrays_of(rule)
    states = "".join(f", state {state}:(...)" for state in arrays[2:])
    forward = Blockwise(rule, arrays)
    return _declared(name, forward, f"{states} -> output:(...)", example, source, "float32", **contract)


def mixed(
    name: str, rule: Rule, example: Example, source: str, *, moves_weight: bool = True, **contract: Any
) -> Declared:
    """The operator that moves a half-precision weight by a rule, through its single-precision copy.

    Args:
        name: As all that follows, as for `update`; the last array of `example` is the copy.
        moves_weight: Whether the rule gives the new weight; else it gives a direction to move along.
    """
    arrays = _arrays_of(rule)
    states = "".join(f", state {state}:float32(...)" for state in (*arrays[2:], "weight32"))
    kind = "" if moves_weight else "float32"
    halves = [f"od.nd.array({value}, dtype='float16')" for value in example[:2]]
    result = f"array({example[-1]}, dtype={'float16' if moves_weight else 'float32'})"
    forward = Blockwise(rule, ["weight32", *arrays[1:]], in_place=moves_weight)
    example = (*halves, *example[2:-1], result)
    return _declared(name, forward, f"{states} -> output:{kind}(...)", example, source, None, **contract)


def _arrays_of(rule: Rule) -> list[str]:
    names = list(inspect.signature(rule).parameters)
    return names[: names.index("out")]


def _declared(
    name: str,
    forward: Blockwise,
    rest: str,
    example: Example,
    source: str,
    compute_dtype: str | None,
    differs: str = "",
    **contract: Any,
) -> Declared:
    """Declare an operator; `rest` is what its shape line says behind the gradient."""
    place = f"{source}, src/operator/optimizer_op-inl.h."
    return define(
        name,
        f"weight:(...), grad:(...){rest}",
        forward,
        summary=inspect.getdoc(forward.rule) or "",
        example=example,
        source=f"{place} Differs: {differs}." if differs else place,
        params=forward.params,
        accepts="floating",
        compute_dtype=compute_dtype,
        inplace="weight" if forward.in_place or compute_dtype else (),
        contract=step_contract(has_states="state " in rest, **contract),
    )


def step_contract(*, has_states: bool = False, **declared: Any) -> Contract:
    """The contract of an operator that is a part of a training step."""
    moves = {"F216": "the call is the step of training itself: its states move whatever the mode"}
    reason = "it is a step of training, through which nothing is differentiated"
    return Contract(no_numeric_gradient=reason, expected_failures=moves if has_states else {}, **declared)


def rescaled(grad: Array, rescale_grad: float, clip_gradient: float, factor: float = 1.0) -> Array:
    """`factor * clip(rescale_grad * grad)`."""
    scale = rescale_grad * factor
    if scale != 1:
        grad = scale * grad
    if clip_gradient >= 0:
        bound = abs(clip_gradient * factor)
        grad = np.clip(grad, -bound, bound)
    return grad


def decayed(grad: Array, weight: Array, wd: float) -> Array:
    """`grad + wd * weight`."""
    return grad + wd * weight if wd else grad


def move_average(average: Array, keep: float, value: Array) -> None:
    """`average = keep * average + (1 - keep) * value`, in place."""
    average *= keep
    average += (1 - keep) * value
