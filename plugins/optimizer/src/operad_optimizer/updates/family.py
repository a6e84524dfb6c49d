"""The family of update operators: each is a *rule*, a function of blocks that states its formula.

A rule takes the weight, its gradient and its states, moves the states in place, and writes the new
weight to `out`, which may be the weight::

    def momentum_step(weight, grad, mom, out, lr=RATE, momentum=...):
        mom *= momentum
        mom -= lr * grad
        np.add(weight, mom, out=out)

`update` makes the operator of it, and `mixed` the form for half-precision weights: that keeps a
single-precision copy of the weight as its last state, moves the copy, and gives it rounded. What a
rule takes behind `out` without a default is one more argument, of one element. Updates of several
tensors at once are made of the same rules, in `several`.

Done over whole arrays, each step of a formula would go through memory. So a rule is called for blocks
whose arrays, temporary ones too, fit the cache together. On a GPU, where every step is a launch, and
for arrays that are not contiguous, the whole array is one block.

Where there is vector code (llvmlite), the rule itself is traced, and a kernel of it takes one pass
(`in_vectors`).

Numbers that change with every step (a scheduled learning rate, Adam's bias correction in it, the number
of the update) are run-time parameters: a new value makes no new operator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, Final, final

import numpy as np

from operad.dtypes import DType
from operad.operator import Param, Shape
from operad_optimizer.updates.in_vectors import VectorRule, by_vectors
from operad_sdk import Array, Contract, OperatorProperty, define, param

Declared = type[OperatorProperty]
Example = tuple[str, ...]
Rule = Callable[..., None]

BLOCK: Final = 31_744
"""Elements of a block, in single precision: 124 KiB. From 128 on the C library asks the system for the pages
of every temporary array. On 400,000 weights (one core) Adam takes 0.7 ms so and 1.7 to 2.9 in blocks of
65,536, descent with weight decay 0.2 and 1.2, momentum 0.21 and 0.19."""
_SINGLE: Final = 4
_COSTS: Final = (0.6, 1.5, 3.0)
"""Costs of rules without states, with one, and with more. Measured: descent 0.6, with weight decay 0.9;
momentum 1.0, RMSProp 2.7; Adam 3.4."""


def real(default: float, doc: str) -> Any:
    """A number that may be another one at every call."""
    return param(float, default, run_time=True, doc=doc)


RATE: Final[Any] = param(float, run_time=True, doc="Learning rate.")
DECAY: Final = real(0.0, "Weight decay: this times the weight is added to the gradient.")
RESCALE: Final = real(1.0, "Factor of the gradient.")
CLIP: Final = real(-1.0, "Bound of each element of the rescaled gradient; below 0: none.")
_LAZY: Final[Any] = param(bool, True, ignored="Accepted for MXNet's calls; arrays are never sparse.")
COUNT: Final[Any] = param(int, ge=1, run_time=True, doc="Number of this update.")


@final
class Blockwise:
    """A rule as the forward function of an operator.

    Attributes:
        rule: What is called for each block.
        params: Its parameters.
        shared: Names of the arguments of one element, which each block gets.
        names: What the binder calls it with.
        element_cost: What a rule costs for each element, roughly, for estimates of the binder.
        only_ufuncs: Whether rules do nothing but call ufuncs, for the binder too.
        num_arrays: How many arrays the rule takes for each weight, the output among them.

    Args:
        arrays: Names of the weight that is moved, the gradient and the states.
        in_place: Whether the weight is one that the rule overwrites and that is returned; else the rule
            fills the output.
        is_split: Whether the rule is one of elements; else it gets whole arrays.
    """

    def __init__(
        self,
        rule: Rule,
        arrays: Sequence[str],
        in_place: bool = False,
        is_split: bool = True,
        element_cost: float | None = None,
    ) -> None:
        self.rule = rule
        self.shared, self.params = _taken(rule)
        moved = (*arrays, *([] if in_place else ["output"]))
        self.names = (*moved, *self.shared, *self.params)
        self.__signature__ = signature_of(self.names)
        self.only_ufuncs: Final = not isinstance(rule, VectorRule)
        self.num_arrays: Final = len(arrays) + 1
        self.in_place = in_place
        self.element_cost: Final = element_cost or _COSTS[min(len(arrays) - 2, len(_COSTS) - 1)]
        self.__module__ = rule.__module__
        self._arrays = arrays
        self._count = len(moved)
        self._is_split = is_split

    def in_vectors(self) -> Blockwise:
        """The same in vector code, for which arrays of one type are one block."""
        rule = VectorRule(self.rule, self.num_arrays, len(self.shared))
        return Blockwise(rule, self._arrays, self.in_place, element_cost=self.element_cost)

    def fitted(self, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> Rule:
        """The rule itself where all is one block of one type: a small update costs its Python calls."""
        # A copy of the weight, which a mixed form moves, is of another type than the gradient.
        is_alike = self.names[0] == "weight" and in_types[0] == in_types[1]
        is_one = isinstance(self.rule, VectorRule) or prod(in_shapes[0]) <= BLOCK
        return self.rule if is_alike and is_one else self

    def __call__(self, *values: Any) -> Array | None:
        """Move the weight, block by block."""
        weight = values[0]
        arrays, given = values[: self._count], values[self._count :]
        arrays = (*arrays, weight) if self.in_place else arrays
        if self._is_split and (self.only_ufuncs or weight.dtype != arrays[1].dtype):
            by_blocks(self.rule, arrays, given)
        else:
            self.rule(*arrays, *given)
        return weight if self.in_place else None


def by_blocks(rule: Rule, arrays: Sequence[Array], given: Sequence[Any]) -> None:
    """Call a rule for each block of the arrays, with the gradient in the weight's type."""
    for own, grad, *rest in blocks(arrays):
        rule(own, grad.astype(own.dtype, copy=False), *rest, *given)


def blocks(arrays: Sequence[Array]) -> Iterator[Sequence[Array]]:
    """Parts of arrays of one shape, until all elements were seen."""
    first = arrays[0]
    # mutant: equivalent, because a rule gives the same for the whole array and for its blocks
    is_split = isinstance(first, np.ndarray) and first.size > BLOCK
    # mutant: not is_split becomes (is_split): equivalent, because of the same
    # mutant: becomes (not is_split and: equivalent, because arrays with strides that are only read are copied
    if not is_split or not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    step = BLOCK * _SINGLE // max(_SINGLE, *[array.itemsize for array in arrays])
    for start in range(0, first.size, step):
        yield [array[start : start + step] for array in flat]


def update(
    name: str, rule: Rule, example: Example, source: str, *, is_lazy: bool = False,
    element_cost: float | None = None, **contract: Any,
) -> Declared:  # fmt: skip
    """The operator that moves a weight by a rule.

    Args:
        name: MXNet 1.x's name of the operator.
        rule: Its summary is the docstring.
        example: As for `define`: weight, gradient, states, parameters, and the output.
        source: MXNet's kernel; `differs` says what is not as there.
        is_lazy: Whether MXNet's operator has the parameter `lazy_update`.
        element_cost: As of any operator; None: what such rules cost.
        contract: As for `Contract`.
    """
    arrays = arrays_of(rule)
    states = "".join(f", state {state}:(...)" for state in arrays[2:])
    forward = Blockwise(rule, arrays, element_cost=element_cost)
    operator = _declared(
        name, forward, states, "output:(...)", example, source, "float32", is_lazy=is_lazy, **contract
    )
    by_vectors(operator, forward.in_vectors(), forward.num_arrays)
    return operator


def mixed(
    name: str, rule: Rule, example: Example, source: str, *, moves_weight: bool = True, **contract: Any
) -> Declared:
    """The operator that moves a half-precision weight by a rule, through its single-precision copy.

    Args:
        name: As all that follows, as for `update`; the last array of `example` is the copy.
        moves_weight: Whether the rule gives the new weight; else it gives a direction to move along.
    """
    arrays = arrays_of(rule)
    states = "".join(f", state {state}:float32(...)" for state in (*arrays[2:], "weight32"))
    kind = "" if moves_weight else "float32"
    halves = [f"od.nd.array({value}, dtype='float16')" for value in example[:2]]
    result = f"array({example[-1]}, dtype={'float16' if moves_weight else 'float32'})"
    forward = Blockwise(rule, ["weight32", *arrays[1:]], in_place=moves_weight)
    example = (*halves, *example[2:-1], result)
    return _declared(name, forward, states, f"output:{kind}(...)", example, source, None, **contract)


def arrays_of(rule: Rule) -> list[str]:
    """Names of the weight, the gradient and the states that a rule takes."""
    names = list(inspect.signature(rule).parameters)
    return names[: names.index("out")]


def signature_of(names: Iterable[str]) -> inspect.Signature:
    """Signature of a function that takes these."""
    return inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )


def _taken(rule: Rule) -> tuple[list[str], dict[str, Param]]:
    """Arguments and parameters that a rule takes behind `out`: names of the first, the second by name."""
    taken = list(inspect.signature(rule).parameters.values())[len(arrays_of(rule)) + 1 :]
    params = {one.name: one.default for one in taken if isinstance(one.default, Param)}
    return [one.name for one in taken if one.name not in params], params


def _declared(
    name: str,
    forward: Blockwise,
    rest: str,
    output: str,
    example: Example,
    source: str,
    compute_dtype: str | None,
    differs: str = "",
    is_lazy: bool = False,
    **contract: Any,
) -> Declared:
    """Declare an operator; `rest` is what its shape line says between the gradient and the `output`."""
    where = sourced(source, differs)
    shared = "".join(f", {one}:any(1)" for one in forward.shared)
    return define(
        name,
        f"weight:(...), grad:(...){rest}{shared} -> {output}",
        forward,
        summary=inspect.getdoc(forward.rule) or "",
        example=example,
        source=where,
        params=forward.params | ({"lazy_update": _LAZY} if is_lazy else {}),
        accepts="floating",
        compute_dtype=compute_dtype,
        inplace="weight" if forward.in_place or compute_dtype else (),
        contract=step_contract(
            has_states="state " in rest,
            computed_at_once=BLOCK,
            undefined=outside_of_averages(forward.params),
            **contract,
        ),
    )


def sourced(kernel: str, differs: str = "") -> str:
    """Source of a kernel in MXNet: a file if `kernel` names one, else `optimizer_op-inl.h`."""
    where = f"{kernel}." if "/" in kernel else f"{kernel}, src/operator/optimizer_op-inl.h."
    return f"{where} Differs: {differs}." if differs else where


def step_contract(*, has_states: bool = False, **declared: Any) -> Contract:
    """The contract of an operator that is a part of a training step."""
    reason = "it is a step of training, through which nothing is differentiated"
    return Contract(
        no_numeric_gradient=reason, states_move="always" if has_states else "training", **declared
    )


def outside_of_averages(params: Iterable[str]) -> str:
    """The reason why an update may give no numbers, if it keeps an average of squares; else ""."""
    return _NEGATIVE if _KEEPS_SQUARES & set(params) else ""


_KEEPS_SQUARES: Final = frozenset(("beta2", "gamma1"))
_NEGATIVE: Final = "a factor outside of 0 to 1 makes an average of squares negative, which has no root"
