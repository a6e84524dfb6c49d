"""Form of a call of an operator: its tensors, its parameters, its results."""

from __future__ import annotations

from keyword import iskeyword
from typing import NamedTuple, final

from operad.cli.samples import sample_property, variants
from operad.op import OperatorProperty, Param


@final
class TensorArgument(NamedTuple):
    """A tensor that an operator takes.

    Attributes:
        name: To give it by.
        is_optional: Whether some parameters leave it out.
        is_state: Whether it is an auxiliary state, which symbols make by themselves.
    """

    name: str
    is_optional: bool
    is_state: bool


@final
class CallForm(NamedTuple):
    """The call of one operator.

    Attributes:
        tensors: What it takes, in the order of a call; empty where it takes any number.
        tensor_lists: Names of what it takes under one set of parameters or another, longest first.
        takes_any_number: Whether it takes any number of tensors.
        params: Its parameters that can be given by name.
        output_counts: How many outputs a call shows, depending on the parameters.
        takes_more_params: Whether it takes parameters that are not declared.
    """

    tensors: tuple[TensorArgument, ...]
    tensor_lists: tuple[tuple[str, ...], ...]
    takes_any_number: bool
    params: tuple[Param, ...]
    output_counts: frozenset[int]
    takes_more_params: bool = False

    def text(self, name: str) -> str:
        """The call as documentation shows it."""
        words = ["*data"] if self.takes_any_number else []
        words += [f"[{t.name}]" if t.is_optional else t.name for t in self.tensors]
        words += [p.name for p in self.params if p.is_required]
        words += [f"{p.name}={p.default!r}" for p in self.params if not p.is_required]
        return f"{name}({', '.join(words)})"


def call_of(op: type[OperatorProperty]) -> CallForm:
    """Form of a call of `op` under any parameters.

    Raises:
        ParamError: No parameters were found that it accepts.
    """
    params = tuple(p for name, p in op.params.items() if name.isidentifier() and not iskeyword(name))
    if op.takes_more_params:  # which decide what it is
        return CallForm((), (), True, params, frozenset({1, 2}), True)
    made = list(variants(sample_property(op, {})))
    counts = frozenset(prop.num_visible_outputs for prop in made)
    if op.key_var_num_args is not None:
        params = tuple(p for p in params if p.name != op.key_var_num_args)
        return CallForm((), (), True, params, counts)
    lists = [prop.list_inputs() for prop in made]
    states = {name for prop in made for name in prop.list_auxiliary_states()}
    tensors = [
        TensorArgument(name, not all(name in names for names in lists), name in states)
        for name in _merged(lists)
    ]
    every = set(map(tuple, lists))
    return CallForm(
        tuple(tensors), tuple(sorted(every, key=lambda names: (-len(names), names))), False, params, counts
    )


def _merged(lists: list[list[str]]) -> list[str]:
    # In the order of the longest list, because one that lacks a name says nothing of its place.
    ordered = sorted(lists, key=len, reverse=True)
    return list(dict.fromkeys(name for names in ordered for name in names))
