"""The choice between kernels."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import Context, cpu
from operad.errors import OperadError
from operad.op import Kernel, KernelCall, OperatorProperty, candidates, choose

FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")


def prop_with(*kernels):
    prop = type("Prop", (OperatorProperty,), {"infer_shape": lambda self, shapes: (shapes, shapes, [])})
    prop.kernels = list(kernels)
    return prop()


def kernel(name, **options):
    return Kernel(name, lambda prop, ctx, shapes, types: name, **options)


def chosen(prop, ctx=cpu(), shape=(4,), dtype=FLOAT32):  # noqa: B008 - contexts are interned
    return choose(KernelCall(prop, ctx, [shape], [dtype])).forward.name


def test_the_highest_priority_wins_and_the_first_among_equals():
    prop = prop_with(kernel("low"), kernel("first", priority=5), kernel("second", priority=5))
    assert chosen(prop) == "first"
    assert prop.create_operator(cpu(), [(4,)], [FLOAT32]) == "first"


def test_devices_decide_first():
    prop = prop_with(
        kernel("gpu", device="gpu", priority=9), kernel("cpu", device="cpu"), kernel("any", priority=-1)
    )
    assert chosen(prop) == "cpu"
    assert chosen(prop, Context("cpu", 3)) == "cpu"
    assert chosen(prop, Context("gpu", 0)) == "gpu"


def test_conditions_see_parameters_shapes_and_types():
    def only_double(call):
        return call.in_types[0] == FLOAT64 or f"{call.in_types[0]} is too narrow"

    prop = prop_with(
        kernel("double", priority=9, when=only_double),
        kernel("large", priority=5, when=lambda call: call.in_shapes[0][0] > 100),
        kernel("rest"),
    )
    assert chosen(prop, dtype=FLOAT64) == "double"
    assert chosen(prop, shape=(200,)) == "large"
    assert chosen(prop) == "rest"
    verdicts = [(c.kernel.name, c.rejection) for c in candidates(prop, cpu(), [(4,)], [FLOAT32])]
    assert verdicts == [
        ("double", "float32 is too narrow"),
        ("large", "its `when` condition is false"),
        ("rest", None),
    ]


def test_none_that_applies_is_an_error_that_says_why():
    prop = prop_with(kernel("cuda", device="gpu"), kernel("never", when=lambda *_: "it is Monday"))
    with pytest.raises(
        OperadError, match=r"Prop: no kernel.*cpu\(0\) \(cuda: runs on gpu, not on cpu; never: it is Monday\)"
    ):
        chosen(prop)


@pytest.mark.parametrize("name", ["when", "cost"])
def test_an_exception_of_a_function_of_a_kernel_names_both(name):
    prop = prop_with(kernel("rest"), kernel("bad", distribution="acme", **{name: lambda call: call.params}))
    with pytest.raises(AttributeError, match="params") as caught:
        chosen(prop)
    assert caught.value.__notes__ == [
        f"in `{name}` of kernel 'bad' of acme: a fault of the kernel, not of the call"
    ]


def test_so_does_one_of_its_factory():
    def factory(prop, ctx, shapes, types):
        raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        prop_with(Kernel("bad", factory)).create_operator(cpu(), [(4,)], [FLOAT32])
    assert caught.value.__notes__ == ["in `__init__` of kernel 'bad': a fault of the kernel, not of the call"]
