"""Creation, conversion and copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from operad import autograd, context, nd, sym
from operad.errors import ArgumentError, BindError, ContextError, DTypeError, ShapeError

pytestmark = pytest.mark.usefixtures("operators")


@pytest.mark.parametrize("source", [[[1, 2], [3, 4]], np.arange(4.0).reshape(2, 2), 3, [], [[]], True])
def test_values_from_elsewhere_become_float32(source):
    made = nd.array(source)
    assert made.dtype == np.float32
    assert made.shape == np.shape(source)
    np.testing.assert_array_equal(made.asnumpy(), np.asarray(source, np.float32))


def test_an_array_of_an_array_keeps_its_type_and_is_a_copy():
    source = nd.array([1, 2], dtype="int32")
    made = nd.array(source)
    source[:] = 7
    assert made.dtype == np.int32
    assert made.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]
)
def test_every_element_type_can_be_asked_for(dtype):
    assert nd.array([0, 1], dtype=dtype).asnumpy().dtype == dtype


@pytest.mark.parametrize("source", [["a"], [1j], [object()], [[1], [1, 2]]])
def test_what_is_no_number_is_refused(source):
    with pytest.raises(ArgumentError, match="cannot make an array"):
        nd.array(source)


def test_an_unknown_type_is_refused():
    with pytest.raises(DTypeError, match="complex64"):
        nd.empty(2, dtype="complex64")


def test_a_negative_axis_is_refused():
    with pytest.raises(ShapeError, match="negative"):
        nd.empty((2, -1))


@pytest.mark.parametrize("shape", [2.5, (2, 2.5), "ab"])
def test_an_axis_that_is_no_integer_is_refused(shape):
    with pytest.raises(ShapeError, match="expected integers"):
        nd.empty(shape)


def test_the_default_context_is_the_innermost_scope():
    with context.cpu(1):
        assert nd.empty(2).context is context.cpu(1)
    assert nd.empty(2).context is context.cpu(0)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_shapes_without_axes_or_elements_work_throughout(shape):
    x = nd.array(np.ones(shape))
    y = nd.tanh(x) + x
    assert y.shape == shape
    np.testing.assert_array_equal(y.asnumpy(), np.tanh(np.ones(shape, np.float32)) + np.float32(1))
    assert pickle.loads(pickle.dumps(y)).shape == shape
    assert y.copy().shape == shape


def test_asnumpy_is_a_copy():
    x = nd.array([1.0])
    x.asnumpy()[0] = 5
    assert x.asscalar() == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_asscalar_is_a_numpy_scalar_and_item_a_python_number(dtype, shape):
    x = nd.array(np.ones(shape), dtype=dtype)
    assert type(x.asscalar()) is np.dtype(dtype).type
    assert type(x.item()) is type(np.ones(1, dtype).item())
    assert x.asscalar() == x.item() == 1


def test_tolist_is_numpys():
    assert nd.array([[1, 2]], dtype="int32").tolist() == [[1, 2]]
    assert nd.array(1.5).tolist() == 1.5


def test_one_element_is_formatted_as_a_number_and_any_array_without_a_format():
    x = nd.array([2.0, 0.5])
    assert f"{x[1]:.2f}" == "0.50"
    assert f"{x}" == str(x)
    with pytest.raises(ArgumentError, match=r"'\.2f' of an array of shape \(2,\)"):
        format(x, ".2f")


def test_text_that_is_a_number_is_converted():
    np.testing.assert_array_equal(nd.array(["1", "2.5"]).asnumpy(), np.float32([1, 2.5]))
    assert nd.array(["1", "2"], dtype="int32").dtype == np.int32
    with pytest.raises(ArgumentError, match="'two'"):
        nd.array(["1", "two"])


@pytest.mark.walk
@pytest.mark.parametrize("ctx", ["cpu", "cpu(0)", -1, 0, 3, "", object])
@pytest.mark.parametrize(
    "call",
    [
        lambda ctx: nd.empty((2,), ctx=ctx),
        lambda ctx: nd.array([1], ctx=ctx),
        lambda ctx: nd.array(nd.array([1]), ctx=ctx),
        lambda ctx: nd.array([1]).as_in_context(ctx),
        lambda ctx: sym.var("x").bind(ctx, [nd.array([1])]),
        lambda ctx: sym.var("x").simple_bind(ctx, x=(1,)),
        lambda ctx: sym.var("x").eval(ctx, x=nd.array([1])),
    ],
)
def test_what_is_no_context_is_refused_by_name(call, ctx):
    with pytest.raises(ContextError, match=r"ctx is .*expected a Context; give ctx=operad\.cpu\(\)"):
        call(ctx)


def test_scalars_come_out_as_python_numbers():
    assert int(nd.array([[2.0]])) == 2
    assert list(range(5))[nd.array(3, dtype="int64")] == 3
    assert bool(nd.array([0])) is bool(nd.empty((0,))) is False


def test_only_one_element_is_a_scalar():
    with pytest.raises(ShapeError, match=r"\(2,\)"):
        nd.array([1, 2]).asscalar()
    with pytest.raises(ShapeError, match="ambiguous"):
        bool(nd.array([1, 2]))


def test_a_float_is_no_index():
    with pytest.raises(ArgumentError, match="float32"):
        [1, 2][nd.array(1.0)]


def test_len_and_iteration_go_over_the_first_axis():
    x = nd.array([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.asnumpy().tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ArgumentError, match="0-d"):
        len(nd.array(1))


class TestCopies:
    def test_between_contexts(self):
        x = nd.array([1, 2, 3])
        there = x.as_in_context(context.cpu(1))
        assert there.context is context.cpu(1)
        assert there.asnumpy().tolist() == [1, 2, 3]
        assert there.as_in_context(context.cpu(1)) is there

    def test_into_an_array_of_another_type_and_context(self):
        target = nd.empty(3, context.cpu(1), "int32")
        assert nd.array([1.5, 2.5, -3.5]).copyto(target) is target
        assert target.asnumpy().tolist() == [1, 2, -3]

    def test_into_another_shape_is_refused(self):
        with pytest.raises(BindError, match=r"\(2,\), expected \(3,\)"):
            nd.empty(3).copyto(nd.empty(2))

    @pytest.mark.parametrize("target", ["cpu", np.empty(3)])
    def test_only_into_an_array_or_a_context(self, target):
        with pytest.raises(ArgumentError, match="expected an NDArray or a Context"):
            nd.empty(3).copyto(target)

    def test_onto_itself_is_refused(self):
        x = nd.empty(3)
        with pytest.raises(BindError, match="same array"):
            x.copyto(x)

    def test_between_overlapping_views(self):
        x = nd.array(np.arange(6))
        x[:4].copyto(x[2:])
        assert x.asnumpy().tolist() == [0, 1, 0, 1, 2, 3]

    def test_astype_copies_unless_told_otherwise(self):
        x = nd.array([1, 2])
        assert x.astype("float32", copy=False) is x
        same = x.astype("float32")
        same[:] = 0
        assert x.asnumpy().tolist() == [1, 2]
        assert x.astype(int).dtype == np.int64

    def test_astype_of_nothing_is_refused(self):
        with pytest.raises(DTypeError, match="None"):
            nd.array([1]).astype(None)

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
    def test_copies_are_independent_and_alike(self, copied):
        with context.cpu(1):
            x = nd.array([1, 2], dtype="float16")
        made = copied(x)
        x[:] = 0
        assert made.asnumpy().tolist() == [1, 2]
        assert (made.dtype, made.context) == (np.float16, context.cpu(1))

    def test_deepcopy_keeps_what_is_shared_shared(self):
        x = nd.array([1])
        first, second = copy.deepcopy([x, x])
        assert first is second


class TestRecordedCopies:
    @pytest.mark.parametrize(
        "copied",
        [
            lambda x: x.copy(),
            lambda x: x.copyto(context.cpu(1)).as_in_context(context.cpu(0)),
            lambda x: x.copyto(nd.empty(2)),
            lambda x: x.copyto(nd.empty(2, dtype="float64")).astype("float32"),
            copy.copy,
        ],
    )
    def test_gradients_flow_through(self, copied):
        x = nd.array([1, 2])
        x.attach_grad()
        with autograd.record():
            y = copied(x * 2) * x
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 4 * x.asnumpy())

    def test_not_into_an_array_that_is_recorded(self):
        x = nd.array([1, 2])
        x.attach_grad()
        with autograd.record(), pytest.raises(BindError, match="recorded"):
            nd.array([3, 4]).copyto(x)


class TestReshape:
    def test_is_a_view(self):
        x = nd.array(np.arange(6))
        x.reshape(2, 3)[1] = 9
        assert x.asnumpy().tolist() == [0, 1, 2, 9, 9, 9]

    @pytest.mark.parametrize("target", [(3, -1), ((3, 2),), ([-1],)])
    def test_one_length_may_follow(self, target):
        x = nd.array(np.arange(6)).reshape(*target)
        assert x.shape == np.arange(6).reshape(*target).shape

    def test_of_a_transposed_array_is_a_copy_of_its_order(self):
        x = nd.array(np.arange(6)).reshape(2, 3).T
        np.testing.assert_array_equal(x.reshape(-1).asnumpy(), np.arange(6).reshape(2, 3).T.reshape(-1))

    @pytest.mark.parametrize("target", [(4,), (-1, 4), (-1, -1), (7, -1)])
    def test_another_size_is_refused(self, target):
        with pytest.raises(ShapeError, match="cannot reshape"):
            nd.empty(6).reshape(target)

    def test_shape_may_be_named(self):
        assert nd.empty(6).reshape(shape=(2, 3)).shape == (2, 3)

    def test_transpose_permutes(self):
        x = nd.array(np.arange(24)).reshape(2, 3, 4)
        np.testing.assert_array_equal(x.transpose(2, 0, 1).asnumpy(), x.asnumpy().transpose(2, 0, 1))
        np.testing.assert_array_equal(x.transpose(axes=(2, 0, 1)).asnumpy(), x.asnumpy().transpose(2, 0, 1))
        np.testing.assert_array_equal(x.T.asnumpy(), x.asnumpy().T)

    @pytest.mark.parametrize("axes", [(0, 1), (0, 0, 1), (0, 1, 3)])
    def test_transpose_takes_a_permutation(self, axes):
        with pytest.raises(ShapeError, match="do not permute"):
            nd.empty((2, 3, 4)).transpose(axes)


def test_operators_are_methods():
    np.testing.assert_array_equal(nd.array([0.5]).tanh().asnumpy(), np.tanh(np.float32([0.5])))


def test_an_unknown_method_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = nd.empty(1).no_such_thing
    assert not hasattr(nd.empty(1), "_repr_png_")


def test_repr_shows_values_shape_and_context():
    assert repr(nd.array([[1, 2]])) == "\n[[1. 2.]]\n<NDArray 1x2 @cpu(0)>"
