"""Functions with hand-written gradients."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from operad import autograd, engine, nd
from operad.errors import ArgumentError, BindError, GradientError

A, B = np.float32([0.5, -1, 2]), np.float32([3, 4, -5])


class TwiceTanh(autograd.Function):
    """2 tanh(x), and a gradient that is deliberately three times too large."""

    def forward(self, x):
        y = nd.tanh(x)
        self.save_for_backward(y)
        return y * 2

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * (1 - y * y) * 6


class SumAndProduct(autograd.Function):
    def __init__(self, scale):  # forgets super().__init__(), as people do
        self.scale = scale

    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x + y, x * y * self.scale

    def backward(self, d_sum, d_product):
        x, y = self.saved_tensors
        return d_sum + d_product * y * self.scale, d_sum + d_product * x * self.scale


@pytest.fixture(params=["threaded", "naive"])
def each_engine(request):
    """The test runs on every engine."""
    engine.set(request.param)
    yield
    engine.set("threaded")


def variable(values, grad_req="write"):
    x = nd.array(values)
    x.attach_grad(grad_req)
    return x


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_the_written_gradient_is_used(grad_req):
    x = variable(A, grad_req)
    x.grad[:] = 100
    with autograd.record():
        y = TwiceTanh()(nd.square(x)) * 1
    y.backward()
    t = np.tanh(A * A)
    np.testing.assert_array_equal(y.asnumpy(), 2 * t)
    expected = 2 * (1 - t * t) * 6 * A + (100 if grad_req == "add" else 0)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_it_may_reach_a_variable_directly(grad_req):
    x = variable(A, grad_req)
    x.grad[:] = 100
    with autograd.record():
        y = TwiceTanh()(x)
    y.backward(nd.array(B))
    expected = B * (1 - np.tanh(A) ** 2) * 6 + (100 if grad_req == "add" else 0)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)


def test_several_inputs_and_outputs():
    x, y = variable(A), variable(B)
    with autograd.record():
        total, product = SumAndProduct(2)(x, y)
        out = total * 3 + product
    out.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 3 + 2 * B)
    np.testing.assert_array_equal(y.grad.asnumpy(), 3 + 2 * A)


def test_an_output_that_nobody_uses_has_a_zero_gradient():
    x, y = variable(A), variable(B)
    with autograd.record():
        total, _ = SumAndProduct(2)(x, y)
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [1, 1, 1])


def test_constants_get_no_gradient():
    x = variable(A)
    with autograd.record():
        _, product = SumAndProduct(1)(x, nd.array(B))
    product.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), B)


def test_nothing_inside_is_recorded():
    x = variable(A)
    inside = []

    class Peek(autograd.Function):
        def forward(self, a):
            inside.append(autograd.is_recording())
            return a * 1

        def backward(self, grad):
            inside.append(autograd.is_recording())
            return grad

    with autograd.record():
        y = Peek()(x)
        assert autograd.is_recording()
    y.backward()
    assert inside == [False, False]


def test_outside_of_recording_it_only_computes():
    y = TwiceTanh()(nd.array(A))
    np.testing.assert_array_equal(y.asnumpy(), 2 * np.tanh(A))
    with pytest.raises(GradientError):
        y.backward()


def test_an_input_may_be_the_output():
    class Identity(autograd.Function):
        def forward(self, a):
            return a

        def backward(self, grad):
            return grad * 5

    x = variable(A)
    with autograd.record():
        y = Identity()(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [5, 5, 5])


def _function(forward=lambda x: x * 1, backward=lambda dy: dy):
    return type("Made", (autograd.Function,), {
        "forward": lambda self, *args: forward(*args), "backward": lambda self, *args: backward(*args)
    })()  # fmt: skip


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda dy: None, r"Made\.backward returned NoneType, expected an NDArray"),
        (lambda dy: (dy, dy), "returned 2 gradients, expected 1"),
        (lambda dy: dy[:1], r"the gradient of input 0 is float32\(1,\) .*, expected float32\(3,\)"),
        (lambda dy: [3], "returned int at 0, expected an NDArray"),
        (lambda dy: "x", "returned str, expected an NDArray or a list"),
    ],
)
def test_a_wrong_gradient_is_refused(backward, message):
    x = variable(A)
    with autograd.record():
        y = _function(backward=backward)(x)
    with pytest.raises(ArgumentError, match=message):
        y.backward()


def test_a_wrong_result_is_refused():
    with pytest.raises(ArgumentError, match=r"Made\.forward returned NoneType"):
        _function(forward=lambda x: None)(nd.array(A))


def test_only_arrays_are_arguments():
    with pytest.raises(ArgumentError, match="Made: argument 1 is float, expected an NDArray"):
        _function()(nd.array(A), 2.0)


def test_an_instance_serves_one_call():
    function = TwiceTanh()
    function(nd.array(A))
    with pytest.raises(GradientError, match="one call"):
        function(nd.array(A))


def test_missing_methods_are_named():
    with pytest.raises(GradientError, match="Function defines no forward"):
        autograd.Function()(nd.array(A))


def test_an_error_inside_restores_recording():
    with autograd.record():
        with pytest.raises(ZeroDivisionError):
            _function(forward=lambda x: 1 / 0)(variable(A))
        assert autograd.is_recording()


def test_what_it_saved_is_freed_with_the_graph():
    alive = []

    class Watched(TwiceTanh):
        def __del__(self):
            alive.remove(self.number)

    gc.disable()
    try:
        x = variable(A)
        for number in range(2):
            function = Watched()
            function.number = number
            alive.append(number)
            with autograd.record():
                y = function(x)
            del function
            if number:
                y.backward()
            assert alive == [number]
            del y
        assert alive == []
    finally:
        gc.enable()


class Product(autograd.Function):
    """`2 x y`, from a NumPy factor and arrays that it saves."""

    def __init__(self, factor, overwrites=False):
        self.factor = factor
        self.overwrites = overwrites

    def forward(self, x, y):
        z = nd.elemwise_mul(x, y)
        self.save_for_backward(x, self.factor, "text", y, z)
        if self.overwrites:
            z[:] = 0
        return z * 2

    def backward(self, dz):
        x, factor, _, y, _ = self.saved_tensors
        return dz * y * factor, dz * x * factor


def recorded_product(**options):
    x, y, factor = variable(A), variable(B), np.float32([2, 2, 2])
    with autograd.record():
        z = Product(factor, **options)(x, y)
    return x, y, factor, z


@pytest.mark.parametrize(("index", "place"), [(0, 0), (1, 3)])
def test_saved_arrays_that_were_overwritten_are_refused(each_engine, index, place):
    arrays = recorded_product()
    with autograd.pause():
        arrays[index][1:] = 100
    with pytest.raises(
        GradientError,
        match=rf"backward of Product: saved_tensors\[{place}\] was overwritten after it was saved",
    ):
        arrays[3].backward()


def test_saved_arrays_that_forward_itself_overwrote_are_refused(each_engine):
    *_, z = recorded_product(overwrites=True)
    with pytest.raises(GradientError, match=r"saved_tensors\[4\] was overwritten"):
        z.backward()


def test_saved_numpy_arrays_count_as_they_were(each_engine):
    x, y, factor, z = recorded_product()
    factor[:] = 100
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * B)
    np.testing.assert_array_equal(y.grad.asnumpy(), 2 * A)


def test_saved_arrays_may_be_overwritten_after_backward(each_engine):
    x, y, _, z = recorded_product()
    z.backward()
    x[:] = 100
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * B)
    np.testing.assert_array_equal(y.grad.asnumpy(), 2 * A)


def test_a_function_does_not_take_an_alias_for_a_constant():
    class Twice(autograd.Function):
        def forward(self, x):
            return x + x

        def backward(self, dy):
            return dy + dy

    x, b = variable(A), nd.array(A)
    view = b[:]
    with autograd.record():
        nd.square(x, out=b)
        with pytest.raises(BindError, match="shares memory"):
            Twice()(view)


def network(x, functions):
    """Functions among operators: entries with one, two and more readers, on both sides of a function."""
    y = nd.square(x) + x
    total = y * 2
    for function in functions:
        z = function(y)
        total = total + z * y + nd.tanh(z) - x * y
    return total


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradients_around_functions_are_those_of_operators(grad_req):
    """The same graph with operators that compute the same: sums have the same order, so every bit agrees."""

    class Tripled(autograd.Function):
        def forward(self, x):
            return x * 3

        def backward(self, dy):
            return dy * 3

    found = []
    for functions in ([lambda x: x * 3] * 3, [lambda x: Tripled()(x)] * 3):
        x = variable(A, grad_req)
        x.grad[:] = 100
        for _ in range(2):
            with autograd.record():
                y = network(x, functions)
            y.backward(nd.array(B))
        found.append(x.grad.asnumpy())
    np.testing.assert_array_equal(found[0], found[1])


def test_operators_beside_a_function_run_in_the_mode_that_was_asked_for():
    x = variable(A)
    with autograd.record():
        y = nd.Dropout(TwiceTanh()(x) * 1, p=0.5)
    y.backward(train_mode=True)
    dropped = y.asnumpy() == 0
    np.testing.assert_array_equal(x.grad.asnumpy()[dropped], 0)


def test_a_gradient_beside_a_function_finds_what_was_saved_for_those_not_wanted():
    class Same(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, dy):
            return dy

    x, y = nd.array([2, 3]), nd.array([5, 7])
    for z in (x, y):
        z.attach_grad()
    with autograd.record():
        out = Same()(x * y) * y
    (found,) = autograd.grad([out], [x], retain_graph=True)
    np.testing.assert_array_equal(found.asnumpy(), [25, 49])
    (found,) = autograd.grad([out], [y])
    np.testing.assert_array_equal(found.asnumpy(), [20, 42])
