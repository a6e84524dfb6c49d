"""Products with powers of two, which are exact, in one instruction with a sum or difference.

The bits are those of two instructions, unless the product leaves the type's range. So only forms that add up
elements have it: of others results are NumPy's, whatever the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.builder import Builder

_OF_POWERS: Final = {"select": 1, "multiply": 0, "divide": 0}
"""Instructions that give powers of two of such, by their first argument that has to be one."""


def with_exact_products_fused(form: ScalarForm) -> ScalarForm:
    """The form, or an equal one with fused instructions."""
    steps, count = form.instructions, len(form.inputs)
    powers: set[int] = set()
    builder = Builder(form.name, form.inputs, [step.kind for step in steps[:count]])
    at = list(range(count))
    for position, step in enumerate(steps[count:], count):
        if _is_power(step, powers):
            powers.add(position)
        found = _product(step, steps, powers) if step.kind == "real" else None
        if found is None:
            at.append(builder.copy(step, [at[i] for i in step.args]))
            continue
        factor, power, other = (at[i] for i in found)
        other = builder.apply("negative", other) if step.op == "subtract" else other
        at.append(builder.apply("fma", factor, power, other))
    results = [one._replace(position=at[one.position]) for one in form.results]
    return builder.finish(*results, axes={i: steps[i].axes for i in range(count)})


def _is_power(step: Instruction, powers: set[int]) -> bool:
    if step.op == "constant":
        number = float(step.value or 0)
        return step.kind == "real" and math.isfinite(number) and abs(math.frexp(number)[0]) == 0.5
    first = _OF_POWERS.get(step.op)
    return first is not None and powers.issuperset(step.args[first:])


def _product(
    step: Instruction, steps: Sequence[Instruction], powers: set[int]
) -> tuple[int, int, int] | None:
    """A factor, a power of two, and what is added or subtracted; None: there is no such product."""
    pairs = {"add": (step.args, step.args[::-1]), "subtract": (step.args,)}.get(step.op, ())
    for product, other in pairs:
        if steps[product].op == "multiply":
            for factor, power in (steps[product].args, steps[product].args[::-1]):
                if power in powers and factor not in powers:
                    return factor, power, other
    return None
