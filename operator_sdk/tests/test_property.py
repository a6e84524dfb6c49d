from __future__ import annotations

import numpy as np
import pytest

from operad.errors import DTypeError, ShapeError
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import DeclarationError, OperatorProperty, SpecError, operator, param
from operad_sdk.testing import check_forward, gradient_check

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def assign(self, data, output):
    output.assign(data)


def test_class_with_no_base_becomes_a_property():
    @operator("same")
    class Same:
        """The data."""

        times = param(int, 1)
        spec = "data:(...) -> output:(...)"

        def forward(self, data, output):
            output.assign(self.doubled * data)

        @property
        def doubled(self):
            return 2 * self.times

    assert issubclass(Same, CoreProperty)
    assert Same.operad_property is Same
    assert (Same.name, Same.__name__, Same.__doc__) == ("same", "Same", "The data.")
    assert [kernel.name for kernel in Same.kernels] == ["same.forward"]
    assert repr(Same(times="3")) == "same(times=3)"
    check_forward(Same, [X], [6 * X], times=3)


def test_parameter_called_kernel_and_the_decorator_live_together():
    @operator("window")
    class Window(OperatorProperty):
        kernel = param("shape")
        spec = "data:(*S) -> output:(*(S - kernel + 1))"
        forward = assign

    class Wider(Window):
        pad = param(int, 0)

    assert Window(kernel=2).kernel == (2,)
    assert Wider(kernel=3).kernel == (3,)
    assert list(Wider.params) == ["kernel", "pad"]
    Window.kernel("cpu", priority=1)(lambda prop, data, output: None)
    assert len(Window.kernels) == 2


def test_parameters_may_have_any_name_of_mxnet():
    names = ["kernel", "stride", "dilate", "pad", "layout", "mode", "axis", "dtype", "target_shape"]

    def forward(self, data, output):
        output.assign(data * len([name for name in names if getattr(self, name) == "x"]))

    def backward(self, output_grad, data_grad):
        data_grad.assign(output_grad * len(names))

    members = {name: param(str, "x") for name in names}
    members |= {"spec": "data:(N) -> output:(N)", "forward": forward, "backward": backward}
    many = operator("many")(type("Many", (OperatorProperty,), members))
    check_forward(many, [X[0]], [X[0] * len(names)])
    gradient_check(many, [X[0]])


def test_spec_may_be_a_method():
    @operator("reduce")
    class Reduce(OperatorProperty):
        keepdims = param(bool, False)
        forward = assign

        def spec(self):
            return f"data:(N, D) -> output:({'N, 1' if self.keepdims else 'N'})"

    assert Reduce().infer_shape([(2, 3)])[1] == [(2,)]
    assert Reduce(keepdims=True).infer_shape([(2, 3)])[1] == [(2, 1)]


def test_long_form_works_beside_methods_by_name():
    @operator("stack")
    class Stack(OperatorProperty):
        num_args = param(int, ge=1)
        key_var_num_args = "num_args"

        def list_arguments(self):
            return [f"arg{i}" for i in range(self.num_args)]

        def infer_shape(self, in_shapes):
            return list(in_shapes), [None if None in in_shapes else (len(in_shapes), *in_shapes[0])], []

        def forward(self, arg, output, bias=None):
            assert bias is None
            output.assign(np.stack(arg))

        def backward(self, output_grad, arg_grad):
            for index, grad in enumerate(arg_grad):
                grad.assign(output_grad[index])

    check_forward(Stack, [X] * 12, lambda *args: np.stack(args), num_args=12)
    gradient_check(Stack, [X, X], num_args=2)


def test_parameter_or_attribute_of_the_class_is_a_value_in_the_line():
    @operator("pad")
    class Pad(OperatorProperty):
        width = param("shape", ())
        forward = assign
        spec = "data:(*S) -> output:(*(S + both + more))"
        more = 1

        @property
        def both(self):
            return tuple(2 * w for w in self.width)

    assert Pad(width=(1, 2)).infer_shape([(5, 5)])[1] == [(8, 10)]
    with pytest.raises(ShapeError, match=r"pad: data has 1 axes \(5,\), expected 2: \(\*S\)"):
        Pad(width=(1, 2)).infer_shape([(5,)])


def test_types_follow_the_line():
    @operator("Embedding")
    class Embedding(OperatorProperty):
        dtype = param("dtype", "float32")
        spec = "data:any(*B), weight:dtype(V, D) -> output:dtype(*B, D)"
        forward = assign

    int32, float16 = np.dtype("int32"), np.dtype("float16")
    assert Embedding(dtype="float16").infer_type([int32, None]) == ([int32, float16], [float16], [])
    with pytest.raises(DTypeError, match="Embedding: weight is float16, expected float32"):
        Embedding().infer_type([int32, float16])


def test_operator_without_gradient_says_so():
    @operator("sign")
    class Sign(OperatorProperty):
        spec = "data:(...) -> output:(...)"
        forward = assign

    assert not Sign.has_gradient
    assert Sign().differentiable_inputs() == [False]
    assert Sign().backward_dependency([True]) == []


def test_operator_of_no_arguments():
    @operator("_zeros")
    class Zeros(OperatorProperty):
        shape = param("shape")
        dtype = param("dtype", "float32")
        spec = "-> output:dtype(*shape)"

        def forward(self, output):
            output.assign(0)

    (zeros,) = check_forward(Zeros, [], [np.zeros((2, 3))], shape=(2, 3), dtype="float16")
    assert zeros.dtype == np.float16
    assert Zeros(shape=(2,)).list_arguments() == []


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ({"forward": assign}, DeclarationError, "neither a spec nor infer_shape"),
        ({"spec": "data:(N) -> output:(N)"}, DeclarationError, "computes nothing"),
        ({"spec": "data:(N) output:(N)", "forward": assign}, SpecError, "there is no '->'"),
    ],
)
def test_incomplete_class_is_refused(members, error, message):
    with pytest.raises(error, match=message):
        operator("op")(type("Op", (OperatorProperty,), members))


def test_device_of_the_authors_code_is_the_kernels():
    class OnCpu(OperatorProperty):
        device = "cpu"
        spec = "data:(N) -> output:(N)"
        forward = assign

    assert [kernel.device for kernel in operator("op")(OnCpu).kernels] == ["cpu"]


def test_listed_kernels_are_kept():
    class Own(OperatorProperty):
        spec = "data:(N) -> output:(N)"
        kernels = []  # noqa: RUF012 - the contract declares it as a class variable
        forward = assign

    assert Own.kernels == []


@pytest.mark.parametrize("known", [0, 1], ids=["itself", "from another argument"])
def test_the_first_argument_has_an_accepted_type(known):
    @operator("Scaled")
    class Scaled(OperatorProperty):
        accepts = "floating"
        spec = "data:(N), scale:(N) -> output:(N)"

        def forward(self, data, scale, output):
            output.assign(data * scale)

    types = [None, None]
    types[known] = np.dtype("float16")
    assert Scaled().infer_type(types)[1] == [np.dtype("float16")]
    types[known] = np.dtype("int32")
    with pytest.raises(DTypeError, match="Scaled: data is int32, expected a floating type"):
        Scaled().infer_type(types)


def test_types_are_checked_without_a_spec_too():
    @operator("Twice")
    class Twice(OperatorProperty):
        accepts = "number"

        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

        def forward(self, data, output):
            output.assign(2 * data)

    assert Twice().infer_type([np.dtype("int8")])[1] == [np.dtype("int8")]
    with pytest.raises(DTypeError, match="Twice: data is bool, expected a number type"):
        Twice().infer_type([np.dtype("bool")])
