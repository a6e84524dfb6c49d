"""An operator's case as a user's program, on the host and on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

import operad as od
from operad import registry
from operad.context import Context
from operad_check.trials.case import Case

FIRST_PARTY: Final = sorted(
    record.name
    for record in registry.operators().values()
    if not record.is_alias and record.distribution.startswith("operad-")
    # These are whatever a program makes of them.
    if record.name not in ("Custom", "_cond", "_foreach", "_while_loop")
)


class Found(NamedTuple):
    """What a program computed: arrays, or the type of the error that it raised."""

    arrays: Sequence[Any]
    error: type[Exception] | None = None


def run(name: str, case: Case, ctx: Context) -> Found:
    """Outputs, states and twice added gradients of `case` on `ctx`, or the error."""
    try:
        return Found(computed(name, case, ctx))
    except od.OperadError as error:
        return Found([], type(error))


def computed(name: str, case: Case, ctx: Context) -> list[Any]:
    cls = registry.get(name)
    prop = cls(**case.params)
    values = {**case.inputs, **case.aux}
    inputs = {key: od.nd.array(values[key], dtype=values[key].dtype, ctx=ctx) for key in prop.list_inputs()}
    flows = dict(zip(prop.list_arguments(), prop.differentiable_inputs(), strict=True))
    marked = [x for key, x in inputs.items() if flows.get(key) and x.dtype.kind == "f"]
    for x in marked:
        x.attach_grad("add")
    with od.autograd.record(train_mode=case.is_train):
        operator = getattr(od.nd, name)
        given = {} if inputs else {"ctx": ctx}
        if cls.key_var_num_args:
            found = operator(*inputs.values(), **case.params, **given)
        else:
            found = operator(**inputs, **case.params, **given)
    outputs = found if isinstance(found, list) else [found]
    if marked and all(y.dtype.kind == "f" for y in outputs):
        for _ in range(2):
            od.autograd.backward(outputs, retain_graph=True, train_mode=case.is_train)
    states = [inputs[key] for key in prop.list_auxiliary_states()]
    arrays = [*outputs, *states, *[x.grad for x in marked]]
    assert {array.context for array in arrays} <= {ctx}
    return [array.asnumpy() for array in arrays]


def draws(name: str, case: Case) -> bool:
    """Whether an operator uses a generator, which differs from device to device."""
    prop = registry.get(name)(**case.params)
    shapes = [case.inputs[key].shape for key in prop.list_arguments()]
    needs = [*prop.forward_resource(shapes), *prop.backward_resource(shapes)]
    return any("RANDOM" in need.name for need in needs)


def compare(name: str, case: Case) -> None:
    """Run `case` on the host and on the device.

    Raises:
        AssertionError: They differ: in a value by more than the order of a sum explains, or in the error.
    """
    on_host, on_device = run(name, case, od.cpu()), run(name, case, od.gpu(0))
    assert on_device.error is on_host.error, f"{case.describe()}: {on_device.error}, not {on_host.error}"
    for host, device in zip(on_host.arrays, on_device.arrays, strict=True):
        assert (device.dtype, device.shape) == (host.dtype, host.shape), case.describe()
        if not draws(name, case):
            # A sum of n terms that is taken in another order differs by some sqrt(n) roundings of a term.
            terms = max([x.size for x in case.inputs.values()], default=1) / max(host.size, 1)
            eps = float(np.finfo(host.dtype).eps) if host.dtype.kind == "f" else 0
            tolerance = 8 * eps * max(terms, 1) ** 0.5
            np.testing.assert_allclose(device, host, rtol=tolerance, atol=tolerance, err_msg=case.describe())
