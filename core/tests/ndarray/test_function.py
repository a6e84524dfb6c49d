"""Operators as functions."""

from __future__ import annotations

import inspect
import traceback

import numpy as np
import pytest

from operad import nd, registry, sym
from operad.device import cpu
from operad.errors import ArgumentError, ContextError, OperatorNotFoundError, ParamError, ShapeError
from operad.imperative import find_invoker
from operad.op import Kernel, Operator, OperatorProperty, param

pytestmark = pytest.mark.usefixtures("operators")

X, W, B = nd.array([[1, 2]]), nd.array([[3, 4], [5, 6]]), nd.array([7, 8])
EXPECTED = [[18, 25]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.Dense(X, W, B, num_hidden=2),
        lambda: nd.Dense(X, W, B, 2),
        lambda: nd.Dense([X, W, B], num_hidden=2),
        lambda: nd.Dense((X, W, B), 2),
        lambda: nd.Dense(X, weight=W, bias=B, num_hidden="2"),
        lambda: nd.Dense(bias=B, data=X, weight=W, num_hidden=2, no_bias="False"),
    ],
)
def test_arguments_come_by_position_or_name(call):
    assert call().asnumpy().tolist() == EXPECTED


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nd.Dense(X, W, num_hidden=2), "got 2 arrays, expected 3: data, weight, bias"),
        (lambda: nd.Dense(X, W, B, B, num_hidden=2), "got 4 arrays, expected 3"),
        (lambda: nd.Dense(X, weight=W, num_hidden=2), "'bias' is missing"),
        (lambda: nd.Dense(X, W, B, data=X, num_hidden=2), "'data' is given by position and by name"),
        (
            lambda: nd.Dense(X, W, B, gamma=X, num_hidden=2),
            "unknown argument 'gamma'; expected data, weight, bias",
        ),
        (lambda: nd.Dense(2, X, W, B), "argument 0 is int, expected NDArray; tensor arguments come before"),
        (lambda: nd.Dense(X, W, B, 2, num_hidden=2), "'num_hidden' is given by position and by name"),
        (lambda: nd.tanh(X, 1), "neither a tensor nor one of its 0 parameters"),
        (lambda: nd.tanh(np.ones(2)), "argument 0 is ndarray, expected NDArray; make an NDArray of it"),
        (lambda: nd.tanh([1.0, 2.0]), "argument 0 is list, expected NDArray; make an NDArray of it"),
        (lambda: nd.concat(np.ones(2), np.ones(2)), "argument 0 is ndarray, expected NDArray"),
        (lambda: nd.tanh(), "got 0 arrays, expected 1: data"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_what_computes_elsewhere_is_said_to_be_no_argument():
    with pytest.raises(ArgumentError, match=r"make an NDArray of it with nd.array; .* call NumPy on plain"):
        nd.tanh(np.ones(2))
    with pytest.raises(ArgumentError, match=r"symbols are composed by od.sym.tanh"):
        nd.tanh(sym.var("x"))
    with pytest.raises(ArgumentError, match=r"arrays are computed on by od.nd.tanh"):
        sym.tanh(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "Dense: parameter 'num_hidden' is missing"),
        ({"num_hidden": 0}, "'num_hidden' is 0, expected int >= 1"),
        ({"num_hidden": np.ones(2)}, "'num_hidden' is"),
        ({"num_hidden": 2, "num_hiden": 3}, "did you mean 'num_hidden'"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParamError, match=message):
        nd.Dense(X, W, B, **params)


def test_out_may_stand_behind_arrays_and_parameters():
    for call in (nd.tanh, lambda x, out: nd._plus_scalar(x, 2, out)):
        out = nd.zeros((2,))
        assert call(nd.ones((2,)), out) is out
        assert out.asnumpy().all()
    with pytest.raises(ArgumentError, match="got 2 arrays, expected 1"):
        nd.tanh(nd.ones((2,)), out, out=out)


def test_shapes_that_clash_are_named():
    with pytest.raises(ShapeError, match=r"Dense: weight has shape \(2, 2\), expected \(3, 2\)"):
        nd.Dense(X, W, B, num_hidden=3)


def test_arrays_of_two_contexts_are_refused():
    with pytest.raises(ContextError, match=r"rhs is on cpu\(1\), but lhs is on cpu\(0\)"):
        nd.elemwise_add(B, B.as_in_context(cpu(1)))


def test_an_unknown_operator_gets_a_suggestion():
    with pytest.raises(OperatorNotFoundError, match="did you mean 'elemwise_add'"):
        nd.elemwise_addd(B, B)


def test_functions_carry_name_and_documentation():
    assert nd.Dense.__name__ == "Dense"
    assert "transposed" in nd.Dense.__doc__


def test_falsy_parameters_are_told_apart():
    zero, minus_zero = nd._mul_scalar(B, scalar=0.0), nd._mul_scalar(B, scalar=-0.0)
    assert not np.signbit(zero.asnumpy()).any()
    assert np.signbit(minus_zero.asnumpy()).all()


def quiet(kind: type) -> type:
    """A class of values that all have one text."""
    return type("Quiet", (kind,), {"__repr__": lambda self: "quiet"})


# Values that Python takes for equal in each row, and that are different parameters.
ALIKE = [
    [1, True, 1.0, np.int64(1), np.float32(1), np.True_, "1", "1.0"],
    [0, False, 0.0, -0.0, np.int64(0), np.float32(-0.0), "0"],
    [
        (1, 0),
        (True, False),
        (1.0, 0.0),
        (1.0, -0.0),
        (np.int64(1), 0),
        (1, False),
        [1, 0],
        [1, False],
        "(1, 0)",
    ],
    [((1,),), ((True,),), ((1.0,),)],
]

# Values of one class whose texts are alike.
QUIET = [
    [made(value) for value in values]
    for made, values in [
        (quiet(int), (1, 2)),
        (quiet(tuple), ((1, 0), (2, 0))),
        (quiet(list), ([1, 0], [2, 0])),
        (quiet(str), ("1", "2")),
    ]
]


class Remembered(Operator):
    """Keeps the property of the last call."""

    prop: OperatorProperty

    def __init__(self, prop, *_):
        self._prop = prop

    def forward(self, op_ctx, arrays):
        type(self).prop = self._prop


class Typed(OperatorProperty):
    """One parameter of each type."""

    name = "Typed"
    kernels = (Kernel("typed.remembered", Remembered),)
    axis = param("shape", ())
    index = param("indices", ())
    floats = param("floats", ())
    count = param(int, 0)
    ratio = param(float, 0.0)
    flag = param(bool, False)
    text = param(str, "")

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


class Attending(Operator):
    """`plan` times the query."""

    def __init__(self, prop, *_):
        self._prop = prop

    def forward(self, op_ctx, arrays):
        np.multiply(arrays.in_data[0], self._prop.plan, out=arrays.out_data[0])


class Attend(OperatorProperty):
    """Names that a generated function might use itself."""

    kernels = (Kernel("attend.array", Attending),)
    plan = param(int, 1)
    ratio = param(float, 0.0)
    cls = param(str, "")
    values = param("floats", ())

    def list_arguments(self):
        return ["query", "key", "state"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


def outcome(make, **params):
    """The parameters as they were understood, signs of zero included, or the refusal."""
    try:
        return repr(make(**params))
    except ParamError as error:
        return str(error)


@pytest.mark.walk
@pytest.mark.parametrize("name", list(Typed.params))
@pytest.mark.parametrize(
    "values",
    [*ALIKE, *QUIET],
    ids=["one", "zero", "pairs", "nested", "quiet int", "quiet tuple", "quiet list", "quiet str"],
)
def test_what_a_parameter_means_does_not_depend_on_earlier_calls(name, values):
    for value in [*values, *reversed(values)]:
        expected = outcome(Typed, **{name: value})
        assert outcome(lambda **params: find_invoker(Typed, params)[0].prop, **{name: value}) == expected


def test_a_repeated_call_with_equal_parameters_is_looked_up():
    for params in (
        {"axis": (1, 0)},
        {"axis": [1, 0]},
        {"ratio": -0.0},
        {"floats": (1.0, -0.0)},
        {"text": ""},
    ):
        assert find_invoker(Typed, params)[0] is find_invoker(Typed, dict(params))[0]


@pytest.mark.walk
@pytest.mark.parametrize(
    "value",
    [np.array(1), np.array([1]), np.array([1, 0]), np.ones((300, 300))],
    ids=lambda value: str(value.shape),
)
@pytest.mark.parametrize("name", list(Typed.params))
def test_an_array_as_a_parameter_is_refused_in_words(name, value):
    for given in (value, nd.array(value)):
        with pytest.raises(ParamError, match=rf"Typed: parameter '{name}' is an array \(.*expected .*tolist"):
            find_invoker(Typed, {name: given})


class TestGenerated:
    def test_the_signature_has_arrays_then_parameters_then_what_all_take(self):
        signature = inspect.signature(nd.Dense)
        assert list(signature.parameters) == [
            "data", "weight", "bias", "num_hidden", "no_bias", "out", "name", "ctx",
        ]  # fmt: skip
        assert signature.parameters["num_hidden"].default is inspect.Parameter.empty
        assert signature.parameters["no_bias"].default is False

    def test_the_documentation_has_a_table_of_parameters(self):
        (row,) = [line for line in nd.Dense.__doc__.splitlines() if line.startswith("num_hidden")]
        assert row.split()[1:5] == ["int", ">=", "1", "required"]

    def test_name_and_module_are_those_of_the_face(self):
        assert (nd.Dense.__name__, nd.Dense.__module__) == ("Dense", "operad.nd")

    def test_tracebacks_show_its_lines(self):
        with pytest.raises(ParamError) as caught:
            nd.Dense(X, W, B)
        frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.name == "Dense"]
        assert "call(" in frames[0].line

    def test_it_stands_in_the_face_until_operators_change(self):
        function = nd.tanh
        assert vars(nd)["tanh"] is function
        registry.register(Typed)
        try:
            assert "tanh" not in vars(nd)
            assert nd.Typed(B).shape == B.shape
        finally:
            registry.unregister("Typed")
        with pytest.raises(OperatorNotFoundError):
            nd.Typed(B)

    def test_another_operator_of_the_name_is_another_function(self):
        for name, expected in (("square", B.asnumpy() ** 2), ("sign", np.sign(B.asnumpy()))):
            registry.register(registry.get(name), "named_here")
            try:
                np.testing.assert_array_equal(nd.named_here(B).asnumpy(), expected)
                np.testing.assert_array_equal(B.named_here().asnumpy(), expected)
            finally:
                registry.unregister("named_here")

    @pytest.mark.parametrize("name", ["attend", "lambda", "an operator"])
    def test_no_name_of_an_operator_gets_in_its_way(self, name):
        registry.register(Attend, name)
        try:
            function = getattr(nd, name)
            for _ in range(2):
                result = function(X, W, B, plan=2, ratio=3.0)
                np.testing.assert_array_equal(result.asnumpy(), 2 * X.asnumpy())
            result = function(key=W, out=None, query=X, state=B, plan=4)
            np.testing.assert_array_equal(result.asnumpy(), 4 * X.asnumpy())
            assert function.__name__ == name
        finally:
            registry.unregister(name)

    @pytest.mark.parametrize("values", ALIKE[:2], ids=["one", "zero"])
    @pytest.mark.parametrize("name", ["ratio", "count", "flag", "text", "floats", "axis"])
    def test_equal_values_of_other_types_are_other_calls(self, name, values):
        registry.register(Typed)
        try:
            for value in [*values, *reversed(values)]:
                expected = outcome(Typed, **{name: value})
                assert outcome(lambda **params: made_by_call(params), **{name: value}) == expected
        finally:
            registry.unregister("Typed")


def made_by_call(params):
    """The property that a call of `nd.Typed` with these parameters works with."""
    nd.Typed(B, **params).wait_to_read()
    return Remembered.prop
