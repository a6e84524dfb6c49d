from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd, gluon, nd
from operad_gluon.parameter.held_arrays import replacements

PLACES = [od.cpu(0), od.cpu(1)]


def made(**kwargs: Any) -> Any:
    param = gluon.Parameter("w", **{"shape": (2, 3), **kwargs})
    param.initialize(od.init.One(), ctx=PLACES)
    return param


def test_values_and_gradients_lie_on_each_context() -> None:
    param = made()
    for place in PLACES:
        with autograd.record():
            loss = (param.data(place) * 2).sum()
        loss.backward()
    assert [grad.asnumpy().sum() for grad in param.list_grad()] == [12, 12]
    assert param.list_ctx() == PLACES
    param.zero_grad()
    assert param.grad(od.cpu(1)).asnumpy().sum() == 0
    with od.cpu(1):
        assert param.data().context == od.cpu(1)


def test_an_initializer_is_chosen_as_in_mxnet() -> None:
    cases = [({}, None, 1), ({"init": "zeros"}, None, 0), ({"init": "zeros"}, od.init.Constant(3), 3)]
    for kwargs, given, expected in cases:
        param = gluon.Parameter("some_bias", shape=(2,), **kwargs)
        param.initialize(given, default_init=od.init.One())
        assert param.data().asnumpy().tolist() == [expected] * 2


def test_a_request_of_another_kind_keeps_values() -> None:
    param = made()
    param.grad_req = "null"
    with pytest.raises(RuntimeError, match="'w' has no gradient because grad_req='null'"):
        param.grad(od.cpu(0))
    param.grad_req = "add"
    assert param.data(od.cpu(1)).asnumpy().sum() == 6
    assert param.grad(od.cpu(1)).asnumpy().sum() == 0


def test_a_shape_fills_in_what_is_not_known() -> None:
    param = gluon.Parameter("w", shape=(2, 0), allow_deferred_init=True)
    param.initialize()
    with pytest.raises(AssertionError, match=r"has shape \(2, 0\), which \(3, 4\) is incompatible with"):
        param.shape = (3, 4)
    param.set_data(nd.full((2, 4), 7))
    assert param.shape == (2, 4)
    param._finish_deferred_init()
    assert param.data().asnumpy().tolist() == [[7] * 4] * 2


def test_contexts_and_types_change_with_values_kept() -> None:
    param = made()
    param.data(od.cpu(1))[:] = 3
    param.reset_ctx(od.cpu(2))
    assert param.list_ctx() == [od.cpu(2)]
    assert param.data().asnumpy().tolist() == [[2] * 3] * 2  # the mean
    param.dtype = "float64"
    assert param.data().dtype == np.float64
    deferred = gluon.Parameter("d", shape=(0,), allow_deferred_init=True)
    deferred.initialize(ctx=PLACES)
    deferred.reset_ctx(od.cpu(1))
    assert deferred.list_ctx() == [od.cpu(1)]


def test_replacements_count_new_arrays_and_no_writes() -> None:
    param, before = made(), replacements()
    param.set_data(nd.zeros((2, 3)))
    param.zero_grad()
    assert replacements() == before
    for change in (lambda: param.cast("float64"), lambda: param.reset_ctx(PLACES)):
        change()
        assert replacements() > before
        before = replacements()


def test_initialized_values_are_kept_unless_forced() -> None:
    param = made()
    with pytest.warns(UserWarning, match="'w' is already initialized"):
        param.initialize(od.init.Zero())
    assert param.data(od.cpu(0)).asnumpy().sum() == 6
    param.initialize(od.init.Zero(), force_reinit=True)
    assert param.data().asnumpy().sum() == 0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: gluon.Parameter("w", grad_req="none"),
            AssertionError,
            "'w': grad_req is 'none', expected one of",
        ),
        (lambda: gluon.Parameter("w", stype="x"), AssertionError, "'w': stype is 'x', expected one of"),
        (lambda: gluon.Parameter("w", stype="csr"), AssertionError, "'csr' is not supported; use 'default'"),
        (lambda: gluon.Parameter("w", shape=(2, 0)).initialize(), ValueError, r"invalid shape: \(2, 0\)"),
        (
            lambda: gluon.Parameter("w", shape=2).data(),
            RuntimeError,
            r"'w' has not been initialized; call init",
        ),
        (lambda: gluon.Parameter("w").reset_ctx(od.cpu()), ValueError, "Cannot reset context"),
        (lambda: made().data(od.cpu(5)), RuntimeError, r"not initialized on context cpu\(5\), only on \[cpu"),
        (lambda: made().set_data(nd.ones((1, 3))), AssertionError, r"\(2, 3\), which \(1, 3\) is incompat"),
        (lambda: made().row_sparse_data(nd.ones(1)), RuntimeError, r"dense values; read them by data\(\)"),
        (lambda: made().list_row_sparse_data(nd.ones(1)), RuntimeError, "dense values"),
    ],
)
def test_what_cannot_be_names_the_parameter_and_the_cure(call: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text) as raised:
        call()
    if error is not ValueError:
        assert isinstance(raised.value, od.MXNetError)
