"""Declarations as classes: what follows from the line, and what may be written out instead."""

from __future__ import annotations

import numpy as np
import pytest

from operad.errors import DTypeError, ShapeError
from operad.operator import BackwardEntry
from operad.operator import OperatorProperty as CoreProperty
from operad_check.testing import check_forward, gradient_check
from operad_sdk import DeclarationError, OperatorProperty, SpecError, gradient, operator, param

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def same(data):
    return data


def test_class_with_no_base_becomes_a_property():
    @operator("same")
    class Same:
        """The data."""

        times = param(int, 1)
        spec = "data:(...) -> output:(...)"

        def forward(self, data):
            return self.doubled * data

        @property
        def doubled(self):
            return 2 * self.times

    assert issubclass(Same, CoreProperty)
    assert (Same.name, Same.__name__, Same.__doc__) == ("same", "Same", "The data.")
    assert [kernel.name for kernel in Same.kernels] == ["same.forward"]
    assert repr(Same(times="3")) == "same(times=3)"
    check_forward(Same, [X], [6 * X], times=3)


def test_parameter_called_kernel_and_the_decorator_live_together():
    @operator("window")
    class Window(OperatorProperty):
        kernel = param("shape")
        spec = "data:(*S) -> output:(*(S - kernel + 1))"
        forward = same

    class Wider(Window):
        pad = param(int, 0)

    assert Window(kernel=2).kernel == (2,)
    assert Wider(kernel=3).kernel == (3,)
    assert list(Wider.params) == ["kernel", "pad"]
    Window.kernel("cpu", priority=1)(lambda data, output: None)
    assert len(Window.kernels) == 2


def test_parameters_may_have_any_name_of_mxnet():
    names = ["kernel", "stride", "dilate", "pad", "layout", "mode", "axis", "dtype", "target_shape"]

    def forward(data, kernel, stride, dilate, pad, layout, mode, axis, dtype, target_shape):
        given = [kernel, stride, dilate, pad, layout, mode, axis, dtype, target_shape]
        return data * given.count("x")

    members = {name: param(str, "x") for name in names}
    members |= {"spec": "data:(N) -> output:(N)", "forward": forward}
    members |= {"backward": lambda output_grad: output_grad * len(names)}
    many = operator("many")(type("Many", (OperatorProperty,), members))
    check_forward(many, [X[0]], [X[0] * len(names)])
    gradient_check(many, [X[0]])


def test_spec_may_be_a_method():
    @operator("reduce")
    class Reduce(OperatorProperty):
        keepdims = param(bool, False)
        forward = same

        def spec(self):
            return f"data:(N, D) -> output:({'N, 1' if self.keepdims else 'N'})"

    assert Reduce().infer_shape([(2, 3)])[1] == [(2,)]
    assert Reduce(keepdims=True).infer_shape([(2, 3)])[1] == [(2, 1)]


def test_what_is_written_out_counts_beside_functions_by_name():
    @operator("stack")
    class Stack(OperatorProperty):
        num_args = param(int, ge=1)
        key_var_num_args = "num_args"

        def list_arguments(self):
            return [f"arg{i}" for i in range(self.num_args)]

        def infer_shape(self, in_shapes):
            return list(in_shapes), [None if None in in_shapes else (len(in_shapes), *in_shapes[0])], []

        def forward(arg):
            return np.stack(arg)

        def backward(output_grad, arg_grad):
            for index, grad in enumerate(arg_grad):
                grad[...] = output_grad[index]

    check_forward(Stack, [X] * 12, lambda *args: np.stack(args), num_args=12)
    gradient_check(Stack, [X, X], num_args=2)


def test_parameter_or_attribute_of_the_class_is_a_value_in_the_line():
    @operator("pad")
    class Pad(OperatorProperty):
        width = param("shape", ())
        forward = same
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
        forward = same

    int32, float16 = np.dtype("int32"), np.dtype("float16")
    assert Embedding(dtype="float16").infer_type([int32, None]) == ([int32, float16], [float16], [])
    with pytest.raises(DTypeError, match="Embedding: weight is float16, expected float32"):
        Embedding().infer_type([int32, float16])


def test_operator_without_gradient_says_so():
    @operator("sign")
    class Sign(OperatorProperty):
        spec = "data:(...) -> output:(...)"
        forward = same

    assert not Sign.has_gradient
    assert Sign().differentiable_inputs() == [False]
    assert Sign().backward_dependency([True]) == []


def test_operator_of_no_arguments():
    @operator("_zeros")
    class Zeros(OperatorProperty):
        shape = param("shape")
        dtype = param("dtype", "float32")
        spec = "-> output:dtype(*shape)"

        def forward(output):
            output[...] = 0

    (zeros,) = check_forward(Zeros, [], [np.zeros((2, 3))], shape=(2, 3), dtype="float16")
    assert zeros.dtype == np.float16
    assert Zeros(shape=(2,)).list_arguments() == []


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ({"forward": same}, DeclarationError, "neither a spec nor infer_shape"),
        ({"spec": "data:(N) -> output:(N)"}, DeclarationError, "computes nothing"),
        ({"spec": "data:(N) output:(N)", "forward": same}, SpecError, "there is no '->'"),
    ],
)
def test_incomplete_class_is_refused(members, error, message):
    with pytest.raises(error, match=message):
        operator("op")(type("Op", (OperatorProperty,), members))


def test_device_of_the_authors_code_is_the_kernels():
    class OnCpu(OperatorProperty):
        device = "cpu"
        spec = "data:(N) -> output:(N)"
        forward = same

    assert [kernel.device for kernel in operator("op")(OnCpu).kernels] == ["cpu"]


def test_listed_kernels_are_kept():
    class Own(OperatorProperty):
        spec = "data:(N) -> output:(N)"
        kernels = []  # noqa: RUF012 - the contract declares it as a class variable
        forward = same

    assert Own.kernels == []


@pytest.mark.parametrize("known", [0, 1], ids=["itself", "from another argument"])
def test_the_first_argument_has_an_accepted_type(known):
    @operator("Scaled")
    class Scaled(OperatorProperty):
        accepts = "floating"
        spec = "data:(N), scale:(N) -> output:(N)"

        def forward(data, scale):
            return data * scale

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

        def forward(data):
            return 2 * data

    assert Twice().infer_type([np.dtype("int8")])[1] == [np.dtype("int8")]
    with pytest.raises(DTypeError, match="Twice: data is bool, expected a number type"):
        Twice().infer_type([np.dtype("bool")])


def test_words_of_the_run_are_given_by_name():
    seen = []

    @operator("words")
    class Words(OperatorProperty):
        k = param(int)
        spec = "data:(N) -> output:(N)"

        def forward(self, is_train, op_ctx, data, k):
            seen.append((is_train, op_ctx.is_train, op_ctx.xp, k, self.k))
            return data

    check_forward(Words, [X[0]], is_train=False, k=3)
    assert set(seen) == {(False, False, np, 3, 3)}


def test_a_gradient_counts_only_where_its_condition_holds():
    @operator("pool")
    class Pool(OperatorProperty):
        mode = param(str, choices=("max", "sum"))
        spec = "data:(N) -> output:()"

        def forward(data, mode):
            return data.max() if mode == "max" else data.sum()

        @gradient("data", when=lambda prop: prop.mode == "max")
        def of_max(output_grad, data, output):
            return output_grad * (data == output)

        @gradient("data", when=lambda prop: prop.mode == "sum")
        def of_sum(output_grad):
            return output_grad

    assert Pool(mode="sum").backward_dependency([True]) == [BackwardEntry("out_grad", 0)]
    assert [entry.kind for entry in Pool(mode="max").backward_dependency([True])] == [
        "out_grad", "in_data", "out_data"
    ]  # fmt: skip
    gradient_check(Pool, [X[0]], mode="max")
    gradient_check(Pool, [X[0]], mode="sum")


def test_absent_outputs_are_none_in_functions():
    seen = []

    @operator("scale")
    class Scale(OperatorProperty):
        no_scale = param(bool, False)
        spec = "data:(N), scale:() if not no_scale -> output:(N), hidden copy:(N) if not no_scale"

        def forward(data, scale):
            return (data, None) if scale is None else (data * scale, data)

        def backward(output_grad, copy, scale, wanted):
            seen.append((copy is None, scale is None, "scale_grad" in wanted))
            if scale is None:
                return output_grad, None
            return output_grad * scale, (output_grad * copy).sum()

    gradient_check(Scale, [X[0]], no_scale=True)
    assert set(seen) == {(True, True, False)}
    gradient_check(Scale, [X[0], np.array(3.0)])


def test_an_output_with_an_arguments_name_is_called_out():
    @operator("cell")
    class Cell(OperatorProperty):
        spec = "data:(N), state:(N) -> output:(N), state:(N)"

        def forward(data, state, output, out_state):
            np.multiply(data, state, out=output)
            np.add(data, state, out=out_state)

        def backward(output_grad, out_state_grad, data, state):
            return output_grad * state + out_state_grad, output_grad * data + out_state_grad

    check_forward(Cell, [X[0], X[1]], lambda data, state: (data * state, data + state))
    gradient_check(Cell, [X[0], X[1]])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"forward": lambda data, outputs: None}, r"op.forward takes 'outputs'.*did you mean 'output'"),
        ({"backward": lambda data_grad, label: None}, r"op.backward takes 'label'"),
        ({"backward": lambda hidden_grad, data_grad: None}, r"takes 'hidden_grad'"),
        ({"label_grad": lambda output_grad: None}, r"op.label_grad.* 'label_grad'"),
        ({"forward": lambda data, *, output: None}, r"op.forward takes 'output'; name every value"),
        ({"forward": lambda *arrays: None}, r"op.forward takes '\*arrays'; name every value"),
    ],
)
def test_a_function_that_names_what_is_not_there_is_refused_at_once(members, message):
    members = {"forward": same, "spec": "data:(N) -> output:(N), hidden hidden:(N)", **members}
    with pytest.raises(DeclarationError, match=message):
        operator("op")(type("op", (OperatorProperty,), members))
