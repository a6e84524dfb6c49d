"""Deprecation: who is warned, of what, and at which line."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import ParamError
from operad.op import Deprecated, Operator, OperatorProperty, assign, param


class _Scaled(Operator):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, op_ctx, in_data, req, out_data, aux_states):
        assign(out_data[0], req[0], in_data[0] * self.factor)


class Scaled(OperatorProperty):
    """Data times a factor."""

    name = "dep_scaled"
    old_names = {"dep_scale": "0.5"}  # noqa: RUF012 - as authors write it
    factor = param(float, 1.0, doc="Factor.", old_names={"scale": "0.6"})
    offset = param(float, 0.0, doc="Nothing.", deprecated=Deprecated("0.7", why="it never did anything"))

    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []

    def create_operator(self, ctx, in_shapes, in_types):
        return _Scaled(self.factor)


class Doubled(Scaled):
    """Twice the data."""

    name = "dep_doubled"
    deprecated = Deprecated("0.5", use="dep_scaled")
    factor = param(float, 2.0)
    offset = param(float, 0.0)


PACKAGE = __name__.partition(".")[0]
OLD_OPERATOR = f"operator 'dep_scale' is 'dep_scaled' now; the old name ends with {PACKAGE} 0.5"
OLD_PARAMETER = f"dep_scaled: parameter 'scale' is 'factor' now; the old name ends with {PACKAGE} 0.6"
OFFSET = f"dep_scaled: parameter 'offset' is deprecated and ends with {PACKAGE} 0.7; it never did anything"
DOUBLED = f"operator 'dep_doubled' is deprecated and ends with {PACKAGE} 0.5; use 'dep_scaled'"


@pytest.fixture(autouse=True)
def registered():
    for name, op in {"dep_scaled": Scaled, "dep_scale": Scaled, "dep_doubled": Doubled}.items():
        registry.register(op, name)
    yield
    for name in ("dep_scaled", "dep_scale", "dep_doubled"):
        registry.unregister(name)


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert {warning.category for warning in caught} <= {DeprecationWarning}
    assert {warning.filename for warning in caught} <= {__file__}
    return [str(warning.message) for warning in caught]


X = od.nd.array([1.0, 2.0])


@pytest.mark.parametrize("front", ["nd", "sym"])
@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("dep_scaled", {"factor": 3}, []),
        ("dep_scale", {}, [OLD_OPERATOR]),
        ("dep_scaled", {"scale": 3}, [OLD_PARAMETER]),
        ("dep_scaled", {"offset": 0}, [OFFSET]),
        ("dep_scale", {"scale": 2, "offset": 0}, [OLD_OPERATOR, OLD_PARAMETER, OFFSET]),
        ("dep_doubled", {}, [DOUBLED]),
    ],
)
def test_each_call_warns_of_what_it_names_at_its_own_line(front, name, params, expected) -> None:
    tensor = X if front == "nd" else od.sym.var("x")
    function = getattr(getattr(od, front), name)
    for _ in range(3):  # plans are found again, and warnings are not
        assert messages(lambda: function(tensor, **params)) == expected


def test_parameters_by_position_warn_once() -> None:
    assert messages(lambda: od.nd.dep_scaled(X, 2.0)) == []
    assert messages(lambda: od.nd.dep_scaled(X, 2.0, 0.0)) == [OFFSET]
    assert messages(lambda: od.sym.dep_scaled(od.sym.var("x"), 2.0, 0.0)) == [OFFSET]


@pytest.mark.filterwarnings("ignore:dep_scaled")
def test_an_old_name_of_a_parameter_gives_it() -> None:
    np.testing.assert_array_equal(od.nd.dep_scaled(X, scale=3).asnumpy(), [3, 6])
    assert od.sym.dep_scaled(od.sym.var("x"), scale=3, name="s").attr("factor") == "3"
    assert Scaled(scale="3").get_params() == {"factor": "3.0", "offset": "0.0"}
    for call in (lambda: Scaled(scale=1, factor=2), lambda: od.nd.dep_scaled(X, scale=1, factor=2)):
        with pytest.raises(ParamError, match="'factor' is given twice, once by its old name 'scale'"):
            call()


def test_graphs_have_present_names() -> None:
    with pytest.warns(DeprecationWarning, match="dep_scale"):
        symbol = od.sym.dep_scale(od.sym.var("x"), name="s")
    assert [node.op.name for node in symbol.graph.op_nodes] == ["dep_scaled"]


def test_documentation_and_signature_say_so() -> None:
    assert od.nd.dep_scale.__deprecated__ == OLD_OPERATOR
    assert inspect.getdoc(od.sym.dep_doubled).startswith(f"Deprecated: {DOUBLED}.")
    assert not hasattr(od.nd.dep_scaled, "__deprecated__")
    doc = inspect.getdoc(od.nd.dep_scaled)
    assert "Factor. Its old name 'scale' ends with version 0.6." in doc
    assert "Nothing. It is deprecated and ends with version 0.7; it never did anything." in doc


def test_what_extends_an_operator_is_not_deprecated_with_it() -> None:
    assert type("Tripled", (Doubled,), {}).deprecated is None
    assert Doubled.old_names == {}


def test_a_name_is_old_or_present() -> None:
    with pytest.raises(ParamError, match="'a' is a parameter and an old name of parameter 'b'"):
        type("Both", (Scaled,), {"a": param(int, 1), "b": param(int, 1, old_names={"a": "0.5"})})
