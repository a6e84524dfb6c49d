from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import operad as od
from operad import gluon, nd


def test_get_makes_a_parameter_once_and_completes_its_shape() -> None:
    params = gluon.ParameterDict("net_")
    param = params.get("w", shape=(2, 0), init="ones")
    assert params.get("w", shape=(0, 3)) is param
    assert param.shape == (2, 3)
    for kwargs in ({"shape": (4, 3)}, {"dtype": "float64"}, {"grad_req": "null"}):
        with pytest.raises(
            AssertionError, match=rf"Cannot retrieve Parameter 'net_w' .* '{next(iter(kwargs))}'"
        ):
            params.get("w", **kwargs)
    assert list(params) == ["net_w"]


def test_a_shared_dictionary_gives_what_it_has() -> None:
    first = gluon.ParameterDict("net_")
    param = first.get("w", shape=(1,))
    second = gluon.ParameterDict("net_", shared=first)
    assert second.get("w") is param
    assert second.get("other", shape=(1,)) is not None
    assert list(first) == ["net_w"]


def test_constants_are_known_by_their_values() -> None:
    params = gluon.ParameterDict("net_")
    constant = params.get_constant("c", nd.array([1, 2]))
    assert params.get_constant("c", np.array([1, 2])) is constant
    with pytest.raises(AssertionError, match="value doesn't match"):
        params.get_constant("c", nd.array([1, 3]))
    with pytest.raises(KeyError, match=r"No constant named 'net_d'. Please specify value"):
        params.get_constant("d")
    params.get("w", shape=(1,))
    with pytest.raises(AssertionError, match="not a constant"):
        params.get_constant("w", 1)


def test_constants_are_initialized_on_each_context_and_not_learnt() -> None:
    constant = gluon.Constant("c", [[1, 2]])
    constant.initialize(od.init.Zero(), ctx=[od.cpu(0), od.cpu(1)])
    assert [x.asnumpy().tolist() for x in constant.list_data()] == [[[0, 0]]] * 2
    constant.initialize(ctx=[od.cpu(1)], force_reinit=True)
    assert constant.data().asnumpy().tolist() == [[1, 2]]
    with pytest.warns(UserWarning, match='new value "write" is ignored'):
        constant.grad_req = "write"
    assert constant.grad_req == "null"


def test_all_are_told_together() -> None:
    params = gluon.ParameterDict()
    for name in "ab":
        params.get(name, shape=(2,))
    params.initialize(od.init.One(), ctx=od.cpu(1))
    params.setattr("lr_mult", 0.5)
    assert [param.lr_mult for param in params.values()] == [0.5, 0.5]
    assert params.list_ctx() == [od.cpu(1)]
    params.reset_ctx([od.cpu(0)])
    params.zero_grad()
    assert repr(params).count("Parameter") == 2


def test_names_lose_and_gain_a_prefix_in_files(tmp_path: Path) -> None:
    path = str(tmp_path / "a.params")
    params = gluon.ParameterDict("net_")
    params.get("w", shape=(2,)).initialize(od.init.Constant(3))
    params.save(path, strip_prefix="net_")
    assert list(nd.load(path)) == ["w"]
    other = gluon.ParameterDict("net_")
    other.get("w", shape=(2,))
    other.load(path, restore_prefix="net_")
    assert other["net_w"].data().asnumpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match="'x_' is to be stripped"):
        params.save(path, strip_prefix="x_")
    with pytest.raises(AssertionError, match="'net_w' is missing in file"):
        other.load(path)
    with pytest.raises(ValueError, match=r"'more_w' loaded from file .* is not present"):
        gluon.ParameterDict().load(path, restore_prefix="more_")


def test_two_parameters_of_one_name_are_refused() -> None:
    params, other = gluon.ParameterDict(), gluon.ParameterDict()
    params.get("w")
    other.get("w")
    with pytest.raises(AssertionError, match="different Parameters with the same name 'w'"):
        params.update(other)
