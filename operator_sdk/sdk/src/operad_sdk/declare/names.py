"""The names that an operator's functions can use, and the positions of their values.

Every name is a plain array, a parameter or one of the words below; a group of arguments is a tuple of
arrays, and what is absent for the given parameters is None.

================= ===================================================================================
in both           an argument, an auxiliary state, a parameter, and the words `op_ctx`, `is_train`,
                  `wanted` (the names of the targets that are asked for) and `self` (the property)
in forward        an output: a *target*
in a gradient     an output (its value), `<output>_grad` if visible, and `<argument>_grad`: a *target*
================= ===================================================================================

An output that has the name of an argument is `out_<name>`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, final

IN_DATA: Final = "in_data"
OUT_DATA: Final = "out_data"
OUT_GRAD: Final = "out_grad"
IN_GRAD: Final = "in_grad"
AUX: Final = "aux_states"
EXTRA: Final = "extra"

OP_CTX: Final = "op_ctx"
IS_TRAIN: Final = "is_train"
WANTED: Final = "wanted"
SELF: Final = "self"
RESERVED: Final = frozenset((OP_CTX, IS_TRAIN, WANTED, SELF, "out", "name", "ctx"))
"""Names that no tensor and no parameter may have."""

WORDS: Final = (OP_CTX, IS_TRAIN, WANTED, SELF)
"""The words that functions may name, in the order of their values in the group `EXTRA`."""


@final
class Slot(NamedTuple):
    """Position of a name's value in a group: one index, several, or none."""

    group: str
    position: int | tuple[int, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions as a tuple."""
        return self.position if isinstance(self.position, tuple) else (self.position,)


ABSENT: Final = Slot(EXTRA, len(WORDS))
"""Slot of a name that only other parameters give: its value is None, and no caller requests its gradient."""


@final
class Tensors(NamedTuple):
    """The tensors of one property instance.

    Attributes:
        arguments: Names in call order; `states` and `outputs` likewise.
        num_visible: How many of the outputs are not hidden.
        groups: The names of each group by its stem.
        declared_arguments: As declared: groups by their stem, with what is absent for these parameters;
            `declared_outputs` likewise.
        params: The operator's parameters.
    """

    arguments: tuple[str, ...]
    states: tuple[str, ...]
    outputs: tuple[str, ...]
    num_visible: int
    groups: Mapping[str, tuple[str, ...]]
    declared_arguments: tuple[str, ...]
    declared_states: tuple[str, ...]
    declared_outputs: tuple[str, ...]
    params: tuple[str, ...]

    def output_name(self, output: str) -> str:
        """Name under which functions take an output."""
        return f"out_{output}" if output in self.declared_arguments or output in self.arguments else output


@final
class Names:
    """Slots by name, for forward and for gradients.

    Attributes:
        forward: What forward can name; `forward_targets` are the outputs among it, in declared order.
        backward: What a gradient can name; `backward_targets` are the gradients among it, likewise.
    """

    __slots__ = ("backward", "backward_targets", "forward", "forward_targets")

    def __init__(self, tensors: Tensors) -> None:
        shared = {word: Slot(EXTRA, position) for position, word in enumerate(WORDS)}
        shared |= {name: Slot(EXTRA, len(WORDS) + 1 + i) for i, name in enumerate(tensors.params)}
        shared |= _slots(AUX, tensors.states, tensors.declared_states, tensors.groups)
        arguments = _slots(IN_DATA, tensors.arguments, tensors.declared_arguments, tensors.groups)
        shown = {name: tensors.output_name(name) for name in (*tensors.outputs, *tensors.declared_outputs)}
        outputs = _slots(OUT_DATA, tensors.outputs, tensors.declared_outputs, tensors.groups)
        visible, hidden = tensors.outputs[: tensors.num_visible], tensors.outputs[tensors.num_visible :]
        with_heads = [n for n in tensors.declared_outputs if not {n, *tensors.groups.get(n, ())} & {*hidden}]
        heads = _slots(OUT_GRAD, visible, with_heads, tensors.groups)
        values = {shown[name]: slot for name, slot in outputs.items()}
        gradients = {f"{name}_grad": _gradient_of(slot) for name, slot in arguments.items()}
        self.forward = shared | arguments | values
        self.forward_targets = {shown[name]: outputs[name] for name in tensors.declared_outputs}
        self.backward = shared | arguments | values | gradients
        self.backward |= {f"{shown[name]}_grad": slot for name, slot in heads.items()}
        self.backward_targets = {f"{n}_grad": gradients[f"{n}_grad"] for n in tensors.declared_arguments}


def _slots(
    group: str, names: Sequence[str], declared: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> dict[str, Slot]:
    slots = {name: Slot(group, position) for position, name in enumerate(names)}
    for name in declared:
        if name in groups:
            slots[name] = Slot(group, tuple(names.index(member) for member in groups[name]))
        else:
            slots.setdefault(name, ABSENT)
    return slots


def _gradient_of(slot: Slot) -> Slot:
    return slot if slot is ABSENT else Slot(IN_GRAD, slot.position)
