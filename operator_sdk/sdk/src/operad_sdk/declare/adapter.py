"""The shortest call of a forward function: `direct(*in_data, *out_data, *aux_states)`, all else being fixed.

Imperative calls of small arrays cost their Python frames, so the function that sorts arrays and
parameters into an author's order is generated, one line for each pattern: a ufunc without parameters
needs none, `scaled(data, scalar, output)` becomes `lambda i0, o0: f(i0, c0, o0)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from operad_sdk.declare.function import Bound
from operad_sdk.declare.names import AUX, EXTRA, IN_DATA, OUT_DATA, WORDS, Slot
from operad_sdk.declare.targets import store

_LETTERS: Final = {IN_DATA: "i", OUT_DATA: "o", AUX: "s"}


def direct_call(
    bound: Bound, counts: Sequence[int], extras: Sequence[Any], given: Sequence[int] = ()
) -> Callable[..., object]:
    """Function of arrays alone, which calls `bound`, a forward function that takes no words.

    Args:
        counts: How many inputs, outputs and auxiliary states there are.
        extras: Values of the group `EXTRA` behind the words.
        given: Positions in `extras` of values that a call gives instead, behind the arrays, in this order.
    """
    constants: dict[str, Any] = {}

    def text(slot: Slot) -> str:
        if isinstance(slot.position, tuple):
            return f"({''.join(text(Slot(slot.group, position)) + ', ' for position in slot.position)})"
        if slot.group != EXTRA:
            return f"{_LETTERS[slot.group]}{slot.position}"
        position = slot.position - len(WORDS)
        if position in given:
            return f"v{given.index(position)}"
        constants[f"c{slot.position}"] = extras[position]
        return f"c{slot.position}"

    groups = zip("iosv", (*counts, len(given)), strict=True)
    takes = ", ".join(f"{group}{n}" for group, count in groups for n in range(count))
    gives = ", ".join(map(text, bound.slots))
    if takes == gives:
        return bound.function
    call = f"f({gives})" if not bound.returned else f"store(o0, f({gives}))"
    made: Callable[..., object] = eval(  # noqa: S307 - the text holds nothing but the names made above
        _compiled(f"lambda {takes}: {call}"), {"f": bound.function, "store": store, **constants}
    )
    return made


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    return compile(text, "<operad direct call>", "eval")
