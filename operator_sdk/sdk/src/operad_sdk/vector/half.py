"""Forms of half precision, computed in float32: arrays are read and written in float16, nothing else is.

So a result is that of the same form for float32, rounded once; NumPy rounds every step, and squares of 256
overflow.
"""

from __future__ import annotations

from operad.operator import ScalarForm
from operad_sdk.mapper.builder import Builder

_HALF = "float16"


def widened(form: ScalarForm) -> ScalarForm:
    """The form whose `real` is float32 for one whose `real` is float16.

    Values that it computes in float32 by casts of its own are `real` as well; a cast back rounds.
    """
    steps, count = form.instructions, len(form.inputs)
    kinds = {"real": _HALF, "float32": "real"}
    builder = Builder(form.name, form.inputs, [kinds.get(step.kind, step.kind) for step in steps[:count]])
    at = [builder.cast(i, "real") if step.kind == "real" else i for i, step in enumerate(steps[:count])]
    for step in steps[count:]:
        args = [at[i] for i in step.args]
        kind = "real" if step.kind == "float32" else step.kind
        if step.op == "cast" and kind == "real":
            value = builder.cast(args[0], "real")
            is_rounded = step.kind == "real" and steps[step.args[0]].kind in ("float32", "float64")
            at.append(builder.cast(builder.cast(value, _HALF), "real") if is_rounded else value)
        else:
            at.append(builder.copy(step._replace(kind=kind), args))
    results = [
        one._replace(
            position=builder.cast(at[one.position], _HALF)
            if steps[one.position].kind == "real"
            else at[one.position]
        )
        for one in form.results
    ]
    return builder.finish(*results, axes={i: steps[i].axes for i in range(count)})
