"""`mx.util`: what lengths mean, and what is refused."""

from __future__ import annotations

import pytest

import operad as mx
from operad.errors import ContextError, UnsupportedError


def unknown_of_zero() -> bool:
    return mx.sym.var("x").infer_shape(x=(0,)) == (None, None, None)


def test_shapes_are_numpys_inside_a_scope_and_nowhere_else() -> None:
    assert (mx.is_np_shape(), unknown_of_zero()) == (False, True)
    with mx.np_shape():
        assert (mx.util.is_np_shape(), unknown_of_zero()) == (True, False)
        with mx.np_shape(False):
            assert unknown_of_zero()
        assert not unknown_of_zero()
    assert unknown_of_zero()


def test_shapes_are_numpys_in_what_is_decorated() -> None:
    @mx.util.np_shape()
    def scoped() -> bool:
        return unknown_of_zero()

    @mx.use_np_shape
    def decorated() -> bool:
        return unknown_of_zero()

    @mx.use_np_shape
    class Decorated:
        def method(self) -> bool:
            return unknown_of_zero()

    assert [scoped(), scoped(), decorated(), Decorated().method()] == [False] * 4
    assert decorated.__name__ == "decorated"
    assert unknown_of_zero()


def test_the_choice_is_given_back() -> None:
    assert mx.set_np_shape(True) is False
    assert mx.util.set_np_shape(False) is True
    mx.util.set_np(shape=True, array=False)
    assert not unknown_of_zero()
    mx.util.reset_np()
    assert unknown_of_zero()


@pytest.mark.parametrize(
    "call",
    [
        lambda: mx.np_array(), lambda: mx.use_np(len), lambda: mx.use_np_array(len), lambda: mx.util.set_np(),
        lambda: mx.nd.ones(1).as_np_ndarray(), lambda: mx.sym.var("x").as_np_ndarray(),
    ],
)  # fmt: skip
def test_mxnets_numpy_arrays_are_refused_with_the_next_step(call) -> None:
    assert not mx.is_np_array()
    with pytest.raises(UnsupportedError, match=r"no mx\.np arrays here; NumPy's own functions take NDArrays"):
        call()


def test_facts_of_gpus_are_refused_where_there_is_none() -> None:
    with pytest.raises(ContextError):
        mx.context.gpu_memory_info(mx.num_gpus())
    with pytest.raises(ContextError, match="expected the context of a GPU"):
        mx.util.get_cuda_compute_capability(mx.cpu())


def test_a_function_shows_the_module_it_is_told() -> None:
    @mx.util.set_module("acme")
    def function() -> None: ...

    assert function.__module__ == "acme"
