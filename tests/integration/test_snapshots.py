"""What a call was given counts as it was at the call, however late the engine gets to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd, engine, nd, registry, sym
from operad.context import cpu
from operad.executor import Executor
from operad.ndarray import NDArray
from tests.integration.argument_cases import CASES, NET, START

Call = Callable[..., Any]


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Operations on blocked arrays wait for it."""
    engine.set("threaded")
    made = threading.Event()
    yield made
    made.set()


def blocked(gate: threading.Event) -> NDArray:
    """An array that an operation holds until the gate opens."""
    x = nd.array(START)
    engine.get().push_sync(lambda _: gate.wait(), cpu(), (), (x._chunk.var,), reads_mutable=True)
    return x


def change(value: Any) -> None:
    """Change an argument in place, where that can be so that it is still of use in the same place."""
    if isinstance(value, NDArray):
        value[:] = changed(value.asnumpy())
    elif isinstance(value, np.ndarray):
        value[...] = changed(value)
    elif isinstance(value, bytearray):
        value[-16:-8] = bytes(8)  # the last elements of a file's last array
    elif isinstance(value, dict) or not all(isinstance(item, (bool, int, float)) for item in value):
        value.clear()
    else:
        value[:] = changed(np.array(value)).tolist()


def changed(values: np.ndarray) -> np.ndarray:
    return ~values if values.dtype == bool else (values + 1) % 3


def seen(result: Any) -> Any:
    """What there is to see of a result now."""
    if callable(result):
        return seen(result())
    if isinstance(result, NDArray):
        return result.asnumpy()
    return [seen(item) for item in result] if isinstance(result, (list, tuple)) else result


@pytest.mark.walk
@pytest.mark.parametrize(("call", "arguments"), CASES.values(), ids=CASES)
def test_a_change_of_an_argument_after_the_call_changes_nothing(
    gate: threading.Event, call: Call, arguments: Callable[[], list[Any]]
) -> None:
    expected = seen(call(nd.array(START), *arguments()))
    given = arguments()
    result = call(blocked(gate), *given)
    for value in given:
        change(value)
    gate.set()
    np.testing.assert_equal(seen(result), expected)


@pytest.mark.walk
@pytest.mark.parametrize(("call", "arguments"), CASES.values(), ids=CASES)
def test_a_change_before_the_call_shows(call: Call, arguments: Callable[[], list[Any]]) -> None:
    """Else the test above could not fail."""
    expected, given = seen(call(nd.array(START), *arguments())), arguments()
    for value in given:
        change(value)
    try:
        found = seen(call(nd.array(START), *given))
    except Exception:  # noqa: BLE001 - a changed shape or axis is refused, each in its way
        return
    with pytest.raises(AssertionError):
        np.testing.assert_equal(found, expected)


SHARED = {
    "NDArray.to_dlpack_for_read", "NDArray.to_dlpack_for_write",
    "nd.from_dlpack", "nd.over", "nd.to_dlpack_for_read", "nd.to_dlpack_for_write",
    "NDArray.detach", "NDArray.grad", "autograd.record_copy", "autograd.record_function", "autograd.Versions",
}  # fmt: skip
"""Whose purpose is to share memory, or to say what shares it."""

UNCHANGEABLE = {
    "nd": "CachedOp arange array_names binary by_name check_dense eye imdecode linspace load mx_real_t "
    "nested operator_function presented py_slice real_number release_idle_memory split_arguments "
    "waitall NDArray",
    "NDArray": "T as_nd_ndarray as_np_ndarray slice_assign_scalar tostype "
    "__abs__ __array__ __bool__ __copy__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__ "
    "__float__ __format__ __getattr__ __hash__ __index__ __init__ __int__ __invert__ __iter__ __len__ "
    "__neg__ __reduce__ __repr__ as_in_context as_in_ctx asnumpy asscalar astype attach_grad context copy "
    "ctx dtype expand_dims flatten item ndim shape size stype tolist wait_to_read wait_to_write",
    "sym": "NameManager Prefix Symbol Variable apply arange eye histogram hypot linspace load load_json "
    "maximum minimum pow power",
    "Symbol": "as_nd_ndarray as_np_ndarray get_backend_symbol gradient optimize_for split_v2 summary "
    "__abs__ __add__ __bool__ __copy__ __deepcopy__ __dir__ __eq__ __ge__ __getitem__ __gt__ "
    "__hash__ __init__ __iter__ __le__ __len__ __lt__ __mod__ __mul__ __ne__ __neg__ __pow__ __radd__ "
    "__reduce__ __repr__ __rmod__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ astype attr "
    "attr_dict __getattr__ debug_str entries "
    "get_children get_internals graph infer_type infer_type_partial list_arguments list_attr "
    "list_auxiliary_states list_inputs list_outputs name save tojson",
    "Executor": "get_optimized_symbol why "
    "__dir__ __getattr__ __init__ __reduce_ex__ __repr__ arg_arrays aux_arrays debug_str grad_arrays "
    "memory_plan output_dict outputs passes pool run_extended set_monitor_callback",
    "Function": "backward forward saved_tensors",
    "autograd": "is_recording is_training overwritten pause predict_mode record "
    "set_recording set_training train_mode",
}
"""Public names that take nothing which the caller may change: numbers, texts, types, contexts and symbols."""


def public_names(owner: Any) -> set[str]:
    """Of a module its functions and classes; of a class its attributes and special methods."""
    if isinstance(owner, ModuleType):
        own = {name: value for name, value in vars(owner).items() if not isinstance(value, ModuleType)}
        # What plugins add is there only once somebody has used it, so it is asked for by name.
        face = {nd: "nd", sym: "sym"}.get(owner, "")
        added = {name: getattr(owner, name) for name in registry.attribute_names(face)}
        own |= {name: value for name, value in added.items() if not isinstance(value, ModuleType)}
        return {
            name for name, value in own.items() if not name.startswith("_") and not hasattr(value, "operator")
        }
    told = {name for base in owner.__mro__ if base is not object for name in vars(base)}
    told = {
        name for name in told if not hasattr(getattr(owner, name), "operator")
    }  # an operator that was used
    told |= set(registry.attribute_names(owner.__name__))
    special = {name for name in told if name.endswith("__") and callable(getattr(owner, name))}
    return {name for name in told if not name.startswith("_")} | special


OWNERS = {
    "nd": nd, "NDArray": NDArray, "sym": sym, "Symbol": od.Symbol, "Executor": Executor, "autograd": autograd,
}  # fmt: skip


@pytest.mark.parametrize("owner", UNCHANGEABLE)
def test_every_public_name_has_a_case_or_takes_nothing_that_the_caller_may_change(owner: str) -> None:
    tried = {name.partition(":")[0] for name in CASES}
    told = {f"{owner}.{name}" for name in UNCHANGEABLE[owner].split()}
    found = OWNERS[owner] if owner in OWNERS else getattr(autograd, owner)  # of a plugin
    names = {f"{owner}.{name}" for name in public_names(found)}
    assert names - tried - told - SHARED == set(), "neither tried nor listed"
    assert told - names == set(), "listed, and gone"
    assert told & tried == set(), "listed, and tried"


RETURNED: dict[str, Call] = {
    **{
        f"Symbol.{name}": getattr(NET, name)
        for name in ("list_arguments", "list_outputs", "list_inputs", "attr_dict")
    },
    "Symbol.infer_shape": lambda: NET.infer_shape(data=(3, 4))[0],
    "Symbol.infer_type": lambda: NET.infer_type(data="float32")[1],
}


@pytest.mark.parametrize("call", RETURNED.values(), ids=RETURNED)
def test_a_change_of_what_a_call_returned_changes_nothing(call: Call) -> None:
    found = call()
    expected = found.copy()
    assert expected
    found.clear()
    assert call() == expected


@pytest.mark.parametrize("name", ["outputs", "arg_arrays", "grad_arrays", "output_dict"])
def test_a_change_of_an_executors_lists_changes_nothing(name: str) -> None:
    executor = NET.simple_bind(cpu(), data=(3, 4))
    executor.forward(is_train=True).clear()
    getattr(executor, name).clear()
    assert len(getattr(executor, name)) == len(executor.forward(is_train=True)) + (name[-6:] == "arrays")
    executor.backward([nd.ones((3, 2))])
