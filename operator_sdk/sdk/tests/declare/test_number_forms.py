"""Forms of functions with run-time parameters: one for all values that lead the same way through them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad.operator import ScalarForm
from operad_sdk import OperatorProperty, operator, param
from operad_sdk.errors import NoForm

SINGLE = np.dtype(np.float32)
SHAPE = (40, 30)
SPREAD = (0.0, -0.0, 1.0, -2.5, 0.1, 1e38, 1e300, 1e-40, math.inf, -math.inf, math.nan)


def number(default=1.0, kind=float):
    return param(kind, default, run_time=True, doc="Any.")


@operator("NumberScaled")
class NumberScaled(OperatorProperty):
    """Computes with its numbers before they meet arrays, and decides by one of them."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    scalar = number()
    rate = number(0.5)
    limit = number(-1.0)

    def forward(data, scalar, rate, limit):
        data = np.exp(data) * (1 - rate) ** 2 + scalar
        return np.clip(data, -limit, limit) if limit >= 0 else data

    def data_grad(output_grad, data, rate):
        return output_grad * np.exp(data) * (1 - rate) ** 2


@operator("NumberStrong")
class NumberStrong(OperatorProperty):
    """NumPy makes numbers of its own type of Python's, which arrays do not convert."""

    spec = "data:(N, D), whole:int32(N, D) -> output:(N, D)"
    accepts = "floating"
    rate = number(0.5)
    is_weak = param(bool, False, doc="Whether they are Python's again.")

    def forward(data, whole, rate, is_weak):
        root = np.sqrt(rate)
        root = root.item() if is_weak else root
        return (data + np.float32(1) * root) * 3 + (whole * rate > 0.5)


@operator("NumberQuotient")
class NumberQuotient(OperatorProperty):
    """Of zero it raises, which is no reason against other values."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    rate = number()

    def forward(data, rate):
        return np.exp(data) * (1 / rate)


@operator("NumberOfOthers")
class NumberOfOthers(OperatorProperty):
    """A number that may be absent, several, and what reads them from the property."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    rate = number(None)
    rates = param("floats", (), run_time=True, doc="Any.")

    def forward(self, data, rate):
        for one in self.rates:
            data = data * one
        return data if rate is None else data + rate


def refused(name, function):
    return operator(name)(
        type(
            name,
            (OperatorProperty,),
            {
                "__doc__": "Refused.", "spec": "data:(N, D) -> output:(N, D)", "accepts": "floating",
                "scalar": number(), "count": number(2, int), "forward": function,
            },
        )
    )  # fmt: skip


def forms_of(prop, part="forward", dtype=SINGLE, shape=SHAPE):
    arguments = len(prop.list_arguments())
    types = [dtype] * arguments
    if arguments == 2:
        types[1] = np.dtype(np.int32)
    return prop.number_forms(part, [shape] * arguments, types)


def evaluated(prop, arrays, part="forward"):
    """The form for the numbers of a property, computed, and the form."""
    form, numbers = forms_of(prop, part, arrays[0].dtype)(prop)
    assert isinstance(form, ScalarForm), form
    kinds = [step.kind for step in form.instructions[len(form.inputs) - len(numbers) : len(form.inputs)]]
    with np.errstate(all="ignore"):
        given = [
            np.array(one, arrays[0].dtype if kind == "real" else kind)
            for one, kind in zip(numbers, kinds, strict=True)
        ]
        (result,) = form.evaluate([*arrays, *given], SHAPE)
    return result.astype(arrays[0].dtype), form


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_one_form_serves_all_values_with_the_bits_of_the_function(dtype):
    data = np.random.default_rng(0).standard_normal(SHAPE).astype(dtype)
    found = set()
    for scalar in SPREAD:
        for rate in SPREAD[:-3]:
            prop = NumberScaled(scalar=scalar, rate=rate)
            with np.errstate(all="ignore"):
                try:
                    # The number that is called `scalar` comes in the arrays' type.
                    expected = NumberScaled.forward(data, np.dtype(dtype).type(scalar).item(), rate, -1.0)
                except OverflowError:  # Python's, of a power
                    assert "OverflowError" in forms_of(prop, dtype=np.dtype(dtype))(prop)[0]
                    continue
            result, form = evaluated(prop, [data])
            np.testing.assert_array_equal(result, expected)
            found.add(id(form))
    assert len(found) == 1


def test_each_way_by_which_a_function_decides_has_a_form():
    data = np.random.default_rng(1).standard_normal(SHAPE).astype(SINGLE)
    forms = {}
    for limit in (-1.0, 0.5, math.nan, 3.0, -0.0, -7.0):
        result, form = evaluated(NumberScaled(limit=limit), [data])
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(result, NumberScaled.forward(data, 1.0, 0.5, limit))
        forms.setdefault(id(form), []).append(limit)
    assert [len(limits) for limits in forms.values()] == [3, 3]


def test_gradients_have_the_numbers_that_they_read():
    data, head = np.random.default_rng(2).standard_normal((2, *SHAPE)).astype(SINGLE)
    forms = set()
    for rate in (0.1, 0.7, 3.0):
        prop = NumberScaled(rate=rate)
        form, numbers = forms_of(prop, "data_grad")(prop)
        assert numbers == ((1 - rate) ** 2,)
        arrays = {"data": data, "output_grad": head}
        given = [arrays[name] for name in form.inputs[:-1]]
        (result,) = form.evaluate([*given, np.float32(numbers[0])], SHAPE)
        np.testing.assert_array_equal(result, NumberScaled.data_grad(head, data, rate))
        forms.add(id(form))
    assert len(forms) == 1


@pytest.mark.parametrize("is_weak", [False, True])
def test_a_number_of_numpy_keeps_its_type_and_one_of_python_takes_that_of_the_arrays(is_weak):
    rng = np.random.default_rng(3)
    data, whole = rng.standard_normal(SHAPE).astype(SINGLE), rng.integers(-3, 3, SHAPE, np.int32)
    for rate in (0.3, 1e-9, 2.0):
        result, form = evaluated(NumberStrong(rate=rate, is_weak=is_weak), [data, whole])
        expected = NumberStrong.forward(data, whole, rate, is_weak)
        np.testing.assert_array_equal(result, expected.astype(SINGLE))
        (kind, *_) = [step.kind for step in form.instructions[2:3]]
        assert kind == ("real" if is_weak else "float64")


def test_what_python_raises_for_one_value_is_no_reason_against_another():
    data = np.random.default_rng(4).standard_normal(SHAPE).astype(SINGLE)
    reason, numbers = forms_of(NumberQuotient(rate=0.0))(NumberQuotient(rate=0.0))
    assert "ZeroDivisionError" in reason
    assert numbers == ()
    result, _ = evaluated(NumberQuotient(rate=4.0), [data])
    np.testing.assert_array_equal(result, NumberQuotient.forward(data, 4.0))
    assert "ZeroDivisionError" in forms_of(NumberQuotient(rate=0.0))(NumberQuotient(rate=0.0))[0]


def test_numbers_that_may_be_absent_and_several_and_those_of_the_property():
    data = np.random.default_rng(5).standard_normal(SHAPE).astype(SINGLE)
    forms = {}
    for rate in (None, 0.5, 0.1):
        for rates in ((), (0.5,), (0.1,), (0.1, 3.0), (0.7, 0.3)):
            prop = NumberOfOthers(rate=rate, rates=rates)
            result, form = evaluated(prop, [data])
            np.testing.assert_array_equal(result, NumberOfOthers.forward(prop, data, rate))
            forms.setdefault(id(form), []).append((rate is None, len(rates)))
    assert sorted(len(each) for each in forms.values()) == [1, 2, 2, 2, 4, 4]


@pytest.mark.parametrize(
    ("name", "function", "reason"),
    [
        ("RefusedFloat", lambda data, scalar: data * math.sqrt(scalar), "Python number of one that changes"),
        ("RefusedRange", lambda data, count: sum(data for _ in range(count)), "Python number of one"),
        ("RefusedText", lambda data, scalar: data * (1 if f"{scalar}" == "1" else 2), "a text of a number"),
        ("RefusedArray", lambda data, scalar: data * np.asarray(scalar), "an array of a number"),
        ("RefusedLength", lambda data, scalar: data * (scalar / data.shape[0]), "meets lengths of axes"),
        ("RefusedLen", lambda data, scalar: data * (scalar / len(data)), "depends on the mode or on lengths"),
        ("RefusedSelf", lambda self, data: data * self.scalar, "reads `self`"),
        ("RefusedReduction", lambda data, scalar: data - np.sum(data, axis=-1, keepdims=True, initial=scalar),
         "an array of a number"),
        ("RefusedKey", lambda data, scalar: data * {1.0: 2}.get(scalar, 1), "unhashable"),
    ],
)  # fmt: skip
def test_what_looks_at_a_value_is_refused_with_its_line(name, function, reason):
    prop = refused(name, function)()
    found, numbers = forms_of(prop)(prop)
    assert isinstance(found, NoForm)
    assert reason in found
    assert ("lambda data" in found.line) == (name not in ("RefusedLen", "RefusedSelf"))
    assert numbers == ()


def test_a_function_that_asks_for_the_class_of_a_number_is_answered_as_in_a_call():
    prop = refused("AskedClass", lambda data, scalar: data * (scalar if isinstance(scalar, float) else 7))(
        scalar=3
    )
    data = np.random.default_rng(6).standard_normal(SHAPE).astype(SINGLE)
    np.testing.assert_array_equal(evaluated(prop, [data])[0], data * 3)


def test_a_whole_number_that_meets_whole_numbers_is_refused():
    found, _ = forms_of(
        made := refused("RefusedWhole", lambda data, count: data * (data.astype(np.int32) + count))()
    )(made)
    assert "meets arrays of integers" in found


@operator("NumberNamed")
class NumberNamed(OperatorProperty):
    """Parameters with the names of functions that it calls."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    maximum = number()
    abs = number()

    def forward(data, maximum, abs):
        return data * np.maximum(maximum, np.abs(abs)).item()


@operator("NumberBesideScalar")
class NumberBesideScalar(OperatorProperty):
    """Another number than the one that comes in the arrays' type."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"
    scalar = param(float, 0.1, doc="In the arrays' type.")
    rate = number()

    def forward(data, scalar, rate):
        return data * (1 if scalar == 0.1 else rate)


def test_a_scalar_that_is_no_run_time_parameter_comes_in_the_type_of_the_arrays():
    data = np.random.default_rng(8).standard_normal(SHAPE).astype(SINGLE)
    np.testing.assert_array_equal(evaluated(NumberBesideScalar(rate=3.0), [data])[0], data * 3)
    wide = data.astype(np.float64)
    np.testing.assert_array_equal(evaluated(NumberBesideScalar(rate=3.0), [wide])[0], wide)


def test_parameters_may_have_the_names_of_functions():
    data = np.random.default_rng(7).standard_normal(SHAPE).astype(SINGLE)
    for maximum, size in ((0.5, -3.0), (7.0, 2.0)):
        result, _ = evaluated(NumberNamed(maximum=maximum, abs=size), [data])
        np.testing.assert_array_equal(result, data * max(maximum, abs(size)))


def test_operators_without_run_time_parameters_have_no_such_forms():
    assert refused_nothing().number_forms("forward", [SHAPE], [SINGLE]) is None


def refused_nothing():
    @operator("NumberFree")
    class NumberFree(OperatorProperty):
        """No number."""

        spec = "data:(N, D) -> output:(N, D)"

        def forward(data):
            return data * 2

    return NumberFree()
