"""Updates of several tensors in one call, each by the rule of its single update.

The arguments take turns: weight, gradient and states of the first tensor, then of the second. Every
tensor has rates of its own: `lrs` are the `lr` of the rule, one for each tensor. They are parameters, or,
in the `preloaded_` forms, two more arguments. All else a rule takes is one value for all tensors.

The rule does not know of this, so that a tensor moves by the same bits as in a call of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any, Final, Self, final

from operad.dtypes import DType
from operad.operator import Param
from operad_optimizer.updates.family import (
    BLOCK,
    Blockwise,
    Declared,
    Example,
    Rule,
    arrays_of,
    outside_of_averages,
    signature_of,
    sourced,
    step_contract,
)
from operad_optimizer.updates.in_vectors import by_vectors
from operad_optimizer.updates.references import Reference, of_each
from operad_sdk import OperatorProperty, ParamError, define, param


def _rates(doc: str) -> Any:
    return param("floats", run_time=True, doc=f"{doc} of each tensor.")


_OF_EACH: Final[Mapping[str, tuple[str, Param]]] = {
    "lrs": ("lr", _rates("Learning rate")),
    "learning_rates": ("lr", _rates("Learning rate")),
    "wds": ("wd", _rates("Weight decay")),
    "etas": ("eta", _rates("Multiplier of the whole step")),
    "step_count": ("t", param("shape", ge=1, run_time=True, doc="Number of this update of each tensor.")),
}
"""Names of the rates of all tensors, with the rule's name of one tensor's."""

LOADED: Final = ("lrs", "wds")
"""The rates that are arguments in the `preloaded_` forms."""

_TRIED: Final[Mapping[str, Sequence[Any]]] = {
    "lrs": [(0.5, 0.25)],
    "learning_rates": [(0.5, 0.25)],
    "wds": [(0.0, 0.5)],
    "etas": [(1.0, 0.5)],
    "step_count": [(1, 3)],
    "num_weights": [2],
    "num_tensors": [2],
    "epsilon": [1e-8, 0.5],
}
"""Values for the contract checks: as many rates as tensors, and no root is less than what is added."""


def _of_tensors(declared: Iterable[str], count: int) -> dict[str, Any]:
    """Values for so many tensors: their number, and rates for each."""
    steps = range(1, count + 1)
    found = {name: tuple(step / 4 for step in steps) for name in declared if name in _OF_EACH}
    if "step_count" in found:
        found["step_count"] = tuple(steps)
    return {**found, **{name: count for name in declared if name in ("num_weights", "num_tensors")}}


class SeveralTensors(OperatorProperty):
    """An update of several tensors: it has as many rates of each kind."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._check_rates()

    def rebound(self, values: Mapping[str, Any]) -> Self:
        """Operator with other values, where the new rates are as many as the tensors."""
        made = super().rebound(values)
        made._check_rates()
        return made

    def typed_run_time(self, values: Sequence[Any], in_types: Sequence[DType]) -> tuple[Any, ...]:
        """The values, where there are as many rates as tensors."""
        self._check_rates(dict(zip(type(self).params.run_time, values, strict=True)))
        return tuple(values)

    def _check_rates(self, given: Mapping[str, Any] = MappingProxyType({})) -> None:
        params = type(self).params
        counted = next(name for name in params if name in ("num_weights", "num_tensors"))
        count = getattr(self, counted)
        for name in params.keys() & _OF_EACH.keys():
            rates = given[name] if name in given else getattr(self, name)
            if len(rates) != count:
                raise ParamError(
                    f"{self.name}: parameter {name!r} is {rates!r}, expected {count} items, one for each "
                    f"tensor; {counted!r} says how many tensors there are"
                )


@final
class Tensorwise:
    """A rule as the forward function of an operator on several tensors.

    Attributes:
        element_cost: What a rule costs for each element, roughly, for estimates of the binder.
        names: What the binder calls it with.

    Args:
        one: The rule as the forward function on one tensor.
        arrays: Names of the arrays of one tensor.
        params: Names of the operator's parameters.
        loaded: Names of the rates that are arguments.
        module: Where the operator is declared.
    """

    element_cost: Final = 1.5

    def __init__(
        self, one: Blockwise, arrays: Sequence[str], params: Sequence[str], loaded: Sequence[str], module: str
    ) -> None:
        self.one = one
        self.groups = [*(f"{name}_" for name in arrays), "output"]
        self.names = (*loaded, *one.shared, *self.groups, *params)
        self.__signature__ = signature_of(self.names)
        self.__module__ = module
        self._num_loaded, self._num_shared = len(loaded), len(loaded) + len(one.shared)
        self._num_arrays = self._num_shared + len(self.groups)
        # Of each parameter of the rule: where its value stands among loaded rates and parameters, and whether
        # there is one for each tensor.
        given = [*loaded, *params]
        single = [_OF_EACH[name][0] if name in _OF_EACH else name for name in given]
        self._sources = [
            (single.index(name), given[single.index(name)] in _OF_EACH) if name in single else None
            for name in one.params
        ]
        self._defaults = [declared.default for declared in one.params.values()]

    def __call__(self, *values: Any) -> None:
        """Move each weight."""
        # A rule takes numbers, so loaded rates come to the host, which waits for a GPU once.
        given = [*(array.tolist() for array in values[: self._num_loaded]), *values[self._num_arrays :]]
        shared, groups = (
            values[self._num_loaded : self._num_shared],
            values[self._num_shared : self._num_arrays],
        )
        taken = [
            repeat(default) if source is None else given[source[0]] if source[1] else repeat(given[source[0]])
            for source, default in zip(self._sources, self._defaults, strict=True)
        ]
        for *arrays, output, own in zip(*groups, zip(*taken, strict=False), strict=False):
            if self.one.in_place:
                output[...] = self.one(*arrays, *shared, *own)
            else:
                self.one(*arrays, output, *shared, *own)


def several(
    name: str,
    rule: Rule,
    params: str,
    example: Example,
    source: str,
    *,
    module: str,
    reference: Reference,
    is_split: bool = True,
    **contract: Any,
) -> Declared:
    """The operator that moves several weights by a rule.

    Args:
        name: MXNet 1.x's name of the operator; `mp_` in it says that weights have single-precision copies,
            and `preloaded_` that the rates are arguments.
        rule: Its summary is part of the docstring.
        params: Names of the parameters in MXNet's order, the number of tensors last.
        example: As for `define`, of one tensor.
        source: MXNet's kernel.
        module: Where it is declared.
        reference: The definition of one tensor's step.
        is_split: As for `Blockwise`.
        contract: As for `Contract`.
    """
    is_mixed, own = "mp_" in name, arrays_of(rule)
    loaded = LOADED if name.startswith("preloaded_") else ()
    states = [*own[2:], "weight32"] if is_mixed else own[2:]
    moved = ["weight32", *own[1:]] if is_mixed else own
    one = Blockwise(rule, moved, in_place=is_mixed, is_split=is_split)
    *names, count = params.split()
    declared = {word: _OF_EACH[word][1] if word in _OF_EACH else one.params[word] for word in names}
    declared[count] = param(int, 1, ge=1, doc="Number of tensors.")
    forward = Tensorwise(one, moved, list(declared), loaded, module)
    kind = "float32" if is_mixed else ""
    turns = [f"{word}_[{count}]:(*S[i])" for word in own[:2]]
    turns += [f"state {word}_[{count}]:{kind}(*S[i])" for word in states]
    shared = [*(f"{word}:float32({count})" for word in loaded), *(f"{word}:any(1)" for word in one.shared)]
    operator = define(
        name,
        f"{', '.join([' & '.join(turns), *shared])} -> output[{count}]:(*S[i])",
        forward,
        summary=f"Of each tensor: {inspect.getdoc(rule)}",
        example=_halved(example) if is_mixed else example,
        source=sourced(source),
        params=declared,
        base=SeveralTensors,
        accepts="floating",
        compute_dtype=None if is_mixed else "float32",
        inplace="weight_ -> output",
        contract=step_contract(
            has_states=bool(states),
            computed_at_once=BLOCK,
            undefined=outside_of_averages(declared),
            params={word: _TRIED[word] for word in declared if word in _TRIED},
            param_sets=[_of_tensors(declared, number) for number in (1, 5)],
            reference=of_each(reference, states, _single_names([*declared, *loaded]), count),
            **contract,
        ),
    )
    if is_split and not is_mixed:
        in_vectors = Tensorwise(one.in_vectors(), moved, list(declared), loaded, module)
        by_vectors(operator, in_vectors, one.num_arrays)
    return operator


def _single_names(names: Sequence[str]) -> dict[str, str]:
    """Names of the rule for one tensor's share of these, by name."""
    return {name: _OF_EACH[name][0] if name in _OF_EACH else name for name in names}


def _halved(example: Example) -> Example:
    """The example with a weight and a gradient in half precision, and so its result."""
    halves = [f"od.nd.array({value}, dtype='float16')" for value in example[:2]]
    return (*halves, *example[2:-1], f"array({example[-1]}, dtype=float16)")
